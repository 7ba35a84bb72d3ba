"""The wing of pruning: how what brokers retain, note and hold is shown."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from routeproof.checker.counterexamples.shown import difference
from routeproof.checker.wings import RunJudge, RunOptions, Wing
from routeproof.model.instance import Subscriber
from routeproof.model.messages import describe
from routeproof.model.pruning.sections import again, congested, readings, readings_to_table
from routeproof.model.pruning.state import PruningTables
from routeproof.model.world import World

if TYPE_CHECKING:
    from routeproof.checker.fuzz.strategies import Fuzzing
    from routeproof.checker.prove.refine.sample import Refinement

Row = tuple[str, str]


def changes(world: World, me: str, old: Hashable, new: Hashable) -> Iterator[Row]:
    """Changes in what a broker retains, in its statistics and in what it holds."""
    assert isinstance(old, PruningTables)
    assert isinstance(new, PruningTables)
    for neighbour in world.nodes:
        kept, keeps = old.retained_for(neighbour), new.retained_for(neighbour)
        if kept != keeps:
            yield f"{me} retained[{world.name(neighbour)}]", difference(map(str, kept), map(str, keeps))
    if old.rows != new.rows:
        yield f"{me} rows", difference(_rows(old), _rows(new))
    if old.held != new.held:
        yield f"{me} held", difference(*([describe(m) for _, m in tables.held] for tables in (old, new)))
    if old.congested != new.congested:
        yield me, "is congested" if new.congested else "is relieved"


def _rows(tables: PruningTables) -> list[str]:
    """`S of a: p 2` is one that was 2 hops from what else it matches, with its count where it has one."""
    return [
        f"{s} of {a}: {row.publication} {row.distance}{f' ({row.count})' if row.count else ''}"
        for s, a, rows in tables.rows
        for row in rows
    ]


def experiments() -> Mapping[str, Any]:
    """The experiments of papers 000 and 001, with the simulator that they run."""
    from routeproof.checker.pruning.experiments import EXPERIMENTS

    return EXPERIMENTS


def options() -> RunOptions:
    """The options of `run`, with the implementation that they are for."""
    from routeproof.checker.pruning.run_options import PruningOptions

    return PruningOptions()


def judging() -> object:
    """How validation judges brokers."""
    from routeproof.checker.pruning.validate.judging import JUDGING

    return JUDGING


def about(world: World) -> Iterator[Row]:
    """The brokers that may become congested, and the readings that do not have their default."""
    if brokers := congested(world.instance):
        yield "congestion", ", ".join(map(world.name, brokers))
    if given := readings_to_table(readings(world.instance)):
        yield "readings", ", ".join(f"{key} = {json.dumps(value)}" for key, value in given.items())


def client(world: World, subscriber: Subscriber) -> str:
    """Where a client comes back."""
    at = again(subscriber)
    return "" if at is None else f", then subscribe again at {world.name(at)}"


def smaller(table: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Who comes back, who may be congested, and readings: each with its default."""
    clients = table["subscription"]
    for i, each in enumerate(clients):
        if "again" in each:
            left = {key: value for key, value in each.items() if key != "again"}
            others = [*clients[:i], left, *clients[i + 1 :]]
            yield f"with {each['id']} never issued again", {**table, "subscription": others}
    for place in table.get("congestion", []):
        left_over = [other for other in table["congestion"] if other != place]
        yield f"with {place['at']} never congested", {**table, "congestion": left_over}
    for key in table.get("pruning", {}):
        rest = {other: value for other, value in table["pruning"].items() if other != key}
        yield f"with the default of {key}", {**table, "pruning": rest}


def fuzzing() -> Fuzzing:
    """The parts that the fuzzer draws, and a run in which statistics are exact."""
    from routeproof.checker.pruning.fuzzing import FUZZING

    return FUZZING


def settled(world: World) -> RunJudge:
    """The comparison with active covering along a run."""
    from routeproof.checker.pruning.triggered import Comparison

    return Comparison(world)


def refinement() -> Refinement:
    """How brokers that prune are held to their relation."""
    from routeproof.checker.pruning.refinement_theorems import REFINEMENT

    return REFINEMENT


WING = Wing(
    changes=changes,
    about=about,
    client=client,
    smaller=smaller,
    of_brokers=("congest", "relieve"),
    fuzzing=fuzzing,
    settled=settled,
    judging=judging,
    options=options,
    experiments=experiments,
    refinement=refinement,
)
