"""Recorded runs of an instance that ships, in an order of chance, and corruptions by the kind of a message."""

import json
import random
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from routeproof.checker.counterexamples.record import record
from routeproof.checker.instances import find
from routeproof.checker.validate import validate
from routeproof.model.protocols import world
from routeproof.traces import to_parquet

Row = dict[str, Any]

SELDOM = 0.25
"""Weight of operations against deliveries: what comes too early has no effect."""


def run_of(name: str, policy: str, seed: int, mutant: str | None = None) -> list[Row]:
    """A run to its end, in an order of chance."""
    rows: list[Row] = json.loads(_recorded(name, policy, seed, mutant))
    return rows


@cache
def _recorded(name: str, policy: str, seed: int, mutant: str | None) -> str:
    """The rows of a run, written: each corruption spoils rows of its own."""
    asked, draw = world(find(name), policy, mutant), random.Random(seed)
    state, labels = asked.initial(), list[str]()
    while steps := list(asked.steps(state)):
        [step] = draw.choices(steps, [1 if each.action.operation is None else SELDOM for each in steps])
        labels.append(step.action.label)
        state = step.state
    return json.dumps(record(asked, labels, None))


def write(rows: list[Row], path: Path) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def find_row(rows: list[Row], event: str, kind: str) -> Row | None:
    return next((r for r in rows[1:] if r["event"] == event and r["message"]["kind"] == kind), None)


Spoil = Callable[[list[Row]], bool]
"""It changes rows, and answers whether there was something to change."""


def leaves_out(event: str, kind: str) -> Spoil:
    def spoil(rows: list[Row]) -> bool:
        row = find_row(rows, event, kind)
        if row is not None:
            rows.remove(row)
        return row is not None

    return spoil


def changes(event: str, kind: str, key: str, value: Any) -> Spoil:
    def spoil(rows: list[Row]) -> bool:
        row = find_row(rows, event, kind)
        if row is None:
            return False
        (row if key in row else row["message"])[key] = value
        return True

    return spoil


def says_twice(kind: str) -> Spoil:
    def spoil(rows: list[Row]) -> bool:
        row = find_row(rows, "send", kind)
        if row is None:
            return False
        for each in rows[1:]:
            each["seq"] *= 2
        rows.insert(rows.index(row) + 1, {**row, "seq": row["seq"] + 1})
        return True

    return spoil


# -- what validation must say of them ----------------------------------------------------------------------------------


def assert_accepted(rows: list[Row], directory: Path) -> None:
    """A run is accepted, from JSON Lines and Parquet alike."""
    path = write(rows, directory / "run.jsonl")
    assert validate(path, "exact").verdict == "accepted"
    assert validate(path, "equivalent").verdict == "accepted"
    to_parquet(path, directory / "run.parquet")
    assert validate(directory / "run.parquet", "exact").verdict == "accepted"


def assert_found(
    name: str, policy: str, spoil: Spoil, rule: str, directory: Path, form: str = "jsonl", seeds: int = 90
) -> None:
    """A corruption is found, in a run that goes on behind the fault: the last step of a recording may have been cut
    off, and is not judged.
    """
    for seed in range(seeds):
        if not spoil(rows := run_of(name, policy, seed)):
            continue
        path = write(rows, directory / "run.jsonl")
        if form == "parquet":
            to_parquet(path, path := directory / "run.parquet")
        report = validate(path)
        if report.verdict != "unknown":
            break
    assert report.verdict == "rejected"
    assert rule in {each.rule for each in report.rejections}


def assert_rejected(name: str, policy: str, mutant: str, directory: Path, seeds: int) -> None:
    """One of some runs of a broken broker is rejected."""
    runs = (run_of(name, policy, seed, mutant) for seed in range(seeds))
    assert any(validate(write(run, directory / "run.jsonl")).verdict == "rejected" for run in runs)
