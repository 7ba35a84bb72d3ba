"""Placement from traces: where the publishers of a recorded run should be, and what the network would gain.

To be read in this order: `overlay` (the brokers as arrays), `events` and `reading` (events of a trace to columns),
`joining` (bit vectors and counts of publications), `choosing` (POP, GRAPE and brute force), `engines` (on one core and
on Spark), `report` and `picture`. `running` and `figures` are the experiments of the paper. The rules are in
`spec/placement.md`. Here is the wing of placement as a protocol: how it is fuzzed, and what `show` has about it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator

from routeproof.checker.counterexamples.shown import by_parts
from routeproof.checker.wings import Row, Wing, assigned, imported
from routeproof.model.overlay import LOCAL, Node
from routeproof.model.placement.definition import parameters_to_table
from routeproof.model.placement.vocabulary import BrokerTrace, PlacementTables, parameters_of
from routeproof.model.world import World


def about(world: World) -> Iterator[Row]:
    """The readings and numbers that do not have their default."""
    if given := parameters_to_table(parameters_of(world.instance)):
        yield "placement", assigned(given)


def _parts(world: World, local: Hashable) -> Iterator[tuple[str, list[str]]]:
    """The parts of a local state that the core does not have, each as words."""
    if not isinstance(local, PlacementTables):
        return
    name = {LOCAL: "here"} | {node: world.name(node) for node in world.nodes}
    yield "traces next", [str(a) for a in local.tagging]
    for trace in local.traces:
        waits = " ".join(name[n] for n in trace.waits)
        yield f"trace {trace.number} of {trace.advertisement}", [f"waits for {waits}", *_counts(name, trace.counts)]
    for a, profile in local.profiles:
        averages = ((n, f"{amount.parts / 4**amount.power:g}") for n, amount in profile.averages)
        yield f"profile of {a}", _counts(name, averages)
    yield "selects for", [str(a) for a in local.asked]
    for session in local.sessions:
        words = [f"bits {session.bits:b}", f"{session.deliveries} deliveries"]
        yield f"session {session.number} of {session.advertisement}", words
    for each in local.retrievals:
        awaited = [f"waits for {name[n]}" for n in each.waits]
        yield f"answers of session {each.number} of {each.advertisement}", [*awaited, *_traces(name, each.traces)]
    for a, decision in local.decisions:
        place = "stays" if len(decision.path) == 1 else f"to {name[decision.path[0]]}"
        yield f"decision about {a}", [place, *_traces(name, decision.traces)]


def _counts(name: dict[Node, str], counts: Iterable[tuple[Node, object]]) -> list[str]:
    return [f"{many} {'here' if n == LOCAL else 'behind ' + name[n]}" for n, many in counts]


def _traces(name: dict[Node, str], traces: tuple[BrokerTrace, ...]) -> list[str]:
    return [f"{name[t.broker]}: bits {t.bits:b}, {t.deliveries} deliveries" for t in traces]


WING = Wing(changes=by_parts(_parts), about=about, fuzzing=imported("placement.fuzzing", "FUZZING"))
