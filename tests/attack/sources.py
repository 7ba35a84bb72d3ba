"""Good and spoilt traces to begin with: samples, recorded runs of the model, and counterexamples."""

from __future__ import annotations

import copy
import json
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from attrs import frozen

from tests.checker.validate.corrupt import CORRUPTIONS
from tests.checker.validate.walks import Row, rows_of

TRACES = Path(__file__).resolve().parents[2] / "traces"

INSTANCES = ("star4", "line3", "two4", "tiny", "quotes3", "star5")
POLICIES = ("active", "lazy", "packing", "none")

OWED = ("a delivery missing", "a forwarded publication lost", "a received publication lost")
"""Corruptions that take away what a client is owed, so that a trace is wrong at every level."""

ALTERED = (
    *("a delivery twice", "a delivery to somebody else", "a delivery of something else", "a delivery forged"),
    *("a filter altered when sent", "an event altered when received", "an id altered when sent"),
    *("a forwarded subscription lost", "a publication received twice", "a subscription received twice"),
)


@frozen
class Source:
    """A trace to damage. `good` are the rows that the protocol allows, where there are such; a spoilt one differs."""

    name: str
    rows: list[Row]
    good: list[Row] | None = None
    spoilt: str = ""

    def copied(self) -> list[Row]:
        return copy.deepcopy(self.rows)


@cache
def _run(name: str, policy: str, seed: int) -> list[Row]:
    return rows_of(name, policy, seed)


@cache
def _file(path: Path) -> list[Row]:
    found: list[Any] = []
    for text in path.read_text(encoding="utf-8").splitlines():
        try:
            found.append(json.loads(text))
        except ValueError:
            continue
    return [row for row in found if isinstance(row, dict)]


def _run_drawn(rng: Random) -> tuple[str, list[Row]]:
    name, policy, seed = rng.choice(INSTANCES), rng.choice(POLICIES), rng.randrange(3)
    return f"{name} {policy} {seed}", _run(name, policy, seed)


def good(rng: Random) -> Source:
    """A run that the protocol allows."""
    if rng.random() < 0.2:
        path = rng.choice(sorted(TRACES.glob("samples/star4-*.jsonl")))
        return Source(path.stem, _file(path), _file(path))
    name, rows = _run_drawn(rng)
    return Source(name, rows, rows)


def spoilt(rng: Random, corruptions: tuple[str, ...]) -> Source:
    """A run from which something was taken, or in which something was altered."""
    while True:
        name, rows = _run_drawn(rng)
        corruption = rng.choice(corruptions)
        spoilt = copy.deepcopy(rows)
        if CORRUPTIONS[corruption].spoil(spoilt) is not None:
            return Source(f"{name}: {corruption}", spoilt, rows, corruption)


def counterexample(rng: Random) -> Source:
    """A trace that `show` and `shrink` play again."""
    path = rng.choice(sorted(TRACES.glob("corpus/*.jsonl")))
    return Source(path.stem, _file(path))


def sample(rng: Random) -> Source:
    """Any sample that ships, good or bad."""
    path = rng.choice(sorted(TRACES.glob("samples/*.jsonl")))
    return Source(path.stem, _file(path))
