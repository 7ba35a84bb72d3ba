"""Files appear at once and whole, or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from routeproof.traces import save


def test_replaces_only_where_it_may(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    assert save(path, "one", replace=False)
    assert not save(path, "two", replace=False)
    assert path.read_text() == "one"
    assert save(path, "three", replace=True)
    assert path.read_text() == "three"
    assert list(tmp_path.iterdir()) == [path]


def test_works_where_there_are_no_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(Path, "hardlink_to", refuse)
    path = tmp_path / "x.jsonl"
    assert save(path, "one", replace=False)
    assert not save(path, "two", replace=False)
    assert path.read_text() == "one"
    assert list(tmp_path.iterdir()) == [path]


def test_leaves_nothing_behind_where_it_fails(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder"):
        save(tmp_path / "folder", "text", replace=True)
    assert [entry.name for entry in tmp_path.iterdir()] == ["folder"]
