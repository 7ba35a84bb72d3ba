"""The mesh as the model has it: its channels, its operations, the table `[mesh]` of instances, and its one value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import fields

from routeproof.model.definition import Definition, Mutant, Section
from routeproof.model.instance import Instance, OperationRow, core_operations
from routeproof.model.mesh.handler import Mesh
from routeproof.model.mesh.messages import (
    MESH,
    Anchor,
    CallOff,
    CloseLink,
    Load,
    Measure,
    Move,
    OpenLink,
    Passed,
    Review,
)
from routeproof.model.mesh.move import MovingMesh
from routeproof.model.mesh.parameters import DEFAULT, RADIUS, READINGS, STRATEGY_NAMES, MeshParameters, parameters_of
from routeproof.model.messages import CORE, Publish, Subscribe
from routeproof.model.overlay import Link, Topology
from routeproof.model.protocol import Protocol
from routeproof.model.reading import Place

COORDINATOR = "coordinator"
MOST_LINKS = 1_000
MOST_ROUNDS = 16
BROKERS = ("soft", "candidates", "opens", "closes", "loaded", "rounds", "moves", "refuses", "calls_off")
"""Keys with numbers of brokers."""
BROKER_LISTS = ("refuses", "calls_off")
COUNTS = {"fanout": (1, MOST_LINKS), "maxlinks": (1, MOST_LINKS), "weak": (0, MOST_LINKS), "threshold": (0, 100)}
"""Keys that are whole numbers, with their bounds."""


def _topology(instance: Instance) -> Topology:
    """The overlay, a channel both ways for each soft link and each new primary link, and those to the coordinator."""
    chosen = parameters_of(instance)
    links = [*chosen.soft, *chosen.opens, *chosen.moves]
    links += [(near, far) for near in set(chosen.rounds) for far in instance.overlay.brokers if near != far]
    if not chosen.moves:
        return Topology.of(instance.overlay, {}, links)
    asks = [(broker, COORDINATOR) for broker, _ in chosen.moves]
    return Topology.of(instance.overlay, {COORDINATOR: "coordinator"}, (*links, *asks))


def _operations(instance: Instance) -> list[OperationRow]:
    """The core's, then those on links and loads."""
    chosen, rows = parameters_of(instance), core_operations(instance)
    for near, far in chosen.opens:
        rows.append(OperationRow(f"open(b{near}, b{far})", near, OpenLink(far)))
    for near, far in chosen.closes:
        before = f"open(b{near}, b{far})" if (near, far) in chosen.opens else ""
        rows.append(OperationRow(f"close(b{near}, b{far})", near, CloseLink(far), before))
    for broker in chosen.loaded:
        rows.append(OperationRow(f"loaded(b{broker})", broker, Load(True)))
        rows.append(OperationRow(f"recovered(b{broker})", broker, Load(False), f"loaded(b{broker})"))
    for broker, percent in chosen.loads:
        rows.append(OperationRow(f"load(b{broker}, {percent})", broker, Measure(percent)))
    reviews = Counter[int]()
    for broker in chosen.rounds:
        reviews[broker] += 1
        before = f"round(b{broker}, {reviews[broker] - 1})" if reviews[broker] > 1 else ""
        rows.append(OperationRow(f"round(b{broker}, {reviews[broker]})", broker, Review(), before))
    for broker, to in chosen.moves:
        rows.append(OperationRow(f"move(b{broker}, b{to})", broker, Move(to)))
    rows += [OperationRow(f"call-off(b{broker})", broker, CallOff()) for broker in chosen.calls_off]
    return rows


def read_parameters(place: Place, instance: Instance) -> MeshParameters:
    """The table `[mesh]`."""
    links = ("soft", "candidates", "opens", "closes")
    keys = place.table(
        (), ("radius", "strategies", *links, "loaded", *COUNTS, "loads", "rounds", "moves", *BROKER_LISTS, *READINGS)
    )
    chosen: dict[str, Any] = {name: keys[name].one_of(values) for name, values in READINGS.items() if name in keys}
    if "radius" in keys:
        chosen["radius"] = keys["radius"].whole(1, RADIUS)
    if "strategies" in keys:
        chosen["strategies"] = _strategies(keys["strategies"], len(instance.overlay.brokers))
    radius = chosen.get("radius", DEFAULT.radius)
    for name in links:
        if name in keys:
            chosen[name] = _links(keys[name], instance, radius)
    chosen |= {name: keys[name].whole(*COUNTS[name]) for name in COUNTS if name in keys}
    if chosen.get("maxlinks", DEFAULT.maxlinks) < chosen.get("fanout", DEFAULT.fanout):
        keys["maxlinks" if "maxlinks" in keys else "fanout"].reject("maxlinks is below fanout; expected at least that")
    for name in ("soft", "candidates"):
        _refuse_too_many(keys, name, chosen, instance)
    if "loads" in keys:
        chosen["loads"] = _loads(keys["loads"], instance)
    if "rounds" in keys:
        entries = keys["rounds"].items(MOST_ROUNDS, "brokers")
        chosen["rounds"] = tuple(each.broker(instance.overlay) for each in entries)
    if "moves" in keys:
        chosen["moves"] = _links(keys["moves"], instance, len(instance.overlay.brokers))
    opened = {*chosen.get("soft", ()), *chosen.get("candidates", ()), *chosen.get("opens", ())}
    for link in chosen.get("closes", ()):
        if link not in opened:
            keys["closes"].reject(f"{list(link)} is not opened; list it in soft, candidates or opens too")
    for name in ("loaded", *BROKER_LISTS):
        if name in keys:
            entries = keys[name].items(len(instance.overlay.brokers), "brokers")
            chosen[name] = tuple(each.broker(instance.overlay) for each in entries)
            keys[name].distinct(entries, chosen[name])
    return MeshParameters(**chosen)


def _strategies(place: Place, brokers: int) -> tuple[str, ...]:
    named = tuple(each.one_of(STRATEGY_NAMES) for each in place.items(brokers, "strategies", least=1))
    if len(named) not in (1, brokers):
        place.reject(f"found {len(named)} strategies; expected 1, or {brokers}, one a broker")
    return named


def _refuse_too_many(keys: Mapping[str, Place], name: str, chosen: Mapping[str, Any], instance: Instance) -> None:
    """LINK-5: no broker begins with more links than it may have."""
    fanout, maxlinks = (chosen.get(key, getattr(DEFAULT, key)) for key in ("fanout", "maxlinks"))
    for broker, many in Counter(near for near, _ in chosen.get(name, ())).items():
        most = fanout - len(instance.overlay.neighbours(broker)) if name == "soft" else maxlinks - fanout
        if many > most:
            keys[name].reject(f"b{broker} has {many}; expected at most {max(0, most)}, by fanout and maxlinks")


def _loads(place: Place, instance: Instance) -> tuple[Link, ...]:
    """Brokers with loads in percent, each broker at most once."""
    entries = place.items(len(instance.overlay.brokers), "loads, each [broker, percent]")
    pairs = [entry.items(2, "a broker and a percentage", least=2) for entry in entries]
    loads = tuple((broker.broker(instance.overlay), percent.whole(0, 100)) for broker, percent in pairs)
    place.distinct(entries, [broker for broker, _ in loads])
    return loads


def _links(place: Place, instance: Instance, radius: int) -> tuple[Link, ...]:
    """Pairs of brokers that are no neighbours, and within the radius."""
    overlay = instance.overlay
    entries = place.items(len(overlay.brokers) ** 2, "links, each [from, to]")
    links = []
    for entry in entries:
        near, far = (each.broker(overlay) for each in entry.items(2, "two brokers", least=2))
        hops = len(overlay.path(near, far)) - 1
        if not 2 <= hops <= radius:
            entry.reject(f"b{near} and b{far} are {hops} hops apart; expected 2 to {radius}, the radius")
        links.append((near, far))
    place.distinct(entries, links)
    return tuple(links)


def parameters_to_table(parameters: MeshParameters) -> dict[str, object]:
    """The inverse of `read_parameters`; what has its default is left out."""
    table = {}
    for each in fields(MeshParameters):
        value = getattr(parameters, each.name)
        if value != getattr(DEFAULT, each.name):
            table[each.name] = _plain(value)
    return table


def _plain(value: object) -> object:
    return [_plain(each) for each in value] if isinstance(value, Sequence) and not isinstance(value, str) else value


def _make(handler: type[Mesh], instance: Instance, policy: str) -> Protocol:
    return handler(instance.overlay, policy, parameters_of(instance))


def _parameters(instance: Instance, policy: str) -> MeshParameters:
    return parameters_of(instance)


def _mutants() -> Mapping[str, Mutant]:
    from routeproof.model.mesh.mutants import MESH_MUTANTS

    return MESH_MUTANTS


DEFINITION = Definition(
    name="mesh",
    policies=("none",),
    handler=MovingMesh,
    make=_make,
    about="Brokers that forward over soft links, by what they know of their neighbourhood (002).",
    messages=(*CORE, *MESH),
    headers={Subscribe: Anchor, Publish: Passed},
    operations=_operations,
    topology=_topology,
    sections=(Section("mesh", read_parameters, parameters_to_table, DEFAULT, brokers=BROKERS),),
    parameters=_parameters,
    mutants=_mutants,
    instances="routeproof.model.mesh",
)
