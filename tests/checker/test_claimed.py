"""`routeproof check` plays the counterexamples to papers' claims again, and fails where one shows nothing any more."""

import json
import shutil
from collections.abc import Callable
from importlib.resources import as_file, files
from pathlib import Path

import pytest
from attrs import evolve

from routeproof.checker.check import conclusion
from routeproof.checker.check.conclusion import Failure, unshown
from routeproof.checker.cli import check
from routeproof.spec.catalogues import CLAIMS
from routeproof.spec.specification import Claim, Repair

NAME = CLAIMS["PRN-listed"].trace


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    with as_file(files("routeproof.traces").joinpath("corpus")) as shipped:
        return Path(shutil.copytree(shipped, tmp_path / "corpus"))


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> dict[str, Claim]:
    """The claims, with two of those that have a counterexample: one is altered, the other is not."""
    found = {id: claim for id, claim in CLAIMS.items() if not claim.trace or id in ("PRN-listed", "COUNT-few")}
    monkeypatch.setattr(conclusion, "CLAIMS", found)
    return found


def with_header(path: Path, change: Callable[[dict[str, list[str]]], object]) -> None:
    header, *events = path.read_text(encoding="utf-8").splitlines()
    raw = json.loads(header)
    change(raw)
    path.write_text("\n".join([json.dumps(raw), *events, ""]), encoding="utf-8")


def test_what_ships_shows_what_it_should(corpus: Path) -> None:
    assert unshown() == unshown(corpus) == []


@pytest.mark.usefixtures("few")
def test_one_that_shows_nothing_any_more_is_a_failure(corpus: Path) -> None:
    assert NAME
    with_header(corpus / NAME, lambda header: header["actions"].pop())
    [failure] = unshown(corpus)
    assert failure.subject == "PRN-listed"
    assert failure.why.startswith(f"{NAME}: is no counterexample any more: ")


@pytest.mark.usefixtures("few")
def test_one_that_is_altered_or_cut_short_or_another_or_away_is_a_failure(corpus: Path) -> None:
    assert NAME
    path = corpus / NAME
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('"filter": [0]', '"filter": [1]', 1), encoding="utf-8")
    assert [f.subject for f in unshown(corpus)] == ["PRN-listed"]
    path.write_text(text[: len(text) // 2], encoding="utf-8")
    assert [f.subject for f in unshown(corpus)] == ["PRN-listed"]
    shutil.copy(corpus / "prop3-in-tables.jsonl", path)
    assert ["something else than NoLostDelivery" in f.why for f in unshown(corpus)] == [True]
    path.unlink()
    assert [f.why for f in unshown(corpus)] == [f"{NAME}: is not there"]


def test_a_repair_that_mends_nothing_is_a_failure(few: dict[str, Claim], monkeypatch: pytest.MonkeyPatch) -> None:
    listed = CLAIMS["PRN-listed"]
    repair = Repair("The same again.", "PRN-whole", {"sends": "listed"})
    monkeypatch.setitem(few, "PRN-listed", evolve(listed, repair=repair))
    assert unshown() == [Failure("PRN-listed", f"{NAME}: is not mended by its repair: NoLostDelivery fails")]


def test_check_of_everything_fails_with_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """As if `tiny` were all that ships."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(check, "is_everything", lambda arguments: True)
    asked = check.check_parser().parse_args(["tiny", "--policy", "active"])
    assert check.check_command(asked) == 0
    monkeypatch.setattr(
        "routeproof.checker.check.conclusion.unshown", lambda: [Failure("PROP-2", "shows nothing any more")]
    )
    assert check.check_command(asked) == 1
    assert "FAILS: PROP-2: shows nothing any more" in capsys.readouterr().out
