"""Traces of long random runs of the model, mutated or not; those that end do so with nothing on the way."""

import json
import random
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from attrs import frozen

from routeproof.checker.counterexamples.record import record
from routeproof.checker.evaluation import violations
from routeproof.checker.instances import find
from routeproof.checker.validate import Level, Report, validate
from routeproof.model.protocols import world
from routeproof.model.world import World
from routeproof.spec.properties import PROPERTIES

Row = dict[str, Any]

LIKELY = {"advertise": 4, "subscribe": 2, "publish": 0.2, "unsubscribe": 0.1, "unadvertise": 0.1}
"""Of operations, beside deliveries: most publications should find subscribers."""
POLICIES = ("none", "active", "lazy", "packing")
JUDGED = [p for p in PROPERTIES.values() if p.is_meant_for("routing", POLICIES)]
MANY = 1000
"""Rows."""

LONGEST = 300
"""Steps; some mutants go on for ever."""


@frozen
class Walk:
    """`broken`: the ids of the properties that some state of the run breaks."""

    rows: list[Row]
    broken: frozenset[str]


def walk(name: str, policy: str, seed: int = 0, mutant: str | None = None) -> Walk:
    """Operations and deliveries in an order of chance, until there is nothing left to do."""
    asked = world(find(name), policy, mutant)
    broken = {p.id for _, state in _steps(asked, seed) for p, _ in violations(asked, state, JUDGED)}
    return Walk(rows_of(name, policy, seed, mutant), frozenset(broken))


def rows_of(name: str, policy: str, seed: int = 0, mutant: str | None = None) -> list[Row]:
    rows: list[Row] = json.loads(_recorded(name, policy, seed, mutant))
    return rows


@cache
def _recorded(name: str, policy: str, seed: int, mutant: str | None) -> str:
    """The rows of a walk, written: each corruption spoils rows of its own."""
    asked = world(find(name), policy, mutant)
    return json.dumps(record(asked, [label for label, _ in _steps(asked, seed)], None))


def _steps(asked: World, seed: int) -> Iterator[tuple[str, Any]]:
    """The labels of the steps of a walk, each with the state that follows."""
    state, rng = asked.initial(), random.Random(seed)
    for _ in range(LONGEST):
        if not (steps := list(asked.steps(state))):
            return
        [step] = rng.choices(steps, [LIKELY.get(s.action.label.partition("(")[0], 8) for s in steps])
        state = step.state
        yield step.action.label, state


def write(rows: list[Row], path: Path) -> Path:
    """Writes rows as lines of JSON: many as routeproof itself does, without spaces, which takes a tenth of the time."""
    if len(rows) >= MANY:
        with suppress(UnicodeError):  # of half a character
            path.write_bytes(msgspec.json.Encoder().encode_lines(rows))
            return path
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def judged(rows: list[Row], folder: Path, level: Level = "exact") -> Report:
    return validate(write(rows, folder / "trace.jsonl"), level)
