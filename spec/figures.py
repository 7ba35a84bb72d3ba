"""Claims about figures: comparisons of rows of experiments, and the verdict that they come to."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Literal, TypeAlias

from attrs import frozen

Verdict = Literal[
    "holds", "fails", "holds with hypotheses", "comes out", "comes out in part", "does not come out", "not measured"
]
"""Outcome of a claim about a predicate, or about figures."""

Place: TypeAlias = tuple[str, str]
"""A row of an experiment: its quantity and its algorithm."""

Rows: TypeAlias = Mapping[Place, float]


@frozen
class FigureComparison:
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


def judged(criterion: Sequence[FigureComparison], rows: Rows) -> Verdict:
    """The verdict of a claim about figures: it comes out if all parts hold, and does not if none does."""
    answers = [part.holds(rows) for part in criterion]
    if not answers or None in answers:
        return "not measured"
    if all(answers):
        return "comes out"
    return "comes out in part" if any(answers) else "does not come out"


def more(quantity: str, one: str, times: float, other: str) -> FigureComparison:
    """A quantity is at least so many times as large under one algorithm as under the other."""
    return FigureComparison((quantity, one), "at least", times, (quantity, other))


def fewer(quantity: str, one: str, times: float, other: str) -> FigureComparison:
    """A quantity is at most so many times as large under one algorithm as under the other."""
    return FigureComparison((quantity, one), "at most", times, (quantity, other))


def larger(algorithm: str, quantity: str, times: float, of: str) -> FigureComparison:
    """Under an algorithm, a quantity is at least so many times as large as another one."""
    return FigureComparison((quantity, algorithm), "at least", times, (of, algorithm))


def smaller(algorithm: str, quantity: str, times: float, of: str) -> FigureComparison:
    """Under an algorithm, a quantity is at most so many times as large as another one."""
    return FigureComparison((quantity, algorithm), "at most", times, (of, algorithm))


def most(quantity: str, algorithm: str, number: float) -> FigureComparison:
    return FigureComparison((quantity, algorithm), "at most", number)


def least(quantity: str, algorithm: str, number: float) -> FigureComparison:
    return FigureComparison((quantity, algorithm), "at least", number)


def near(quantity: str, algorithm: str, paper: float) -> tuple[FigureComparison, FigureComparison]:
    """Within half of the paper's figure."""
    return most(quantity, algorithm, 1.5 * paper), least(quantity, algorithm, paper / 1.5)


def measured_rows(package: str) -> Mapping[str, Rows]:
    """The rows of experiments that a package records, by experiment. Workers of a cluster read them from an archive."""
    recorded = json.loads(files(package).joinpath("measured.json").read_text(encoding="utf-8"))
    return {
        name: {(quantity, algorithm): value for quantity, algorithm, value in rows} for name, rows in recorded.items()
    }
