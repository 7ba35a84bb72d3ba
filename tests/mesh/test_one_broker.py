"""One broker of the mesh told what is drawn for it: the reference implementation says what the model says.

A run of a whole network has few of the moments at which messages cross. Here one broker has any place in a move, under
any reading, and is told in any order what a network could tell it: several subscriptions, links that come and go,
publications from everywhere, and the messages of moves one after the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest
from attrs import asdict, define, field, frozen

from routeproof.impl.mesh.implementation import IMPLEMENTATION
from routeproof.impl.mesh.move import MovingBroker
from routeproof.model.filters import EventSet
from routeproof.model.mesh.messages import (
    Anchor,
    CallOff,
    CloseLink,
    Confirm,
    DeclineMove,
    Down,
    Drained,
    Finish,
    Grant,
    Handover,
    Last,
    Load,
    LoadReport,
    Measure,
    Move,
    OpenLink,
    Passed,
    Prepare,
    Renew,
    Review,
    Snapshot,
    Up,
    columns,
)
from routeproof.model.mesh.move import MovingMesh
from routeproof.model.mesh.parameters import READINGS, STRATEGY_NAMES, MeshParameters
from routeproof.model.mesh.state import MasterMap, MeshTables
from routeproof.model.messages import Message, Publication, Publish, Subscribe, Subscription, Unsubscribe
from routeproof.model.overlay import LOCAL, Node, Overlay
from tests.campaigns import drawn
from tests.kit.lockstep import by_receiver

TALKS = 400
MESSAGES = 60
EVENTS = range(3)
SUBSCRIPTIONS = tuple(
    Subscription(rank, id, EventSet.of(events))
    for rank, (id, events) in enumerate(zip("stuvwx", ((0,), (0, 1), (1,), (0,), (1, 2), (0, 1, 2)), strict=True))
)
PUBLICATIONS = tuple(Publication(rank, f"p{rank}", "a", rank % len(EVENTS)) for rank in range(6))

Told = tuple[Node, Message]


@frozen
class Broker:
    """The broker in the model and in the implementation."""

    node: Node
    model: MovingMesh
    made: MovingBroker

    @classmethod
    def of(cls, overlay: Overlay, node: Node, parameters: MeshParameters) -> Broker:
        own = {"overlay": overlay.edges, "mesh": asdict(parameters), "coordinator": len(overlay.brokers) + 1}
        made = IMPLEMENTATION.make(node, overlay.neighbours(node), "none", own)
        assert isinstance(made, MovingBroker)
        return cls(node, MovingMesh(overlay, "none", parameters), made)

    def told(self, local: MeshTables, sender: Node, message: Message) -> MeshTables:
        outcome = self.model.handle(self.node, local, sender, message)
        assert by_receiver(self.made.receive(sender, message)) == by_receiver(outcome.sends), message
        assert self.made.tables() == outcome.local, message
        assert isinstance(outcome.local, MeshTables)
        return outcome.local


@define
class Network:
    """What is around the broker: it draws the next message, which may depend on what the broker has become."""

    draw: Random
    node: Node
    overlay: Overlay
    parameters: MeshParameters
    local: MeshTables
    moves: int = 2
    """Moves to come."""
    ring: Sequence[Node] = ()
    """The ring of the move of another broker, with what is to come of it."""
    to_come: list[str] = field(factory=list)

    def next(self) -> Told:
        is_moving = self.local.target != LOCAL or self.local.ring or self.to_come
        if (self.moves or is_moving) and self.draw.random() < 0.5:
            return self.of_a_move()
        told = self.draw.choice((self.subscribe, self.withdraw, self.publish, self.publish, self.link, self.link))
        return told()

    # -- clients and links ---------------------------------------------------------------------------------------------

    def subscribe(self) -> Told:
        homes = dict(self.local.subs)
        s = self.draw.choice(SUBSCRIPTIONS)
        around = self.local.master.neighbours(self.node)
        if homes.get(s) == self.node or (s not in homes and self.draw.random() < 0.3):
            return LOCAL, Subscribe(s)
        late = self.local.ring[:2] if self.node in self.local.ring else ()
        sender = self.draw.choice([*around, *(b for b in late if b != self.node and b in self.local.master.brokers)])
        return sender, Subscribe(s, Anchor(self.draw.choice(self.beyond(sender))))

    def beyond(self, sender: Node) -> list[Node]:
        """The brokers of the map whose subscriptions come from there."""
        known = self.local.master
        return [b for b in known.brokers if sender in known.path(b)]

    def withdraw(self) -> Told:
        if not self.local.subs:
            return self.subscribe()
        s, anchor = self.draw.choice(self.local.subs)
        crossing = [b for b in self.local.ring[:2] if b != self.node] if anchor != self.node else []
        return self.draw.choice([self.local.master.branch(anchor), *crossing]), Unsubscribe(s)

    def publish(self) -> Told:
        others = [b for b in self.overlay.brokers if b != self.node]
        near = [*self.local.master.neighbours(self.node), *self.local.ring[:2], *self.local.incoming]
        senders = [LOCAL, self.draw.choice(others), self.draw.choice([b for b in near if b != self.node])]
        way = tuple(self.draw.sample(others, self.draw.randint(0, min(2, len(others)))))
        return self.draw.choice(senders), Publish(self.draw.choice(PUBLICATIONS), Passed(way))

    def link(self) -> Told:
        others = [b for b in self.overlay.brokers if b != self.node]
        closed = [b for b in others if b not in self.local.soft]
        far = [b for b in self.local.master.brokers if self.local.master.distance(b) > 1]
        open_ones = [b for b in far if b not in self.local.soft]
        sender = self.draw.choice(self.local.master.neighbours(self.node))
        percent = self.draw.choice((0, 40, 51, 90, 90))
        reports: list[Told] = [(sender, LoadReport(self.draw.choice(others), percent, self.draw.randint(0, 2)))]
        kinds: list[list[Told]] = [
            [(LOCAL, OpenLink(end)) for end in open_ones],
            [(LOCAL, OpenLink(end)) for end in closed],
            [(LOCAL, CloseLink(end)) for end in (*self.local.soft, *self.local.candidates)],
            [(end, Up()) for end in far],
            [(end, Down()) for end in self.local.incoming],
            [(end, Drained()) for end in self.local.draining],
            [(LOCAL, Load(True)), (LOCAL, Load(False)), (LOCAL, Measure(percent))],
            reports,
            reports,
            self.round(),
            self.round(),
        ]
        return self.draw.choice(self.draw.choice([each for each in kinds if each]))

    def round(self) -> list[Told]:
        return [(LOCAL, Review())] if self.parameters.rounds else []

    # -- moves ---------------------------------------------------------------------------------------------------------

    def of_a_move(self) -> Told:
        awaited = [
            *((end, Drained()) for end in self.local.draining),
            *((n, Confirm()) for n in self.local.waiting if self.local.phase != "handover"),
        ]
        if self.local.phase and self.local.ring[0] == self.node:
            return self.of_its_own(awaited)
        if self.local.target != LOCAL:
            return len(self.overlay.brokers) + 1, Grant()
        if awaited:
            return self.draw.choice(awaited)
        if self.to_come:
            return self.of_another()
        others = [b for b in self.overlay.brokers if b != self.node]
        if not self.moves:
            return self.publish()
        if self.draw.random() < 0.5:
            return LOCAL, Move(self.draw.choice(others))
        mover = self.draw.choice(others)
        far = [b for b in self.overlay.brokers if len(self.overlay.path(mover, b)) > 2]
        if not far:
            return LOCAL, self.draw.choice((CallOff(), Move(self.draw.choice(others))))
        self.ring = self.overlay.path(mover, self.draw.choice(far))
        self.to_come = ["renew", "last", "finish"] if self.node == self.ring[1] else ["renew", "finish"]
        if self.draw.random() < 0.2:
            self.to_come = ["finish"]
        return self.overlay.toward(self.node, mover), Prepare(tuple(self.ring), self.hops())

    def hops(self) -> int:
        return self.draw.randrange(self.parameters.radius)

    def of_its_own(self, awaited: Sequence[Told]) -> Told:
        """The next message to a broker that moves."""
        away, to = self.local.ring[1], self.local.ring[-1]
        if self.draw.random() < 0.2:
            stale: list[Told] = [(to, DeclineMove()), (to, Snapshot((), (), ()))]
            own: list[Told] = [(LOCAL, CallOff()), (LOCAL, Move(away))]
            return self.draw.choice(own if self.local.phase == "handover" else [*own, *stale])
        if self.local.phase == "handover":
            if self.draw.random() < 0.3:
                return to, DeclineMove()
            there = self.side(away, self.local.ring)
            self.move(self.local.ring)
            entries, _ = self.entries(there, to)
            return to, Snapshot(self.edges(there), *columns(entries))
        last = [(away, Last())] if self.local.phase == "renew" and not self.local.left else []
        return self.draw.choice([*awaited, *last])

    def of_another(self) -> Told:
        """The next message to a broker around the ring of a move."""
        mover, to = self.ring[0], self.ring[-1]
        match self.to_come.pop(0):
            case "last":
                return mover, Last()
            case "finish":
                return self.overlay.toward(self.node, mover), Finish(tuple(self.ring), self.hops())
        side = self.side(mover, self.ring)
        there = self.side(self.ring[1], self.ring) if self.node in side else side
        if self.node == to and self.node in self.parameters.refuses:
            there_entries, gone = self.entries(there, mover, self.overlay.toward(self.node, mover))
            return mover, Handover(tuple(self.ring), self.edges(there), *columns(there_entries), gone)
        self.move(self.ring)
        sender = self.overlay.toward(self.node, mover if self.node in (to, *side) else to)
        entries, gone = self.entries(there, sender)
        if self.node == to:
            return mover, Handover(tuple(self.ring), self.edges(there), *columns(entries), gone)
        return sender, Renew(tuple(self.ring), self.hops(), self.edges(there), *columns(entries), gone)

    def side(self, end: Node, ring: Sequence[Node]) -> set[Node]:
        """The brokers on this side of the link that is given up."""
        other = ring[1] if end == ring[0] else ring[0]
        return {b for b in self.overlay.brokers if other not in self.overlay.path(end, b)}

    def edges(self, side: set[Node]) -> tuple[tuple[Node, Node], ...]:
        return tuple(edge for edge in self.overlay.edges if side.issuperset(edge))

    def move(self, ring: Sequence[Node]) -> None:
        self.moves -= 1
        old = tuple(sorted(ring[:2]))
        self.overlay = Overlay.of([*(edge for edge in self.overlay.edges if edge != old), (ring[0], ring[-1])])

    def entries(
        self, there: set[Node], sender: Node, branch: Node = LOCAL
    ) -> tuple[list[tuple[Subscription, Node]], tuple[str, ...]]:
        """Subscriptions of the other side as its neighbour there tells them, and those that are gone."""
        known = MasterMap.of(self.overlay, self.node, self.parameters.radius)
        anchors = [b for b in known.brokers if (branch or sender) in known.path(b)]
        held = dict(self.local.subs)
        moved = [s for s in held if held[s] in there or held[s] not in known.brokers]
        gone = [s for s in moved if self.draw.random() < 0.3]
        new = [s for s in SUBSCRIPTIONS if s not in held and self.draw.random() < 0.4]
        told = [s for s in SUBSCRIPTIONS if (s in moved and s not in gone) or s in new]
        return [(s, self.draw.choice(anchors)) for s in told], tuple(s.id for s in gone)


def network(draw: Random) -> Network:
    brokers = draw.randint(3, 8)
    overlay = Overlay.of((draw.randint(max(1, b - 3), b - 1), b) for b in range(2, brokers + 1))
    node, radius = draw.choice(overlay.brokers), draw.randint(2, 4)
    around = len(overlay.neighbours(node))
    fanout = around + draw.randint(0, 2)
    far = [b for b in overlay.brokers if 2 < len(overlay.path(node, b)) <= radius + 1]
    soft, candidates = ([end for end in far if draw.random() < share] for share in (0.3, 0.3))
    readings = {name: draw.choice((values[0], *values)) for name, values in READINGS.items() if name != "advance"}
    parameters = MeshParameters(
        radius=radius,
        strategies=(draw.choice(STRATEGY_NAMES),),
        fanout=fanout,
        maxlinks=fanout + draw.randint(0, 2),
        weak=draw.choice((0, 0, 1)),
        threshold=draw.choice((50, 50, 0)),
        soft=tuple((node, end) for end in soft) + tuple((end, node) for end in far[:1]),
        candidates=tuple((node, end) for end in candidates if end not in soft),
        rounds=(node,) * draw.randint(0, 1),
        refuses=(node,) * (draw.random() < 0.2),
        **readings,  # type: ignore[arg-type]  # each value is one of its reading
    )
    moves = draw.choice((0, 1, 2))
    local = MovingMesh(overlay, "none", parameters).initial(node)
    assert isinstance(local, MeshTables)
    return Network(draw, node, overlay, parameters, local, moves)


def follow(seed: int) -> None:
    around = network(Random(seed))
    broker = Broker.of(around.overlay, around.node, around.parameters)
    assert broker.made.tables() == around.local
    for _ in range(MESSAGES):
        around.local = broker.told(around.local, *around.next())


@drawn(0.75)
def test_one_broker_says_what_the_model_says(share: float) -> None:
    for seed in range(round(TALKS * share)):
        follow(seed)


# -- rounds ------------------------------------------------------------------------------------------------------------


def a_round(
    edges: Sequence[tuple[Node, Node]], homes: Sequence[Node], loads: dict[Node, int], **parameters: object
) -> MeshTables:
    """Broker 1 after a round: it has sent one publication after another, each to one of these homes."""
    overlay = Overlay.of(edges)
    chosen = MeshParameters(rounds=(1,), **parameters)  # type: ignore[arg-type]  # as they are declared
    broker = Broker.of(overlay, 1, chosen)
    local = broker.model.initial(1)
    assert isinstance(local, MeshTables)
    for event, home in enumerate(dict.fromkeys(homes)):
        s = Subscription(event, f"s{event}", EventSet.of([event]))
        local = broker.told(local, overlay.toward(1, home), Subscribe(s, Anchor(home)))
    for at, percent in loads.items():
        local = broker.told(local, overlay.toward(1, at), LoadReport(at, percent, 0))
    for rank, home in enumerate(homes):
        event = list(dict.fromkeys(homes)).index(home)
        local = broker.told(local, LOCAL, Publish(Publication(rank, f"p{rank}", "a", event)))
    return broker.told(local, LOCAL, Review())


TWO_WAYS = [(1, 2), (1, 3), (2, 4), (3, 5)]
THREE_WAYS = [*TWO_WAYS, (1, 6), (6, 7)]


@pytest.mark.parametrize(
    ("homes", "loads", "chosen"),
    [
        ([2, 3, 3], {}, (5,)),
        ([3, 2], {}, (4,)),
        ([3, 2], {3: 0}, (4,)),
        ([3, 3, 2], {3: 0}, (5,)),
        ([2, 2, 3], {2: 10, 3: 90}, (5,)),
    ],
)
@pytest.mark.parametrize("edges", [TWO_WAYS, THREE_WAYS])
def test_the_new_candidate_is_near_the_busiest_end(
    edges: Sequence[tuple[Node, Node]], homes: Sequence[Node], loads: dict[Node, int], chosen: tuple[Node, ...]
) -> None:
    """Of two that are as busy the lower one; before that, the one behind more load, where unknown is none."""
    fanout = len(edges) // 2
    assert a_round(edges, homes, loads, radius=2, fanout=fanout, maxlinks=fanout + 1).candidates == chosen


def test_a_candidate_that_stays_leaves_no_room_for_a_new_one() -> None:
    after = a_round(TWO_WAYS, [4, 3], {}, radius=2, candidates=((1, 4),), fanout=2, maxlinks=3)
    assert after.candidates == (4,)


@pytest.mark.parametrize(("load", "opened"), [(50, ()), (51, (4,))])
def test_a_link_is_opened_whose_gain_is_above_the_limit_by_little(load: int, opened: tuple[Node, ...]) -> None:
    limits = {"radius": 2, "candidates": ((1, 4),), "fanout": 3, "maxlinks": 4, "weak": 1, "factor": "max"}
    assert a_round(TWO_WAYS, [4], {2: load}, **limits).soft == opened


def test_no_candidate_is_near_the_end_of_a_link_that_was_closed() -> None:
    line = Overlay.line(4)
    broker = Broker.of(line, 1, MeshParameters(rounds=(1,), radius=3, soft=((1, 3),)))
    local = broker.model.initial(1)
    assert isinstance(local, MeshTables)
    publish = Publish(PUBLICATIONS[0])
    for sender, message in ((2, Subscribe(SUBSCRIPTIONS[0], Anchor(3))), (LOCAL, publish), (LOCAL, CloseLink(3))):
        local = broker.told(local, sender, message)
    broker.told(local, LOCAL, Review())


# -- moves -------------------------------------------------------------------------------------------------------------


def told(node: Node, *said: Told) -> None:
    """A broker of a line of five."""
    broker = Broker.of(Overlay.line(5), node, MeshParameters(radius=2))
    local = broker.model.initial(node)
    assert isinstance(local, MeshTables)
    for sender, message in said:
        local = broker.told(local, sender, message)


def test_only_the_two_ends_of_the_old_link_are_still_joined() -> None:
    publish = Publish(PUBLICATIONS[0])
    prepared = ((LOCAL, Subscribe(SUBSCRIPTIONS[0])), (2, Prepare((1, 2, 3, 4), 0)))
    told(3, *prepared, (1, publish), (2, publish))


def test_what_is_gone_is_withdrawn_in_the_order_of_ids() -> None:
    """Also where a wave ends: the brokers beyond know these subscriptions from before."""
    known = [(4, Subscribe(s, Anchor(3))) for s in reversed(SUBSCRIPTIONS)]
    gone = tuple(s.id for s in reversed(SUBSCRIPTIONS))
    ring = (1, 2, 3)
    told(4, *((3, m) for _, m in known), (3, Prepare(ring, 0)), (3, Renew(ring, 0, ((1, 2),), (), (), gone)))


def test_a_hybrid_sends_one_copy_a_branch_while_its_uplink_is_loaded() -> None:
    fork = Overlay.of([(1, 2), (2, 3), (2, 4)])
    broker = Broker.of(fork, 1, MeshParameters(radius=2, strategies=("SH",), soft=((1, 3), (1, 4))))
    local = broker.model.initial(1)
    assert isinstance(local, MeshTables)
    said: list[Told] = [(2, Subscribe(s, Anchor(end))) for s, end in zip(SUBSCRIPTIONS[:2], (3, 4), strict=True)]
    for p, is_loaded in zip(PUBLICATIONS[::3], (True, False), strict=True):
        said += [(LOCAL, Load(is_loaded)), (LOCAL, Publish(p))]
    for sender, message in said:
        local = broker.told(local, sender, message)
