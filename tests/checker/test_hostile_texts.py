"""Hostile texts in any string of a trace: what `show`, `validate` and `shrink` print, and the files that they write."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

import routeproof.traces
from routeproof.checker.counterexamples.record import write_counterexample
from routeproof.checker.evaluation import Finding
from routeproof.checker.instances import find
from routeproof.model.protocols import world
from tests.attack.printed import json_lines_complaints, mermaid_complaints, text_complaints
from tests.checker.command import Here

TRACES = Path(routeproof.traces.__file__).parent
CASE, RUN = TRACES / "corpus" / "prop2-under-lazy.jsonl", TRACES / "samples" / "star4-active.jsonl"

TEXTS = {
    "controls": "a\x1b[31m\x07\r\n::error::x\x9b\x00\x7f",
    "directions": "a\u202e\u2066b\u2028\u200f",
    "surrogates": "a\ud800b\udfff",
    "diagrams": '%%{init: {}}%%<script>;end\n```mermaid"',
    "parents": "../../x",
    "root": "/etc/x",
    "folders": "a/b",
    "reserved": "con",
    "long": "x" * 4000,
}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Here:
    (tmp_path / "in" / "here").mkdir(parents=True)
    return Here(tmp_path / "in" / "here", monkeypatch, capsys)


def _changed(rows: list[Any], text: str) -> Iterator[list[Any]]:
    """The rows with one string after the other replaced: in the header, and in the first event and the last."""
    for number in (0, 1, len(rows) - 1):
        for path in _strings(rows[number]):
            changed = copy.deepcopy(rows)
            place = changed[number]
            for key in path[:-1]:
                place = place[key]
            place[path[-1]] = text
            yield changed
    # The name of a broker, wherever it stands.
    yield json.loads(json.dumps(rows).replace('"b1"', json.dumps(text)))


def _strings(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, str):
        yield path
    elif isinstance(value, dict | list):
        entries = value.items() if isinstance(value, dict) else enumerate(value[:2])
        for key, each in entries:
            yield from _strings(each, (*path, key))


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("source", [CASE, RUN], ids=["a counterexample", "a run"])
def test_nothing_is_printed_or_written_that_acts(source: Path, text: str, here: Here) -> None:
    rows = [json.loads(line) for line in source.read_text().splitlines()]
    codes = set()
    for changed in _changed(rows, TEXTS[text]):
        (here.directory / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in changed))
        for words in (("show", "t.jsonl"), ("show", "t.jsonl", "--format", "mermaid"), ("validate", "t.jsonl")):
            ran = here(*words)
            codes.add(ran.code)
            out, err = (each.encode("utf-8", "surrogatepass") for each in (ran.out, ran.err))
            complaints = [*text_complaints("out", out), *text_complaints("err", err)]
            if "mermaid" in words and out:
                complaints += mermaid_complaints("out", out)
            assert complaints == [], words
            assert ran.code in (0, 1, 3) or (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
            assert len(ran.err) < 1000
    assert len(codes) > 1


@pytest.mark.parametrize("text", ["controls", "surrogates", "parents", "long"])
def test_shrinking_writes_what_was_asked_and_nothing_else(text: str, here: Here) -> None:
    rows = [json.loads(line) for line in CASE.read_text().splitlines()]
    for key in ("run", "policy", "instance"):
        changed = copy.deepcopy(rows)
        if key == "instance":
            changed[0]["instance"]["name"] = TEXTS[text]
        else:
            changed[0][key] = TEXTS[text]
        (here.directory / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in changed))
        ran = here("shrink", "t.jsonl", "-o", "small.jsonl")
        assert ran.code in (0, 2)
        assert [*text_complaints("out", ran.out.encode()), *text_complaints("err", ran.err.encode())] == []
        top = here.directory.parent.parent
        files = {str(path.relative_to(top)) for path in top.rglob("*") if path.is_file()}
        assert files <= {"in/here/t.jsonl", "in/here/small.jsonl"}
        if ran.code == 0:
            assert not list(json_lines_complaints("small", (here.directory / "small.jsonl").read_bytes()))
        (here.directory / "small.jsonl").unlink(missing_ok=True)


@pytest.mark.parametrize("text", TEXTS)
def test_the_file_of_a_counterexample_stays_in_its_directory(text: str, tmp_path: Path) -> None:
    """Whatever the instance is called: not even a name that no instance file may have leads elsewhere."""
    instance = evolve(find("tiny"), name=TEXTS[text])
    asked = world(instance, instance.policies[0])
    directory = tmp_path / "in" / "here"
    path = write_counterexample(asked, Finding("Agreement", "always", "fails", 1, (), "w"), directory)
    assert path.parent == directory
    assert [each for each in tmp_path.rglob("*") if each.is_file()] == [path]
    assert len(path.name) <= 220
    assert path.name.isascii()
    assert path.name.isprintable()
