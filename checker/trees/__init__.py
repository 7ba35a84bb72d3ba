"""The wing of dissemination on trees: how it is fuzzed, shrunk and shown. `WING` is its one value here."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from routeproof.checker.wings import Wing
from routeproof.model.filters import Event
from routeproof.model.instance import Subscriber
from routeproof.model.messages import Subscription
from routeproof.model.overlay import LOCAL, Node, Overlay
from routeproof.model.trees.definition import clusters_to_list, parameters_to_table
from routeproof.model.trees.vocabulary import TreeBroker, TreeCoordinator, parameters_of, strategies_of
from routeproof.model.world import World

if TYPE_CHECKING:
    from routeproof.checker.fuzz.strategies import Fuzzing

NAIVE = frozenset({("looked", "newest"), ("commit", "early"), ("torn", "installed")})
"""The readings of the naive switch. They go together: without one of them it is no switch that anyone describes."""

Row = tuple[str, str]
Table = dict[str, Any]


def fuzzing() -> Fuzzing:
    """The links, strategies and clusters that the fuzzer draws."""
    from routeproof.checker.trees.fuzzing import FUZZING

    return FUZZING


# -- show --------------------------------------------------------------------------------------------------------------


def about(world: World) -> Iterator[Row]:
    """The links that the overlay lacks, the strategies, and the readings that do not have their default."""
    parameters = parameters_of(world.instance)
    if parameters.links:
        yield "links", ", ".join(f"{world.name(u)}-{world.name(v)}" for u, v in parameters.links)
    for epoch, trees in enumerate(strategies_of(world.instance)):
        yield f"strategy {epoch}", "; ".join(_tree(world, tree) for tree in trees)
    readings = {k: v for k, v in parameters_to_table(parameters).items() if k not in ("links", "strategies")}
    if readings:
        yield "readings", ", ".join(f"{key} = {json.dumps(value)}" for key, value in readings.items())


def _tree(world: World, tree: Overlay) -> str:
    return " ".join(f"{world.name(u)}-{world.name(v)}" for u, v in tree.edges) or "one broker"


def client(world: World, subscriber: Subscriber) -> str:
    """The clusters of a subscription."""
    clusters = subscriber.section("clusters", ())
    return f"clusters {json.dumps(clusters_to_list(clusters))}" if clusters else ""


def changes(world: World, me: str, old: Hashable, new: Hashable) -> Iterator[Row]:
    """Changes in a broker's stamp, tables and markers, or in what the coordinator knows and awaits."""
    from routeproof.checker.counterexamples.shown import difference

    before, after = dict(_parts(world, old)), dict(_parts(world, new))
    for name in dict.fromkeys((*before, *after)):
        if before.get(name) != after.get(name):
            gone = [] if name in after else ["table dropped"]
            come = [] if name in before else ["new table"]
            yield (
                f"{me} {name}",
                difference([*before.get(name, ()), *come], [*after.get(name, ()), *gone]) or ", ".join([*come, *gone]),
            )


def _parts(world: World, local: Hashable) -> Iterator[tuple[str, list[str]]]:
    """The parts of a local state, each as words."""
    match local:
        case TreeBroker(epoch, tables, clients):
            yield "stamps by", [f"strategy {epoch}"]
            for table in tables:
                entries = [f"{s} {'here' if hop == LOCAL else 'to ' + world.name(hop)}" for s, hop in table.entries]
                marks = [f"mark of {world.name(n)}" for n in table.marked]
                yield f"table {table.epoch}/{table.tree}", [*entries, *marks]
            yield "clients", [str(s) for s in clients]
        case TreeCoordinator():
            yield "strategy", [f"{local.epoch} installed", f"{local.committed} committed"]
            yield "knows", [f"{s} at {world.name(home)}" for s, home in local.known]
            yield "computed", [str(epoch) for epoch, _ in local.snapshots]
            yield "waiting", [str(epoch) for epoch in local.waiting]
            yield "awaits", [f"{world.name(b)} to acknowledge {epoch}" for epoch, b in local.unacknowledged]
            yield "old tables", [f"of {epoch} at {world.name(b)}" for epoch, b in local.standing]


# -- smaller instances -------------------------------------------------------------------------------------------------


def smaller(table: Mapping[str, Any]) -> Iterator[tuple[str, Table]]:
    """A strategy less, a tree less, one part of a subscription for several, then less of the sections."""
    from routeproof.checker.counterexamples.smaller import without_sections

    section = table.get("trees", {})
    strategies = section.get("strategies", [])
    if len(strategies) > 1:
        yield "without the last strategy", _with(table, strategies[:-1], lambda clusters: clusters[:-1])
    for epoch, trees in enumerate(strategies):
        for n in range(1, len(trees) + 1) if len(trees) > 1 else ():
            left = [*strategies[:epoch], trees[: n - 1] + trees[n:], *strategies[epoch + 1 :]]

            def without(clusters: list[Any], epoch: int = epoch, n: int = n) -> list[Any]:
                return [_without_tree(each, n) if at == epoch else each for at, each in enumerate(clusters)]

            yield f"without tree {n} of strategy {epoch}", _with(table, left, without)
    for i, row in enumerate(table["subscription"]):
        for epoch, each in enumerate(row.get("clusters", ())):
            for number in each if isinstance(each, list) else ():
                clusters = [*row["clusters"][:epoch], number, *row["clusters"][epoch + 1 :]]
                rows = [*table["subscription"][:i], {**row, "clusters": clusters}, *table["subscription"][i + 1 :]]
                yield f"with {row['id']} in cluster {number} of strategy {epoch}", {**table, "subscription": rows}
    for what, less in without_sections(table):
        if not _is_naive(table) or _is_naive(less) or not any(_has(less, key, value) for key, value in NAIVE):
            yield what, less


def _has(table: Mapping[str, Any], key: str, value: str) -> bool:
    return bool(table.get("trees", {}).get(key) == value)


def _is_naive(table: Mapping[str, Any]) -> bool:
    return all(_has(table, key, value) for key, value in NAIVE)


def _with(table: Mapping[str, Any], strategies: list[Any], clusters: Any) -> Table:
    rows = [
        {**row, "clusters": clusters(row["clusters"])} if "clusters" in row else row for row in table["subscription"]
    ]
    return {**table, "trees": {**table["trees"], "strategies": strategies}, "subscription": rows}


def _without_tree(numbers: Any, n: int) -> Any:
    """The clusters of a strategy without tree n; those with a higher number move up."""
    several = numbers if isinstance(numbers, list) else [numbers]
    left = sorted({each - (each > n) for each in several if each != n}) or [1]
    return left[0] if len(left) == 1 else left


def experiments() -> Mapping[str, Any]:
    """The experiments of 003 on the computation of trees."""
    from routeproof.checker.trees.figures import EXPERIMENTS

    return EXPERIMENTS


def due(name_of: Callable[[Node], str], local: Hashable, event: Event, to: Node) -> tuple[Subscription, str] | None:
    """NET-3 and NET-4: a subscription that matches, and lies at the neighbour or beyond on some tree."""
    for table in local.tables if isinstance(local, TreeBroker) else ():
        for s, hop in table.entries:
            if hop == to and s.filter.matches(event):
                return s, f"which is toward {name_of(to)} on tree {table.tree} of strategy {table.epoch}"
    return None


WING = Wing(
    changes=changes,
    about=about,
    client=client,
    smaller=smaller,
    fuzzing=fuzzing,
    due=due,
    experiments=experiments,
)
