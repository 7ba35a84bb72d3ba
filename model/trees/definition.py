"""Definition of dissemination on trees for the engines, and its keys in instance files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import fields

from routeproof.model.definition import Definition, Mutant, Section
from routeproof.model.instance import Instance, Subscriber
from routeproof.model.messages import CORE, Publish
from routeproof.model.overlay import Link, Overlay, OverlayError, Topology
from routeproof.model.protocol import Protocol
from routeproof.model.reading import Place
from routeproof.model.trees.handler import Dissemination
from routeproof.model.trees.vocabulary import (
    DEFAULT,
    ONE_TREE,
    READINGS,
    TREES,
    ClusterAssignment,
    Clusters,
    Stamp,
    Strategy,
    TreeParameters,
    operations,
    parameters_of,
    strategies_of,
    topology,
)

STRATEGIES = 4
TREES_OF_ONE = 16
"""Most strategies of an instance, and most trees of a strategy."""


# -- the table `[trees]` -----------------------------------------------------------------------------------------------


def read_parameters(place: Place, instance: Instance) -> TreeParameters:
    """The table `[trees]`."""
    keys = place.table((), ("links", "strategies", *READINGS))
    chosen: dict[str, Any] = {name: keys[name].one_of(values) for name, values in READINGS.items() if name in keys}
    if "links" in keys:
        chosen["links"] = _links(keys["links"], instance.overlay)
    if "strategies" in keys:
        network = {*instance.overlay.edges, *chosen.get("links", ())}
        entries = keys["strategies"].items(STRATEGIES, "strategies", least=1)
        chosen["strategies"] = tuple(_strategy(entry, instance.overlay, network) for entry in entries)
    parameters = TreeParameters(**chosen)
    _refuse_wrong_clusters(place, instance, parameters.strategies or strategies_of(instance))
    return parameters


def _links(place: Place, overlay: Overlay) -> tuple[Link, ...]:
    """Links that the overlay does not have, in ascending order. Others add nothing."""
    entries = place.items(len(overlay.brokers) ** 2, "links [broker, broker]")
    return tuple(sorted({_link(entry, overlay) for entry in entries} - set(overlay.edges)))


def _link(place: Place, overlay: Overlay) -> Link:
    u, v = (each.broker(overlay) for each in place.items(2, "two brokers", least=2))
    if u == v:
        place.refuse("two different brokers", f"link [{u}, {v}]")
    return (min(u, v), max(u, v))


def _strategy(place: Place, overlay: Overlay, network: set[Link]) -> Strategy:
    """Trees, each a list of links of the network (NET-1), which reaches every broker (NET-2)."""
    trees = []
    for entry in place.items(TREES_OF_ONE, "trees, each a list of links", least=1):
        rows = entry.items(len(overlay.brokers), "links [broker, broker]")
        edges = [_link(row, overlay) for row in rows]
        for row, edge in zip(rows, edges, strict=True):
            if edge not in network:
                row.refuse("a link of the overlay, or one of trees.links", f"link {list(edge)}")
        if {b for edge in edges for b in edge} != set(overlay.brokers) and len(overlay.brokers) > 1:
            entry.reject(f"the tree does not reach every broker; expected a spanning tree of {overlay.brokers[-1]}")
        try:
            trees.append(Overlay.of(edges))
        except OverlayError as error:
            entry.reject(str(error).replace("the overlay", "the tree"))
    return tuple(trees)


def _refuse_wrong_clusters(place: Place, instance: Instance, strategies: tuple[Strategy, ...]) -> None:
    """Each subscription that names clusters names those of every strategy, and none that is not there."""
    for subscriber in instance.subscribers:
        clusters: Clusters = subscriber.section("clusters", ONE_TREE)
        if not clusters:
            continue
        name = subscriber.subscription.id
        if len(clusters) != len(strategies):
            place.reject(f"subscription {name} has clusters of {len(clusters)} strategies; expected {len(strategies)}")
        for trees, numbers in zip(strategies, clusters, strict=True):
            if numbers[-1] > len(trees):
                place.reject(f"subscription {name} is in cluster {numbers[-1]} of a strategy of {len(trees)} trees")


def parameters_to_table(parameters: TreeParameters) -> dict[str, object]:
    """The inverse of `read_parameters`; what has its default is left out."""
    table: dict[str, object] = {}
    for each in fields(TreeParameters):
        value = getattr(parameters, each.name)
        if value == getattr(DEFAULT, each.name):
            continue
        if each.name == "links":
            value = [list(link) for link in value]
        elif each.name == "strategies":
            value = [[[list(edge) for edge in tree.edges] for tree in trees] for trees in value]
        table[each.name] = value
    return table


def read_clusters(place: Place, instance: Instance, subscriber: Subscriber) -> Clusters:
    """Per strategy the number of a tree, or a list of numbers."""
    found = []
    for entry in place.items(STRATEGIES, "trees, one for each strategy", least=1):
        if isinstance(entry.value, list | tuple):
            numbers = entry.items(TREES_OF_ONE, "numbers of trees", least=1)
            parts = [each.whole(1, TREES_OF_ONE) for each in numbers]
            entry.distinct(numbers, parts)
            found.append(tuple(sorted(parts)))
        else:
            found.append((entry.whole(1, TREES_OF_ONE),))
    return tuple(found)


def clusters_to_list(clusters: Clusters) -> list[object]:
    """The inverse of `read_clusters`."""
    return [numbers[0] if len(numbers) == 1 else list(numbers) for numbers in clusters]


# -- the definition ----------------------------------------------------------------------------------------------------


def _topology(instance: Instance) -> Topology:
    if not instance.section("trees"):  # otherwise the reader of the table has looked at clusters
        _refuse_wrong_clusters(Place(instance.name, "subscription", None), instance, strategies_of(instance))
    return topology(instance)


def _make(handler: type[Dissemination], instance: Instance, policy: str) -> Protocol:
    return handler(instance.overlay.brokers, ClusterAssignment.of(instance), parameters_of(instance))


def _parameters(instance: Instance, policy: str) -> ClusterAssignment:
    return ClusterAssignment.of(instance)


def _mutants() -> Mapping[str, Mutant]:
    from routeproof.model.trees.mutants import TREE_MUTANTS

    return TREE_MUTANTS


DEFINITION = Definition(
    name="trees",
    policies=("none",),
    handler=Dissemination,
    make=_make,
    about="Documents on many trees, and the switch from one routing strategy to the next (003).",
    messages=(*CORE, *TREES),
    headers={Publish: Stamp},
    operations=operations,
    topology=_topology,
    sections=(
        Section("trees", read_parameters, parameters_to_table, brokers=("links", "strategies")),
        Section("clusters", read_clusters, clusters_to_list, ONE_TREE, of="subscription"),
    ),
    parameters=_parameters,
    mutants=_mutants,
    instances="routeproof.model.trees",
)
