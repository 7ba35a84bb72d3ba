"""Runs of brokers under pruning, as the rows of a trace: one operation at a time, until all is quiet.

The brokers are the reference implementation's, or the model's, with a seeded fault or without.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Sequence
from typing import Any

from attrs import define, evolve

from routeproof.impl.pruning.broker import PruningBroker
from routeproof.model.filters import EventSet
from routeproof.model.messages import (
    Advertise,
    Advertisement,
    Message,
    Publication,
    Publish,
    Subscribe,
    Subscription,
    Unadvertise,
    Unsubscribe,
)
from routeproof.model.overlay import LOCAL, Node, Overlay
from routeproof.model.protocols import MUTANTS
from routeproof.model.pruning.handler import Pruning
from routeproof.model.pruning.vocabulary import Congest, PruningParameters, PruningTables, Relieve
from routeproof.traces import broker_name, encode, encode_tables, event_row, header_row
from tests.checker.validate.corrupt import Row

Operation = tuple[Node, Message]

READINGS: dict[str, dict[str, Any]] = {"incremental": {"cuts": (1, 3), "window": 10}, "selective": {"window": 10}}
"""Small enough that a few subscriptions are a burst, and that a window is full."""


@define
class Modelled:
    """A broker that does what a protocol of the model says."""

    node: Node
    protocol: Pruning
    known: PruningTables = PruningTables()

    def receive(self, sender: Node, message: Message) -> Any:
        outcome = self.protocol.handle(self.node, self.known, sender, message)
        assert isinstance(outcome.local, PruningTables)
        self.known = outcome.local
        return outcome.sends

    def tables(self) -> PruningTables:
        return self.known


def run_of(policy: str, overlay: Overlay, operations: Sequence[Operation], mutant: str | None = None) -> list[Row]:
    """Every message with its step, and every broker's tables after each."""
    readings = READINGS[policy]
    parameters = evolve(PruningParameters.of(policy), **readings)
    brokers: dict[Node, Any] = {
        node: PruningBroker(node, overlay.neighbours(node), policy, parameters)
        if mutant is None
        else Modelled(node, MUTANTS[mutant].make(overlay, policy, parameters))
        for node in overlay.brokers
    }
    observes = ("client", "receive", "send", "deliver", "snapshot")
    given = {name: list(value) if isinstance(value, tuple) else value for name, value in readings.items()}
    rows = [header_row("r", "pruning", policy, overlay.edges, "events", observes, clock="shared", pruning=given)]
    seqs = dict.fromkeys(overlay.brokers, 0)

    def note(node: Node, event: str, peer: Node | str = "", **more: object) -> None:
        seqs[node] += 1
        name = peer if isinstance(peer, str) else broker_name(peer)
        rows.append(event_row(broker_name(node), seqs[node], event, name, time=len(rows), **more))

    for home, operation in operations:
        waiting: deque[tuple[Node, Node, Message]] = deque([(LOCAL, home, operation)])
        while waiting:
            sender, node, message = waiting.popleft()
            note(node, "client" if sender == LOCAL else "receive", sender or "c", message=encode(message))
            for to, sent in brokers[node].receive(sender, message):
                note(node, "send" if to != LOCAL else "deliver", to or "c", message=encode(sent))
                if to != LOCAL:
                    waiting.append((node, to, sent))
            note(node, "snapshot", tables=encode_tables(brokers[node].tables(), broker_name))
    return [dict(row) for row in json.loads(json.dumps(rows))]


# A line, with the publisher of `a` at its end, and its subscribers along it. S covers s1 to s3.
LINE = Overlay.line(5)
A = Advertisement(0, "a", EventSet.of(range(8)))
S, S1, S2, S3 = (
    Subscription(0, id, EventSet.of(events)) for id, events in (("S", range(6)), ("s1", [0]), ("s2", [1]), ("s3", [2]))
)
LATE, WIDER = Subscription(0, "t", EventSet.of([3])), Subscription(0, "W", EventSet.of(range(7)))

SUBSCRIBED: Sequence[Operation] = (
    (5, Advertise(A)),
    (1, Subscribe(S)),
    (1, Subscribe(S1)),
    (2, Subscribe(S2)),
    (3, Subscribe(S3)),
)


def published(*events: int, since: int = 0) -> list[Operation]:
    return [(5, Publish(Publication(0, f"p{n}", "a", event))) for n, event in enumerate(events, since)]


PRUNED: Sequence[Operation] = (
    *SUBSCRIBED,
    *published(0, 1, 1, 2, 2),  # near S, most of what it matches is wanted by S alone
    (1, Unsubscribe(S)),
    *published(0, 1, 3, since=5),
    (3, Subscribe(LATE)),  # covered by what is retained
    (2, Subscribe(WIDER)),
)
"""S is withdrawn as far as broker 3 and retained by broker 4 from there on, until W takes its place."""

UNADVERTISED: Sequence[Operation] = (*PRUNED[:-1], (5, Unadvertise(A)))

HELD: Sequence[Operation] = (
    *SUBSCRIBED,
    *published(0, 1, 1, 2, 2),
    (2, Congest()),
    (1, Unsubscribe(S)),
    *published(0, since=5),
    (2, Relieve()),
    *published(1, since=6),
)

RETURNED: Sequence[Operation] = (
    *SUBSCRIBED,
    *published(0, 1, 1, 2, 2),
    (1, Congest()),
    (1, Unsubscribe(S)),
    *published(0, 3, since=5),
    (1, Subscribe(S)),
    *published(0, 1, 1, 2, 2, since=7),
    (1, Relieve()),
    (1, Unsubscribe(S)),
    (1, Subscribe(S)),
    (1, Unsubscribe(S)),
)
"""S comes back while its withdrawal is held; and then where it is retained."""

# A fork, with publishers at two ends and the subscribers at the third. S covers c, and c the two others.
FORK = Overlay.of(((1, 2), (2, 3), (2, 4)))
HERE, THERE = (Advertisement(0, id, EventSet.of(events)) for id, events in (("a", range(4)), ("b", range(4, 8))))
NESTED = (("S", range(8)), ("c", [0, 1]), ("n", [0]), ("m", [1]))

FORKED: Sequence[Operation] = (
    (3, Advertise(HERE)),
    (4, Advertise(THERE)),
    *((1, Subscribe(Subscription(0, id, EventSet.of(events)))) for id, events in NESTED),
    *((3, Publish(Publication(0, f"p{n}", "a", event))) for n, event in enumerate((0, 1, 0, 2, 3))),
    (1, Unsubscribe(Subscription(0, "S", EventSet.of(range(8))))),
)
"""One list for two ends, of which one has no history."""

ALL = Advertisement(0, "all", EventSet.of(range(20, 40)))


def _wants(id: str, *events: int) -> Subscribe:
    return Subscribe(Subscription(0, id, EventSet.of(events)))


BANDS: Sequence[Operation] = (
    (5, Advertise(ALL)),
    (1, _wants("X", 20, 21, 22, 25)),
    (2, _wants("beside-X", 20, 21, 22, 24)),
    (1, _wants("Y", 26, 27, 28, 38)),
    (1, _wants("y", 26)),
    (2, _wants("beside-Y", 27, 28, 39)),
    (1, _wants("Z", 30, 31, 32, 33, 34, 35)),
    *((1, _wants(f"z{event}", event)) for event in (30, 31, 32)),
    (2, _wants("beside-Z", 33, 34, 37)),
    (4, _wants("beyond-Z", 35, 37)),
    *(
        (5, Publish(Publication(0, f"q{n}", "all", event)))
        for n, event in enumerate((20, *(20, 21, 22) * 3, 25, *(27, 28, 27) * 3, 38, *(33, 34) * 3, *(35,) * 4))
    ),
    *(
        (1, Unsubscribe(Subscription(0, id, EventSet.of(events))))
        for id, events in (("X", (20, 21, 22, 25)), ("Y", (26, 27, 28, 38)), ("Z", range(30, 36)))
    ),
)
"""Nothing is triggered, one, and three, with distances that differ: each band decides; one publication too many."""

APART: Sequence[Operation] = (
    (3, Advertise(HERE)),
    (4, Advertise(THERE)),
    *((1, _wants(id, *events)) for id, events in (("W", range(8)), ("w0", [0]), ("w1", [1]), ("w4", [4]))),
    (2, _wants("beside-W", 2, 9)),
    *((3, Publish(Publication(0, f"p{n}", "a", event))) for n, event in enumerate((2, 2, 2, 3, 3))),
    (1, Unsubscribe(Subscription(0, "W", EventSet.of(range(8))))),
)
"""Three are triggered in all, two of them toward one end."""

RUNS = {
    "bands": (LINE, BANDS),
    "apart": (FORK, APART),
    "pruned": (LINE, PRUNED),
    "unadvertised": (LINE, UNADVERTISED),
    "held": (LINE, HELD),
    "returned": (LINE, RETURNED),
    "forked": (FORK, FORKED),
}
