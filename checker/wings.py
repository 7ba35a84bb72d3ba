"""Wings: the part of a protocol that engines need in addition to its definition. `Wing` is its one value in this
room.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from attrs import frozen

from routeproof.model.filters import Event
from routeproof.model.instance import Subscriber
from routeproof.model.messages import Message, Subscription
from routeproof.model.overlay import Node
from routeproof.model.plugins import plugins
from routeproof.model.world import State, World

if TYPE_CHECKING:
    from routeproof.checker.fuzz.strategies import Fuzzing
    from routeproof.checker.prove.refine.sample import Refinement
    from routeproof.checker.prove.solve import CodeTheorem

Row = tuple[str, str]
"""A line of what `show` prints: who or which, and what."""

Changes = Callable[[World, str, Hashable, Hashable], Iterator[Row]]
"""(world, name of the node, its state before, its state after) -> rows of who and what."""


Due = Callable[[Callable[[Node], str], Hashable, Event, Node], tuple[Subscription, str] | None]
"""(name of a node, local state, event, neighbour) -> a subscription for which the event goes to the neighbour, and
where that leads in words; None where there is none."""


class RunJudge(Protocol):
    """Judges a run, state after state."""

    def look(self, state: State) -> str:
        """The violation in this state; empty if there is none."""
        ...


class RunOptions:
    """The options that `routeproof run` has for one protocol. These are none, and serve any protocol."""

    examples: ClassVar[str] = ""
    """Lines of the command's help."""

    def add(self, parser: argparse.ArgumentParser) -> None:
        """Add the options to the parser."""

    def refuse(self, arguments: argparse.Namespace, protocol: str) -> None:
        """Refuse what does not go together. `protocol` is the one that runs."""

    def own(self, arguments: argparse.Namespace) -> dict[str, Any]:
        """The values that nodes are made with (`Implementation.make`)."""
        return {}

    def signals(self, arguments: argparse.Namespace) -> Callable[[Node, int], Message | None] | None:
        """Signals of the driver, by the length of a node's queue: none."""
        return None

    def header(self, arguments: argparse.Namespace) -> dict[str, Any]:
        """Entries of the trace's header."""
        return {}

    def summary(self, arguments: argparse.Namespace) -> dict[str, Any]:
        """Entries of the summary about the options."""
        return {}

    def words(self, figures: Mapping[str, int]) -> str:
        """The protocol's own figures of a run, for the report."""
        return ", ".join(f"{name.replace('_', ' ')} {n:,}" for name, n in figures.items())


@frozen
class Wing:
    """Parts of the engines that a protocol may replace. Each has a default that serves any protocol."""

    changes: Changes | None = None
    """How `show` says what a step changed in the fields that are the protocol's own."""

    about: Callable[[World], Iterable[Row]] = lambda world: ()
    """Rows of what and which that `show` has about an instance: the keys that are the protocol's own."""
    client: Callable[[World, Subscriber], str] = lambda world, subscriber: ""
    """The words that `show` adds to the line of a subscriber."""
    smaller: Callable[[Mapping[str, Any]], Iterable[tuple[str, dict[str, Any]]]] | None = None
    """Smaller tables of instances, each with what is left out: less of the keys that are the protocol's own."""
    of_brokers: tuple[str, ...] = ()
    """The words of operations that name a broker: `congest` of `congest(3)`."""
    fuzzing: Callable[[], Fuzzing] | None = None
    """How the fuzzer goes about the protocol, imported when asked for; None where no instances are drawn."""
    settled: Callable[[World], RunJudge] | None = None
    """The judge of a run by the properties over `settled`."""
    options: Callable[[], RunOptions] = RunOptions
    """The options of `run`, imported when asked for."""

    judging: Callable[[], Any] | None = None
    """How validation judges its brokers (`validate.judging.Judging`), imported when asked for; None: by its handler."""

    due: Due | None = None
    """Why a copy of a publication is due, for validation; only where local states are not the core's tables."""

    experiments: Callable[[], Mapping[str, Any]] = dict
    """The experiments of papers (`experiments.Experiment`) by name, imported on first use."""

    refinement: Callable[[], Refinement] | None = None
    """How its model is held to the relation of its proofs, imported when asked for; None where there is no relation."""
    code_theorems: Callable[[], Sequence[CodeTheorem]] = tuple
    """Further theorems about the protocol's code, which hold up to a bound, imported when asked for."""


def assigned(table: Mapping[str, object]) -> str:
    """The keys of a table with their values, on one line."""
    return ", ".join(f"{key} = {json.dumps(value)}" for key, value in table.items())


def imported(module: str, name: str) -> Callable[[], Any]:
    """Returns a function that gives a value of a module of this room, which is imported when it is called."""
    return lambda: getattr(import_module(f"routeproof.checker.{module}"), name)


def wing_of(world: World) -> Wing:
    return wing_named(world.definition.name)


SHIPPED = ("pruning", "migration", "placement", "trees", "mesh")
"""Protocols other than routing whose wings ship, each in the package of its name."""

ROUTING = Wing(refinement=imported("prove.refine", "REFINEMENT"))


def wing_named(protocol: str) -> Wing:
    """The wing of one protocol, with all defaults if it has none. Those of others are not imported."""
    outside = _outside()
    if protocol in outside:
        return outside[protocol]
    if protocol in SHIPPED:
        shipped: Wing = import_module(f"routeproof.checker.{protocol}").WING
        return shipped
    return ROUTING if protocol == "routing" else Wing()


def wings() -> dict[str, Wing]:
    """The wings by protocol: those that ship, then those from outside."""
    return {name: wing_named(name) for name in ("routing", *SHIPPED, *_outside())}


def _outside() -> dict[str, Wing]:
    return {plugin.definition.name: plugin.wing for plugin in plugins() if hasattr(plugin, "wing")}
