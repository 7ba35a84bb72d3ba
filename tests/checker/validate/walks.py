"""Traces of long random runs of the model, mutated or not; those that end do so with nothing on the way."""

import json
import random
from pathlib import Path
from typing import Any

from attrs import frozen

from routeproof.checker.counterexamples.record import record
from routeproof.checker.evaluation import violations
from routeproof.checker.instances import find
from routeproof.checker.validate import Level, Report, validate
from routeproof.model.protocols import world
from routeproof.spec.properties import PROPERTIES

Row = dict[str, Any]

LIKELY = {"advertise": 4, "subscribe": 2, "publish": 0.2, "unsubscribe": 0.1, "unadvertise": 0.1}
"""Of operations, beside deliveries: most publications should find subscribers."""
POLICIES = ("none", "active", "lazy", "packing")
JUDGED = [p for p in PROPERTIES.values() if p.is_meant_for("routing", POLICIES)]
LONGEST = 300
"""Steps; some mutants go on for ever."""


@frozen
class Walk:
    """`broken`: the ids of the properties that some state of the run breaks."""

    rows: list[Row]
    broken: frozenset[str]


def walk(name: str, policy: str, seed: int = 0, mutant: str | None = None) -> Walk:
    """Operations and deliveries in an order of chance, until there is nothing left to do."""
    asked, rng = world(find(name), policy, mutant), random.Random(seed)
    state = asked.initial()
    labels: list[str] = []
    broken: set[str] = set()
    while len(labels) < LONGEST and (steps := list(asked.steps(state))):
        [step] = rng.choices(steps, [LIKELY.get(s.action.label.partition("(")[0], 8) for s in steps])
        labels.append(step.action.label)
        state = step.state
        broken |= {p.id for p, _ in violations(asked, state, JUDGED)}
    return Walk(json.loads(json.dumps(record(asked, labels, None))), frozenset(broken))


def rows_of(name: str, policy: str, seed: int = 0, mutant: str | None = None) -> list[Row]:
    return walk(name, policy, seed, mutant).rows


def write(rows: list[Row], path: Path) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def judged(rows: list[Row], folder: Path, level: Level = "exact") -> Report:
    return validate(write(rows, folder / "trace.jsonl"), level)
