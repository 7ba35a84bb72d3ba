"""Files appear at once and whole, or not at all."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from routeproof.traces import event_row, save, to_text


def test_one_object_a_line_in_ascii() -> None:
    text = to_text([{"id": "é\n\ud800"}, event_row("b1", 1, "crash")])
    assert text.isascii()
    assert [json.loads(line) for line in text.splitlines()] == [
        {"id": "é\n\ud800"},
        {"broker": "b1", "seq": 1, "event": "crash"},
    ]


def test_no_number_that_json_has_not() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        to_text([{"x": float("nan")}])


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
