"""Claims: the statement of a paper, our reading of it, the outcome, and the repair where it breaks."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Literal, TypeAlias

from attrs import Factory, frozen

Verdict = Literal[
    "holds", "fails", "holds with hypotheses", "comes out", "comes out in part", "does not come out", "not measured"
]
"""Outcome of a claim about a predicate, or about figures."""

Place: TypeAlias = tuple[str, str]
"""A row of an experiment: its quantity and its algorithm."""

Rows: TypeAlias = Mapping[Place, float]


@frozen
class Part:
    """A comparison that a claim about figures comes to: a row is at least, or at most, so many times another row.

    Without another row, `times` is the number itself.
    """

    row: Place
    relation: Literal["at least", "at most"]
    times: float
    of: Place | None = None

    def bound(self, rows: Rows) -> float | None:
        if self.of is None:
            return self.times
        return None if self.of not in rows else self.times * rows[self.of]

    def holds(self, rows: Rows) -> bool | None:
        """Returns None where a row is missing."""
        bound = self.bound(rows)
        if bound is None or self.row not in rows:
            return None
        return rows[self.row] >= bound if self.relation == "at least" else rows[self.row] <= bound

    def __str__(self) -> str:
        quantity, algorithm = self.row
        of = "" if self.of is None else f" times {self.of[0]} ({self.of[1]})"
        return f"{quantity} ({algorithm}) is {self.relation} {self.times:,.4g}{of}"


def judged(criterion: Sequence[Part], rows: Rows) -> Verdict:
    """The verdict of a claim about figures: it comes out if all parts hold, and does not if none does."""
    answers = [part.holds(rows) for part in criterion]
    if not answers or None in answers:
        return "not measured"
    if all(answers):
        return "comes out"
    return "comes out in part" if any(answers) else "does not come out"


def more(quantity: str, one: str, times: float, other: str) -> Part:
    """A quantity is at least so many times as large under one algorithm as under the other."""
    return Part((quantity, one), "at least", times, (quantity, other))


def most(quantity: str, algorithm: str, number: float) -> Part:
    return Part((quantity, algorithm), "at most", number)


def least(quantity: str, algorithm: str, number: float) -> Part:
    return Part((quantity, algorithm), "at least", number)


def near(quantity: str, algorithm: str, paper: float) -> tuple[Part, Part]:
    """Within half of the paper's figure."""
    return most(quantity, algorithm, 1.5 * paper), least(quantity, algorithm, paper / 1.5)


def measured_rows(package: str) -> Mapping[str, Rows]:
    """The rows of experiments that a package records, by experiment. Workers of a cluster read them from an archive."""
    recorded = json.loads(files(package).joinpath("measured.json").read_text(encoding="utf-8"))
    return {
        name: {(quantity, algorithm): value for quantity, algorithm, value in rows} for name, rows in recorded.items()
    }


@frozen
class Repair:
    """A statement that holds where a claim fails; `about` says why, or why nothing is specified that would.

    `readings` are values of the protocol's parameters: they, or a `policy`, are the variant of the protocol under which
    the counterexample's clients keep the property. `holds` is the claim that says so, of instances that ship; where the
    protocol stays as it is, it asks for less than the one that fails.
    """

    about: str
    holds: str | None = None
    readings: dict[str, object] = Factory(dict)
    policy: str | None = None


@frozen
class Claim:
    """`property` is the claim as a predicate. `instances`: where it is evaluated again; all instances of routing if
    empty.

    Of figures `property` is the experiment or the benchmark that makes them again, `criterion` what its rows must be:
    the verdict is computed from them (`judged`).
    Exactly what fails has a `trace` and a `repair`.
    """

    id: str
    paper: str
    says: str
    reading: str
    verdict: Verdict
    scope: str
    property: str
    trace: str | None = None
    instances: tuple[str, ...] = ()
    criterion: tuple[Part, ...] = ()
    repair: Repair | None = None
