"""Recorded traces that are shrunk: much shorter, the same cause in first place, and no fault that was not there."""

import json
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from routeproof.checker.cli import main
from routeproof.checker.counterexamples.recorded import Cause, NotRejected, shrink_recorded
from routeproof.checker.counterexamples.recording import Recording, recording_of
from routeproof.checker.instances import shipped
from routeproof.checker.system import interrupts
from routeproof.checker.validate import validate
from routeproof.model.protocols import DEFINITIONS
from routeproof.traces import read_trace, to_parquet
from tests.campaigns import drawn
from tests.checker.command import Here
from tests.checker.validate.corrupt import CORRUPTIONS, Row
from tests.checker.validate.walks import rows_of, write
from tests.kit.runs import run_of
from tests.shown import recorded, sampled

Spoil = Callable[[list[Row]], object]


@pytest.fixture(scope="module")
def long_run(tmp_path_factory: pytest.TempPathFactory) -> list[Row]:
    """A run of 63 brokers with some 2,450 events."""
    folder = tmp_path_factory.mktemp("recorded")
    assert main(["run", "stock", "--scale", "0.002", "--seed", "3", "--trace", "--out", str(folder / "run")]) == 0
    return [json.loads(line) for line in (folder / "run" / "trace.jsonl").read_text().splitlines()]


def _late(event: str, kind: str) -> Spoil:
    """Leaves out an event in the middle of the trace."""

    def spoil(rows: list[Row]) -> object:
        found = [i for i, row in enumerate(rows) if row.get("event") == event and row["message"]["kind"] == kind]
        del rows[found[len(found) // 2]]
        return found

    return spoil


FAULTS: dict[str, tuple[Spoil, int]] = {
    "a subscription is not forwarded": (_late("send", "subscribe"), 60),
    "a withdrawal is not forwarded": (_late("send", "unsubscribe"), 60),
    "a publication is not forwarded": (_late("send", "publish"), 60),
    "a delivery is missing": (_late("deliver", "publish"), 100),
    "a filter is altered": (CORRUPTIONS["a filter altered when received"].spoil, 20),
}
"""Each with the events that are left at most of some 2,450."""


def _spoilt(recorded: list[Row], fault: str) -> list[Row]:
    rows = [json.loads(json.dumps(row)) for row in recorded]
    assert FAULTS[fault][0](rows) is not None
    return rows


@recorded
@pytest.mark.parametrize("fault", sampled(FAULTS, "a filter is altered".__eq__))
def test_a_long_trace_becomes_short_and_keeps_its_cause(fault: str, long_run: list[Row], tmp_path: Path) -> None:
    whole, small = write(_spoilt(long_run, fault), tmp_path / "whole.jsonl"), tmp_path / "small.jsonl"
    said = shrink_recorded(whole, small)
    before, after = validate(whole), validate(small)
    assert Cause.of(before.rejections[0]) == Cause.of(after.rejections[0])
    assert {(r.broker, r.rule) for r in after.rejections} <= {(r.broker, r.rule) for r in before.rejections}
    left = len(small.read_text().splitlines()) - 1
    assert left <= FAULTS[fault][1], said
    assert after.rejections[0].rule in said
    _is_part(small, whole)


def _is_part(small: Path, whole: Path) -> None:
    """Every event stands in the whole trace, with its seq; but one that says that a step had ended."""
    rows = {json.dumps(json.loads(line), sort_keys=True) for line in whole.read_text().splitlines()[1:]}
    others = [json.loads(line) for line in small.read_text().splitlines()[1:]]
    made = [row for row in others if json.dumps(row, sort_keys=True) not in rows]
    assert [(row["event"], row["tables"]) for row in made] in ([], [("snapshot", {})]), made


@pytest.mark.parametrize("policy", ["none", "active", "lazy", "packing"])
@pytest.mark.parametrize("fault", ["a forwarded subscription lost", "a delivery missing", "an id altered when sent"])
def test_under_every_policy(policy: str, fault: str, tmp_path: Path) -> None:
    rows = rows_of("line4", policy, 3)
    del rows[0]["actions"]
    assert CORRUPTIONS[fault].spoil(rows) is not None
    whole, small = write(rows, tmp_path / "whole.jsonl"), tmp_path / "small.jsonl"
    shrink_recorded(whole, small)
    assert Cause.of(validate(whole).rejections[0]) == Cause.of(validate(small).rejections[0])
    assert len(small.read_text().splitlines()) < len(rows) - 5


def _runs_of(protocol: str) -> Iterator[list[Row]]:
    """Recorded runs of the instances of a protocol that keep all properties, those of few brokers first."""
    mine = [each for each in shipped() if each.protocol == protocol and not each.must_fail]
    for instance in sorted(mine, key=lambda each: (len(each.overlay.edges), each.name)):
        yield run_of(instance.name, instance.policies[-1], 1)


@drawn(0.1)
@pytest.mark.parametrize("protocol", DEFINITIONS)
def test_runs_of_every_protocol(protocol: str, share: float, tmp_path: Path) -> None:
    """A run that lacks one message: what is left is rejected at the same event, for the same rule and messages."""
    rows = next(rows for rows in _runs_of(protocol) if len(rows) > 40)
    rows = [{key: value for key, value in rows[0].items() if key not in ("actions", "violation")}, *rows[1:]]
    spoken = [i for i, row in enumerate(rows) if row.get("event") in ("send", "deliver")]
    shrunk = 0
    for at in Random(5).sample(spoken, max(2, round(share * len(spoken)))):
        whole, small = write([*rows[:at], *rows[at + 1 :]], tmp_path / "whole.jsonl"), tmp_path / "small.jsonl"
        if not (before := validate(whole)).rejections:
            assert before.verdict == "unknown", "it was in the last step"
            continue
        shrink_recorded(whole, small)
        after = validate(small)
        first, last = before.rejections[0], after.rejections[0]
        assert Cause.of(first) == Cause.of(last)
        assert first.reason or first.rule != "RTE-5"
        assert first.handling.partition("(")[0] == last.handling.partition("(")[0]
        assert after.events < before.events
        _is_part(small, whole)
        shrunk += 1
    assert shrunk


@pytest.fixture
def spoilt(tmp_path: Path) -> Path:
    rows = rows_of("line4", "active", 3)
    del rows[0]["actions"]
    CORRUPTIONS["a forwarded subscription lost"].spoil(rows)
    return write(rows, tmp_path / "whole.jsonl")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Here:
    return Here(tmp_path, monkeypatch, capsys)


def test_the_command_shrinks_and_is_deterministic(spoilt: Path, here: Here) -> None:
    ran = here("shrink", spoilt, "-o", "small.jsonl")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == "RTE-3 at broker b3, seq 5: 51 events of 4 brokers -> 6 events of 3 brokers: small.jsonl\n"
    printed = here("shrink", spoilt, "-o", "-")
    assert printed.out == (here.directory / "small.jsonl").read_text()
    again = here("shrink", "small.jsonl", "-o", "smaller.jsonl")
    assert again.out.startswith("RTE-3 at broker b3, seq 5: already minimal, 6 events of 3 brokers")


def test_parquet_is_read(spoilt: Path, here: Here) -> None:
    to_parquet(spoilt, here.directory / "whole.parquet")
    assert here("shrink", "whole.parquet", "-o", "small.jsonl").code == 0
    assert validate(here.directory / "small.jsonl").rejections[0].rule == "RTE-3"


def test_nothing_is_written_where_nothing_is_rejected(here: Here) -> None:
    rows = rows_of("line4", "active", 3)
    del rows[0]["actions"]
    write(rows, here.directory / "good.jsonl")
    ran = here("shrink", "good.jsonl", "-o", "small.jsonl")
    assert (ran.code, ran.out) == (
        1,
        "good.jsonl: accepted at level equivalent: there is no rejection to keep; nothing was written\n",
    )
    assert not (here.directory / "small.jsonl").exists()


def test_what_cannot_be_used_is_refused(spoilt: Path, here: Here) -> None:
    assert "no level is called" in here("shrink", spoilt, "-o", "x", "--level", "strict").err
    counterexample = Path(__file__).parents[2] / "traces" / "corpus" / "prop2-under-lazy.jsonl"
    ran = here("shrink", counterexample, "-o", "x", "--level", "exact")
    assert (ran.code, "--level is for recorded runs" in ran.err) == (2, True)


def test_the_shortest_so_far_is_written_when_time_is_over(long_run: list[Row], tmp_path: Path) -> None:
    whole = write(_spoilt(long_run, "a delivery is missing"), tmp_path / "whole.jsonl")
    shrink_recorded(whole, tmp_path / "small.jsonl", seconds=0.000001)
    assert (tmp_path / "small.jsonl").read_text() == recording_of(read_trace(whole), read_trace(whole).header.run).text


def test_the_shortest_so_far_is_written_when_a_signal_comes(
    spoilt: Path, here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    described = Recording.described
    asked: list[int] = []

    def interrupted(recording: Recording) -> str:
        asked.append(len(recording.lines))
        if len(asked) == 3:  # two cuts have been made
            signal.raise_signal(signal.SIGTERM)
        return described(recording)

    monkeypatch.setattr(Recording, "described", interrupted)
    ran = here("shrink", spoilt, "-o", "small.jsonl")
    assert (ran.code, ran.err) == (143, "routeproof: ended by SIGTERM\n")
    assert asked[0] > asked[1] > asked[2]
    assert len(read_trace(here.directory / "small.jsonl").events) == asked[2]
    assert validate(here.directory / "small.jsonl").rejections[0].rule == "RTE-3"
    assert not interrupts.came()


def test_a_counterexample_is_written_when_time_is_over(here: Here) -> None:
    counterexample = Path(__file__).parents[2] / "traces" / "corpus" / "prop2-under-lazy.jsonl"
    ran = here("shrink", counterexample, "-o", "small.jsonl", "--seconds", "0.000001")
    assert ran.code == 0
    assert here("show", "small.jsonl").code == 0


def test_other_runs_and_lines_that_cannot_be_read_are_left_out(spoilt: Path, here: Here) -> None:
    text = spoilt.read_text()
    other = [{**json.loads(line), "run": "second"} for line in text.splitlines()[1:4]]
    spoilt.write_text(text + "".join(json.dumps(row) + "\n" for row in other))
    assert here("shrink", spoilt, "-o", "small.jsonl").code == 0
    assert all(not event.run for event in read_trace(here.directory / "small.jsonl").events)


def test_a_cut_takes_with_it_all_that_came_of_an_operation(tmp_path: Path) -> None:
    rows = rows_of("line4", "none", 3)
    recording = recording_of(read_trace(write(rows, tmp_path / "t.jsonl")), rows[0]["run"])
    shorter = recording.without((), {"p"})
    assert any("p" in line.ids for line in recording.lines)
    assert not any("p" in line.ids for line in shorter.lines)
    (tmp_path / "shorter.jsonl").write_text(shorter.text)
    assert validate(tmp_path / "shorter.jsonl").verdict == "accepted"
    without = recording.without((), {"s2"})  # and the copies of publications that only s2 asked for
    (tmp_path / "without.jsonl").write_text(without.text)
    assert validate(tmp_path / "without.jsonl").verdict == "accepted"


def test_an_accepted_trace_is_refused(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = rows_of("line4", "none", 3)
    with pytest.raises(NotRejected, match="no rejection to keep"):
        shrink_recorded(write(rows, tmp_path / "t.jsonl"), tmp_path / "small.jsonl")
