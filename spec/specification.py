"""Specification of a protocol: its rules, its properties, and the claims of papers about it.

A property is a pure function of a small part of a state, with the part that it reads. A claim is a statement of a
paper, our reading of it, its outcome, and the repair where it breaks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from attrs import Factory, field, frozen

from routeproof.model.filters import Filter
from routeproof.model.messages import Subscription
from routeproof.spec.figures import FigureComparison, Rows, Verdict, judged

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
"""Places at which a property is evaluated; of a whole `graph`, or a run that settles, the engine decides it."""

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

    @classmethod
    def table(cls, protocol: str, *rows: tuple[Any, ...]) -> tuple[Rule, ...]:
        """The rules of a protocol: per row the id, the title and the source; False where no handler applies it."""
        return tuple(cls(id, protocol, *rest) for id, *rest in rows)


Theorems: TypeAlias = Sequence["Theorem | BoundedTheorem"]


def _asked_for(theorems: str | Callable[[], Theorems]) -> Callable[[], Theorems]:
    """Returns a function that imports the `THEOREMS` of a module when it is called: they need Z3."""
    return (lambda: cast(Theorems, import_module(theorems).THEOREMS)) if isinstance(theorems, str) else theorems


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
    theorems: Callable[[], Theorems] = field(default=tuple, converter=_asked_for)
    """The theorems about the protocol, or the module that has them."""


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

    @classmethod
    def of_figures(
        cls,
        measured: Mapping[str, Rows],
        id: str,
        paper: str,
        says: str,
        reading: str,
        scope: str,
        experiment: str,
        *criterion: FigureComparison,
    ) -> Claim:
        """A claim about figures: its criterion gives the verdict of the measured rows of an experiment."""
        verdict = judged(criterion, measured.get(experiment, {}))
        return cls(id, paper, says, reading, verdict, scope, experiment, criterion=criterion)
