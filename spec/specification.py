"""Specification of a protocol: its rules, its properties, and the claims of papers about it.

A property is a pure function of a small part of a state, with the part that it reads. A claim is a statement of a
paper, our reading of it, its outcome, and the repair where it breaks.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from attrs import Factory, frozen

from routeproof.model.filters import Filter
from routeproof.model.messages import Subscription

if TYPE_CHECKING:
    from routeproof.spec.theory.invariants.bounded import BoundedTheorem
    from routeproof.spec.theory.proof import Theorem


Variant = tuple[str, str]
"""A protocol and one of its policies."""

OK = ""
Answer = str | None
"""None where a property says nothing (not exercised), `OK`, or a sentence that says what is wrong."""

Seen = Any
"""The parts of the history and the ghosts that a property is shown, by name."""

Over = Literal["world", "node", "link", "channel", "graph", "settled"]
"""Places at which a property is evaluated. `graph`: the engine decides on the whole graph (Drains). `settled`: it needs
a whole run (TriggeredAtMostActive).
"""

Kind = Literal["always", "sometimes"]


@frozen
class Property:
    """`always` must hold in every state; `sometimes` must hold in one, and is a warning where it does not."""

    id: str
    kind: Kind
    over: Over
    variants: tuple[Variant, ...]
    """The protocols and policies under which it is meant to hold."""
    about: str
    evaluate: Callable[..., Answer]
    reads: tuple[str, ...] = ()
    """The arguments in addition to the place. Reading anything else is an error."""
    quiet: bool = False
    """True if it speaks only of states in which no control message is queued or held back."""
    role: str = "broker"
    """Role of the nodes that it is over, where it is over nodes; "any" for all."""

    @classmethod
    def of(
        cls,
        id: str,
        kind: Kind,
        over: Over,
        variants: tuple[Variant, ...],
        evaluate: Callable[..., Answer],
        reads: tuple[str, ...] = (),
        quiet: bool | None = None,
        role: str = "broker",
    ) -> Property:
        """A property that is about what its function's docstring says; over nodes and links, of quiet states."""
        about = " ".join((evaluate.__doc__ or "").split())
        is_quiet = over in ("node", "link") if quiet is None else quiet
        return cls(id, kind, over, variants, about, evaluate, reads, is_quiet, role)

    @property
    def policies(self) -> tuple[str, ...]:
        """The names of the policies under which it is meant to hold, each once."""
        return tuple(dict.fromkeys(policy for _, policy in self.variants))

    def is_meant_for(self, protocol: str, policies: Iterable[str]) -> bool:
        """True if it is meant to hold under one of these policies of the protocol."""
        return any((protocol, policy) in self.variants for policy in policies)


def strictly_covers(t: Subscription, s: Subscription) -> bool:
    """True if t covers s and s does not cover t."""
    return _strictly_covers(t.filter, s.filter)


@lru_cache(1 << 12)
def _strictly_covers(wider: Filter, narrower: Filter) -> bool:
    return wider.covers(narrower) and not narrower.covers(wider)


LOSSLESS_DELIVERY = ("NoLostDelivery", "NoDuplicate", "Precise", "Drains", "SomeDelivery")
"""Ids of the properties that the protocols on top of the routing core adopt, each with others of its own choice."""


def variants(protocol: str, policies: Iterable[str]) -> tuple[Variant, ...]:
    """A protocol under each of some policies."""
    return tuple((protocol, policy) for policy in policies)


@frozen
class Rule:
    """A rule of the specification. If `fires`, a handler applies it and coverage counts it; others are definitions."""

    id: str
    protocol: str
    title: str
    source: str
    fires: bool = True


def rules(protocol: str, *rows: tuple[Any, ...]) -> tuple[Rule, ...]:
    """The rules of a protocol: per row the id, the title and the source, and whether it fires where it does not."""
    return tuple(Rule(id, protocol, *rest) for id, *rest in rows)


Theorems: TypeAlias = Sequence["Theorem | BoundedTheorem"]


def theorems_in(module: str) -> Callable[[], Theorems]:
    """Returns a function that imports the `THEOREMS` of a module when they are asked for: they need Z3."""
    return lambda: cast(Theorems, import_module(module).THEOREMS)


@frozen
class Specification:
    """`adopts` are ids of properties of other protocols that must hold here too, under all policies."""

    protocol: str
    policies: tuple[str, ...]
    properties: tuple[Property, ...] = ()
    adopts: tuple[str, ...] = ()
    rules: tuple[Rule, ...] = ()
    """Rules of the protocol: reports count how often each fires, and instances may ask that it does (`must_reach`)."""
    claims: tuple[Claim, ...] = ()
    theorems: Callable[[], Theorems] = tuple
    """The theorems about the protocol, imported when asked for: they need Z3."""


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
    criterion: tuple[FigureComparison, ...] = ()
    repair: Repair | None = None
