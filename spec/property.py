"""Properties: pure functions of a small part of a state, each with the part that it reads.

    f(ledger[, place][, locals or queues][, ghosts][, flight])

A property is over the world, each node, each link of the overlay, or each channel. The place is left out where it is
the world. `reads` says what else the function is given, in this order:

local     the state of the node; of a link, the states of both ends, as two arguments
locals    over the world: the states of all nodes, a mapping
queue     the messages on the channel, or on the link
queues    over the world: the messages on all channels, a mapping
ghosts    one object with the parts of the history and the protocol's ghosts that are named, and nothing else
flight    the tags of all queues together (`Ledger.tag`)

A property is evaluated once for all states in which these are equal. `checker/scopes.py` is the one module that
interprets this. The catalogue is `properties`.

Specifications: `Specification` is the one value that a protocol has in this room.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

from attrs import frozen

from routeproof.model.filters import Filter
from routeproof.model.messages import Subscription
from routeproof.spec.claim import Claim

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


def no_theorems() -> Sequence[Theorem | BoundedTheorem]:
    return ()


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
    theorems: Callable[[], Sequence[Theorem | BoundedTheorem]] = no_theorems
    """The theorems about the protocol, imported when asked for: they need Z3."""
