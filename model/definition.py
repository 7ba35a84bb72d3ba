"""A protocol as the model has it: `Definition`, the one value that `model/NAME/` exports.

    DEFINITION = Definition(name="ferry", policies=("active",), make=..., messages=(*CORE, Board, Land), ...)

What is left out is the routing core's: its messages, its operations, an overlay of brokers, no mutants. A policy's name
does not name a protocol: the key of everything is a `Variant`, (protocol, policy).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Literal

from attrs import Factory, frozen

from routeproof.model.history import Ghost
from routeproof.model.instance import POLICIES, Instance, OperationRow, core_operations
from routeproof.model.messages import CORE, Message, MessageHeader
from routeproof.model.overlay import Node, Topology
from routeproof.model.protocol import Outcome, Protocol

Variant = tuple[str, str]
"""A protocol and one of its policies."""


@frozen
class Mutant:
    """A seeded fault of a protocol under some of its policies. `rule` is the rule that it breaks."""

    id: str
    protocol: str
    rule: str
    policies: tuple[str, ...]
    about: str
    make: Any
    """The handler with one of its methods replaced: a class, made by the definition as the handler itself is."""


@frozen
class Policy:
    """A policy from outside for a protocol that is there: a handler that varies one of the protocol's own policies."""

    name: str
    protocol: str
    like: str
    """The policy that it varies: the properties that must hold under that one must hold here too."""
    handler: Any
    """A class, made by the protocol's definition as under the policy that it varies."""


@frozen
class Section:
    """A key of instance files that only one protocol has, at the top or in the tables of clients.

    What `read` returns is kept in `own` of the instance, or of the client; where it is the default, nothing is kept.
    """

    key: str
    read: Callable[..., Hashable]
    """(place, instance) -> value, or (place, instance, client) -> value; it refuses what is wrong."""
    write: Callable[[Any], object]
    """The inverse of `read`, of JSON's types only."""
    default: Hashable = None
    of: Literal["", "advertisement", "subscription"] = ""
    """The table in which the key is; empty for the top."""
    is_broker: bool = False
    """True if the value is the number of a broker, and changes with it where brokers are numbered anew."""
    brokers: tuple[str, ...] = ("at",)
    """Keys within the value, at any depth, of numbers of brokers or lists of them: they change likewise."""


def _overlay(instance: Instance) -> Topology:
    return Topology.of(instance.overlay)


def _no_parameters(instance: Instance, policy: str) -> None:
    return None


def _no_facts(node: Node, local: Hashable, sender: Node, message: Hashable, outcome: Outcome) -> tuple[Hashable, ...]:
    return ()


def _no_mutants() -> Mapping[str, Mutant]:
    return {}


@frozen
class Definition:
    """Everything that engines need to put instances of a protocol in motion."""

    name: str
    policies: tuple[str, ...]
    handler: Any
    """The class of the handler; a mutant's `make` stands in for it."""
    make: Callable[[Any, Instance, str], Protocol]
    """(class, instance, policy) -> the handler."""
    about: str = ""
    messages: tuple[type[Message], ...] = CORE
    """Kinds of messages that may travel between nodes or be an operation; any other is refused."""
    headers: Mapping[type[Message], type[MessageHeader]] = Factory(dict)
    """The headers that the protocol adds to messages of the core."""
    operations: Callable[[Instance], Sequence[OperationRow]] = core_operations
    topology: Callable[[Instance], Topology] = _overlay
    ghosts: tuple[Ghost, ...] = ()
    """Values that properties remember in addition to the history; each is a column of the explorer."""
    facts: Callable[[Node, Hashable, Node, Hashable, Outcome], tuple[Hashable, ...]] = _no_facts
    """(node, its state before, sender, message, outcome) -> what ghosts see of a step besides its deliveries."""
    policies_for: Callable[[Instance], tuple[str, ...]] | None = None
    """The policies under which an instance can be put in motion; all where it is left out."""
    sections: tuple[Section, ...] = ()
    parameters: Callable[[Instance, str], Any] = _no_parameters
    """(instance, policy) -> what the readings of the instance come to; `Ledger.parameters` for properties."""
    mutants: Callable[[], Mapping[str, Mutant]] = _no_mutants
    reductions: frozenset[str] = Factory(frozenset)
    """The reductions of the explorer whose argument has been made for this protocol."""

    instances: str = "routeproof.model"
    """Package whose folder `instances` has the instances that ship."""

    varied: tuple[Policy, ...] = ()
    """Policies from outside; their names are among `policies`."""

    def variation(self, policy: str) -> Policy | None:
        """The policy from outside of this name."""
        return next((each for each in self.varied if each.name == policy), None)

    def base(self, policy: str) -> str:
        """The policy of the protocol's own that this one varies; itself where it comes from no outside."""
        varied = self.variation(policy)
        return policy if varied is None else varied.like

    @property
    def variants(self) -> tuple[Variant, ...]:
        return tuple((self.name, policy) for policy in self.policies)


CORE_DEFINITION = Definition("routing", POLICIES, None, lambda handler, instance, policy: handler)
"""The routing core's messages, operations and topology, for a world whose handler is given."""
