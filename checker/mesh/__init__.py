"""The wing of the mesh: how it is fuzzed, and what `show` has about its instances. `WING` is its one value here."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator

from routeproof.checker.counterexamples.shown import by_parts
from routeproof.checker.wings import Row, Wing, assigned, imported
from routeproof.model.filters import Event
from routeproof.model.mesh.definition import parameters_to_table
from routeproof.model.mesh.parameters import parameters_of
from routeproof.model.mesh.state import Coordinator, MeshTables
from routeproof.model.messages import Subscription
from routeproof.model.overlay import LOCAL, Node
from routeproof.model.world import World

LINKS = ("soft", "candidates", "opens", "closes", "moves")


def about(world: World) -> Iterator[Row]:
    """The keys of the table `[mesh]`, links and moves with the names of brokers."""
    parameters = parameters_of(world.instance)
    yield "strategies", ", ".join(parameters.strategies)
    others = {}
    for key, value in parameters_to_table(parameters).items():
        if key in LINKS:
            yield key, ", ".join(f"{world.name(u)} to {world.name(v)}" for u, v in getattr(parameters, key))
        elif key != "strategies":
            others[key] = value
    if others:
        yield "further", assigned(others)


def _parts(world: World, local: Hashable) -> Iterator[tuple[str, list[str]]]:
    def names(nodes: tuple[Node, ...]) -> list[str]:
        return [world.name(each) for each in nodes]

    match local:
        case MeshTables():
            yield "map", [f"{world.name(u)}-{world.name(v)}" for u, v in local.master.edges]
            yield "subscriptions", [f"{s} toward {world.name(anchor)}" for s, anchor in local.subs]
            yield "soft links", names(local.soft)
            yield "candidates", names(local.candidates)
            yield "soft links from", names(local.incoming)
            yield "uplink", ["loaded"] if local.is_loaded else []
            yield "counts", [f"{many} for {world.name(end)}" for end, many in local.sent]
            yield "loads", [f"{percent} % at {world.name(at)}" for at, percent in local.loads]
            yield "wants to move", [] if local.target == LOCAL else [f"to {world.name(local.target)}"]
            yield "ring", [" ".join(names(local.ring))] if local.ring else []
            yield "phase", [local.phase] if local.phase else []
            yield "awaits", [f"confirmation of {each}" for each in names(local.waiting)]
            yield "draining", [f"link to {each}" for each in names(local.draining)]
            yield "old link", ["nothing more comes"] if local.left else []
            yield "handled", [str(p) for p in local.seen]
            yield "withheld", [f"{s} withdrawn" if at == LOCAL else str(s) for s, at in local.withheld]
            yield "the move", ["is called off"] if local.is_off else []
        case Coordinator(asked):
            yield "asked", names(asked)


def due(name_of: Callable[[Node], str], local: Hashable, event: Event, to: Node) -> tuple[Subscription, str] | None:
    """FWD-1: a subscription that matches, and has its anchor at the neighbour or beyond."""
    if isinstance(local, MeshTables):
        for s, anchor in local.subs:
            beyond = anchor in local.master.brokers and to in local.master.path(anchor)[1:]
            if beyond and s.filter.matches(event):
                return s, f"whose anchor is {name_of(anchor)}"
    return None


WING = Wing(
    changes=by_parts(_parts),
    due=due,
    about=about,
    fuzzing=imported("mesh.fuzzing", "FUZZING"),
    experiments=imported("mesh.figures", "EXPERIMENTS"),
)
