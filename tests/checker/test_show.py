"""How traces are shown: golden scenarios, diagrams that are well-formed, and nothing that a file can inject.

A golden scenario (`golden/*.txt`) is prose, then commands after a `$`, each with the output it must have under it.
After a change that is meant, `REWRITE_GOLDEN=1 python -m pytest tests/checker/test_show.py` writes the new output;
read the difference before committing it.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import routeproof.traces
from routeproof.checker.cli import main
from routeproof.checker.counterexamples import replay_file
from routeproof.checker.counterexamples.record import write_counterexample
from routeproof.checker.counterexamples.show import FORMATS, draw, read, show
from routeproof.checker.counterexamples.shrink import shrink_file
from routeproof.checker.system.errors import UsageError
from tests.checker.hunt import ALL, MUTANTS, Prey, hunt

GOLDEN = sorted((Path(__file__).parent / "golden").glob("*.txt"))
REWRITE = os.environ.get("REWRITE_GOLDEN") == "1"


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_golden(path: Path, tmp_path: Path) -> None:
    expected = path.read_text()
    prose, *commands = re.split(r"^\$ (.+)\n", expected, flags=re.MULTILINE)
    found = prose
    for command, below in zip(commands[::2], commands[1::2], strict=True):
        found += f"$ {command}\n{_perform(command, below, tmp_path / 'trace.jsonl')}\n"
    found = found.rstrip("\n") + "\n"
    if REWRITE:
        path.write_text(found)
    else:
        assert found == expected


def _perform(command: str, below: str, trace: Path) -> str:
    """The verbs of golden scenarios. All of them work on one trace."""
    match command.split():
        case ["find", instance, policy, mutant, property]:
            hunted, finding = hunt(Prey(instance, policy, None if mutant == "-" else mutant, property))
            written = write_counterexample(hunted, finding, trace.parent)
            written.replace(trace)
            return f"{written.name}\n"
        case ["given"]:  # a trace, its lines behind a >
            lines = [line for line in below.splitlines() if line.startswith("> ")]
            trace.write_text("".join(f"{line[2:]}\n" for line in lines))
            return "".join(f"{line}\n" for line in lines)
        case ["shrink"]:
            return shrink_file(trace, trace).replace(str(trace), trace.name) + "\n"
        case ["replay"]:
            return f"{replay_file(trace).difference or 'reproduces'}\n"
        case ["show", format]:
            return show(trace, format)
    raise AssertionError(f"no such command: {command}")


def test_there_are_golden_scenarios() -> None:
    assert len(GOLDEN) >= 4


@pytest.mark.parametrize("prey", ALL, ids=str)
def test_text_fits_a_terminal(tmp_path: Path, prey: Prey) -> None:
    hunted, finding = hunt(prey)
    text = show(write_counterexample(hunted, finding, tmp_path), "text")
    assert max(len(line) for line in text.splitlines()) <= 100
    assert text.endswith("\n")
    assert not any(line != line.rstrip() for line in text.splitlines())
    for number, label in enumerate(finding.run or (), start=1):
        assert re.search(rf"^ *{number}  {re.escape(label)} ", text, re.MULTILINE)
    assert prey.property in text.splitlines()[0]
    assert prey.mutant is None or prey.mutant in text


def test_unknown_format(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no format is called .*mermaid"):
        show(tmp_path / "x.jsonl", "mermad")


# -- diagrams ----------------------------------------------------------------------------------------------------------

LABEL = r"(?:[A-Za-z0-9 ().,_+=-]|#\d+;)+"
ID = r"[bcn]\d+"
LINES = (
    rf"participant {ID}(?: as {LABEL})?",
    rf"actor {ID} as {LABEL}",
    rf"{ID}(?:->>|-->>|-x){ID}: {LABEL}",
    rf"Note over {ID}(?:,{ID})?: {LABEL}",
)


def _bad_lines(diagram: str) -> Iterator[str]:
    title, first, *lines = diagram.splitlines()
    assert re.fullmatch(rf"%% {LABEL}", title)
    assert first == "sequenceDiagram"
    named: set[str] = set()
    for line in lines:
        if not any(re.fullmatch(rf"    {pattern}", line) for pattern in LINES):
            yield line
        head = line.split(":")[0]
        ids = re.findall(rf"\b{ID}\b", head.split(" as ")[0])
        if line.startswith(("    participant", "    actor")):
            named.update(ids)
        elif not set(ids) <= named:
            yield f"{line}: {ids} are not all declared"


@pytest.mark.parametrize("prey", ALL, ids=str)
def test_mermaid_is_well_formed(tmp_path: Path, prey: Prey) -> None:
    hunted, finding = hunt(prey)
    diagram = show(write_counterexample(hunted, finding, tmp_path), "mermaid")
    assert not list(_bad_lines(diagram))
    received = sum(label.startswith("deliver ") for label in finding.run or ())
    assert len(re.findall(r"\d->>b", diagram)) == received, "each message once, where it is received"
    assert f"{prey.property} " in diagram.splitlines()[-1]


def test_mermaid_draws_sends_where_no_receiving_is_observed(tmp_path: Path) -> None:
    path = _foreign(tmp_path, "b1", "p")
    assert "b1->>b2: pub(p)" in show(path, "mermaid")


# -- what others wrote -------------------------------------------------------------------------------------------------

NASTY = [
    "\x1b[2J\x1b]0;owned\x07",
    "a\nparticipant evil",
    "a; participant evil",
    "a%%{init: {}}%%",
    "#35;<script>alert(1)</script>",
    "end",
    "b1: b2->>b1: hello",
    "\u202egnp.exe",
    "\ud800",
    "back\\slash\ttab\rreturn",
    "café 日本",
]


def _foreign(directory: Path, broker: str, id: str, **header: object) -> Path:
    message = {"kind": "publish", "id": id}
    rows: list[dict[str, object]] = [
        {"routeproof": 1, "run": id, "protocol": "routing", "overlay": [[broker, "b2"]], **header},
        {"broker": broker, "seq": 1, "event": "client", "peer": id, "message": message},
        {"broker": broker, "seq": 2, "event": "send", "peer": "b2", "message": message},
        {"broker": broker, "seq": 3, "event": "deliver", "peer": id, "message": {**message, "to": id}},
        {"broker": broker, "seq": 4, "event": "note", "text": id},
        {"broker": "b2", "seq": 9, "event": "drop", "peer": broker, "message": message},
        {"broker": "b2", "seq": 10, "event": "crash"},
        {"broker": "b2", "seq": 11, "event": "restart"},
        {"broker": "b2", "seq": 12, "event": "snapshot", "tables": {}},
    ]
    path = directory / "foreign.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize("nasty", NASTY)
def test_nothing_is_injected(tmp_path: Path, nasty: str) -> None:
    path = _foreign(tmp_path, nasty, nasty)
    text, diagram = show(path, "text"), show(path, "mermaid")
    assert not list(_bad_lines(diagram))
    for shown in (text, diagram):
        assert all(line.isprintable() for line in shown.splitlines())
        shown.encode("utf-8")
        assert not any(line.strip() == "participant evil" for line in shown.splitlines())


def test_nothing_is_injected_through_a_counterexample(tmp_path: Path) -> None:
    """What its header says is read strictly; only the reason is free text, and attributes have free names."""
    path = write_counterexample(*hunt(MUTANTS[0]), tmp_path)
    header, *events = (json.loads(line) for line in path.read_text().splitlines())
    header["violation"]["why"] = "\x1b[31m\nNote over b1: evil"
    header["instance"]["about"] = "fine"
    path.write_text("".join(json.dumps(row) + "\n" for row in (header, *events)))
    assert all(line.isprintable() for line in show(path, "text").splitlines())
    assert not list(_bad_lines(show(path, "mermaid")))


def test_bad_lines_are_counted_and_named(tmp_path: Path) -> None:
    path = _foreign(tmp_path, "b1", "x")
    with path.open("a") as file:
        file.write('{"broker": "b1", "seq": 13, "event": "teleport"}\n')
    text = show(path, "text")
    assert "1 line could not be read:" in text
    assert 'line 10  "event": found "teleport"; expected one of' in text


TRACES = Path(routeproof.traces.__file__).parent


@pytest.mark.parametrize("path", sorted((TRACES / "samples").glob("*.jsonl")), ids=lambda path: path.stem)
@pytest.mark.parametrize("form", FORMATS)
def test_recorded_runs_that_ship_are_shown(path: Path, form: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A recorded run may have its instance in the header, and is no counterexample for that."""
    assert main(["show", str(path), "--format", form]) == 0
    first = capsys.readouterr().out.splitlines()[0]
    assert re.fullmatch(rf"(?:%% )?{path.stem}(?::|#58;) a recorded run of \d+ events", first)


@pytest.mark.parametrize("path", sorted((TRACES / "corpus").glob("*.jsonl")), ids=lambda path: path.stem)
def test_counterexamples_that_ship_reproduce(path: Path) -> None:
    shown = read(path)
    assert shown.replay is not None
    assert not shown.is_false
    assert " recorded run " not in FORMATS["mermaid"](shown).splitlines()[0]


Rows = list[dict[str, Any]]


def _other_claim(rows: Rows) -> None:
    rows[0]["violation"] = {"property": "NoDuplicate", "why": "forged"}


def _other_steps(rows: Rows) -> None:
    rows[0]["actions"].pop()


def _other_instance(rows: Rows) -> None:
    rows[0]["instance"]["subscription"][0]["events"] = [0]


def _bad_line(rows: Rows) -> None:
    rows.append({"broker": "b1"})


def _no_mutant(rows: Rows) -> None:
    rows[0]["mutant"] = None


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("forge", [_other_claim, _other_steps, _other_instance, _bad_line, _no_mutant])
def test_a_counterexample_that_does_not_reproduce(
    tmp_path: Path, forge: Callable[[Rows], None], form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first line says so and where, in every format; what is claimed is not the title; the exit code is 1."""
    hunted, finding = hunt(MUTANTS[0])
    path = write_counterexample(hunted, finding, tmp_path)
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    forge(rows)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert main(["show", str(path), "--format", form]) == 1
    first = capsys.readouterr().out.splitlines()[0]
    difference = read(path).replay.difference  # type: ignore[union-attr]
    assert difference is not None
    assert re.match(rf"(?:%% )?{hunted.instance.name}(?::|#58;) does not reproduce", first)
    assert difference.where in first
    small = tmp_path / "small.jsonl"
    assert main(["shrink", str(path), "-o", str(small)]) == 1
    said = capsys.readouterr()
    assert said.out.startswith(f"{path}: does not reproduce: {difference.where}")
    assert said.out.count("\n") == 1
    assert said.err == ""
    assert not small.exists()


def test_the_steps_of_a_false_counterexample_are_those_that_happen(tmp_path: Path) -> None:
    path = write_counterexample(*hunt(MUTANTS[0]), tmp_path)
    header, *events = (json.loads(line) for line in path.read_text().splitlines())
    header["mutant"] = None
    path.write_text("".join(json.dumps(row) + "\n" for row in (header, *events)))
    text = show(path, "text")
    assert "1  advertise(a)" in text
    assert re.search(r"^  claimed +NoLostDelivery fails: ", text, re.MULTILINE)


def test_the_reason_in_a_diagram_is_that_of_the_replay(tmp_path: Path) -> None:
    path = write_counterexample(*hunt(MUTANTS[0]), tmp_path)
    header, *events = (json.loads(line) for line in path.read_text().splitlines())
    header["violation"]["why"] = "forged"
    path.write_text("".join(json.dumps(row) + "\n" for row in (header, *events)))
    assert all("forged" not in show(path, form) for form in FORMATS)


# -- overlays ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("links", "drawn"),
    [
        ([], ["a single broker"]),
        ([("b1", "b2"), ("b2", "b3")], ["b1 -- b2 -- b3"]),
        ([("b1", "b3"), ("b1", "b2")], ["b3 -- b1 -- b2"]),
        ([("b1", "b2"), ("b1", "b3"), ("b1", "b4")], ["b1", "+-- b2", "+-- b3", "`-- b4"]),
        (
            [("b1", "b2"), ("b2", "b3"), ("b3", "b4"), ("b3", "b5"), ("b5", "b6"), ("b6", "b7"), ("b6", "b8")],
            ["b3", "+-- b2 -- b1", "+-- b4", "`-- b5 -- b6", "          +-- b7", "          `-- b8"],
        ),
        ([("x", "y"), ("y", "z"), ("z", "x")], ["x -- y, y -- z, z -- x"]),
        ([("x", "y"), ("z", "w")], ["x -- y, z -- w"]),
        ([("x", "x")], ["x -- x"]),
        ([(f"b{i}", f"b{i + 1}") for i in range(100)], ["101 brokers, 100 links"]),
    ],
)
def test_drawing(links: list[tuple[str, str]], drawn: list[str]) -> None:
    assert draw(links) == drawn
