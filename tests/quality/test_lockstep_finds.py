"""Faults of the model's pruning of which no property speaks are found by the lockstep with the implementation.

Each is a class with one method replaced, and the shortest talk with one broker in which it shows: the sound model and
the implementation answer alike there, and the faulty model does not. Brokers 2, 3 and 4 are the neighbours of 1.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

import pytest
from attrs import evolve, frozen

from routeproof.impl.index.profile import ProfiledSubscription
from routeproof.impl.pruning import Congestion
from routeproof.impl.pruning.retention import Pool
from routeproof.model.filters import EventSet
from routeproof.model.messages import Advertise, Advertisement, Subscribe, Subscription, Unsubscribe
from routeproof.model.overlay import LOCAL, Node, Overlay
from routeproof.model.pruning.handler import Pruning
from routeproof.model.pruning.statistics import pruned
from routeproof.model.pruning.vocabulary import Congest, Cut, PruningParameters, Relieve, cuts_of, withdraw
from routeproof.model.routing import StepEffects
from tests.pruning.test_lockstep import Lockstep

STAR = Overlay.of((1, leaf) for leaf in (2, 3, 4))
USUAL = PruningParameters.of("incremental")

A, B = (Advertisement(0, "a", EventSet.of((0, 1))), Advertisement(1, "b", EventSet.of((1, 2))))
WIDE, SAME, NARROW, ONE, ALL = (
    Subscription(rank, id, EventSet.of(events))
    for rank, (id, events) in enumerate({"S": (0, 1), "t": (0, 1), "s": (0,), "u": (1,), "v": (0, 1, 2)}.items())
)


class RelievedBackwards(Pruning):
    """Takes up held withdrawals in the opposite order (PRN-6)."""

    def on_relieve(self, step: StepEffects) -> None:
        held = pruned(step.tables).held
        step.tables = evolve(pruned(step.tables), held=(), congested=False)
        self.resume(step, held[::-1])


class EqualIsNotCovered(Pruning):
    """Collects a retained subscription that covers an equal one only (PRN-12)."""

    def covers_any(self, s: Subscription, drawn: tuple[Subscription, ...]) -> bool:
        return any(self.covers(s, t) and not self.covers(t, s) for t in drawn)


class CountsForEachNeighbour(Pruning):
    """Counts what would go to two neighbours twice (SIM-8)."""

    def triggered(self, step: StepEffects, neighbours: Iterable[Node]) -> int:
        step.rules.add("SIM-8")
        return sum(len(self.uncovered(step.tables, n)) for n in neighbours)


class EmptyListIsNone(Pruning):
    """Takes a withdrawal with an empty list for a full one."""

    def withdraw(self, step: StepEffects, message: Unsubscribe, sender: Node) -> None:
        super().withdraw(step, message if cuts_of(message) else Unsubscribe(message.subscription), sender)


class MakesWayForWhatItCovers(Pruning):
    """Lets what is retained go for an advertisement that it covers only (PRN-16)."""

    def make_way(self, step: StepEffects, a: Advertisement, neighbour: Node) -> None:
        tables = pruned(step.tables)
        kept = tuple(s for s in tables.retained_for(neighbour) if not s.filter.covers(a.filter))
        step.tables = tables.with_retained(neighbour, kept)


def cuts(*distances: int) -> tuple[Cut, ...]:
    return tuple(Cut(a.id, distances) for a in (A, B))


@frozen
class Shown:
    """A fault, the talk in which it shows, and the readings that this needs."""

    fault: type[Pruning]
    said: Sequence[tuple[Node, Hashable]]
    parameters: PruningParameters = USUAL


SENT = ((2, Advertise(A)), (3, Subscribe(WIDE)))
COLLECTS = evolve(USUAL, collects=True)

SHOWN = (
    Shown(
        RelievedBackwards,
        (
            *SENT,
            (3, Subscribe(NARROW)),
            (LOCAL, Congest()),
            (3, Unsubscribe(WIDE)),
            (3, Unsubscribe(NARROW)),
            (LOCAL, Relieve()),
        ),
    ),
    Shown(EqualIsNotCovered, (*SENT, (3, Subscribe(SAME)), (3, withdraw(WIDE, ()))), COLLECTS),
    Shown(
        CountsForEachNeighbour,
        (*SENT, (4, Advertise(B)), (3, Subscribe(ONE)), (3, withdraw(WIDE, cuts(0, 5)))),
        evolve(USUAL, cuts=(1, 2)),
    ),
    Shown(EmptyListIsNone, (*SENT, (3, withdraw(WIDE, ())))),
    Shown(
        MakesWayForWhatItCovers,
        (*SENT, (3, withdraw(WIDE, ())), (2, Advertise(B))),
        evolve(USUAL, newcomers="withdraw"),
    ),
)


def follow(shown: Shown, protocol: type[Pruning]) -> None:
    pair = Lockstep(STAR, 1, "incremental", shown.parameters)
    pair.pruning = protocol(STAR, "incremental", shown.parameters)
    for sender, message in shown.said:
        pair.tell(sender, message)


@pytest.mark.parametrize("shown", SHOWN, ids=lambda shown: shown.fault.__name__)
def test_a_fault_of_the_model_is_found(shown: Shown) -> None:
    follow(shown, Pruning)
    with pytest.raises(AssertionError):
        follow(shown, shown.fault)


# -- faults of the implementation --------------------------------------------------------------------------------------

BACK = (
    (2, Advertise(A)),
    (3, Subscribe(WIDE)),
    (3, Subscribe(NARROW)),
    (3, Subscribe(ALL)),
    (3, withdraw(ALL, ())),
    (3, withdraw(WIDE, ())),
    (3, Subscribe(WIDE)),
    (3, Unsubscribe(NARROW)),
)
"""What is retained covers, in the end, only what came back: so it stays (PRN-12, PRN-13)."""


def test_a_pool_that_does_not_count_what_came_back_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = Shown(Pruning, BACK, evolve(COLLECTS, base="lazy"))
    follow(shown, Pruning)
    sound = Pool.subscribe

    def subscribe(self: Pool, entry: ProfiledSubscription) -> None:
        below, self._below = self._below, None
        came_back = entry.subscription in self._retained
        if not came_back:
            self._below = below
        sound(self, entry)
        self._below = below

    monkeypatch.setattr(Pool, "subscribe", subscribe)
    with pytest.raises(AssertionError):
        follow(shown, Pruning)


def test_a_broker_is_congested_beyond_the_bound_and_not_at_it() -> None:
    """`>= high` in the place of `> high` begins a message too early; so does `<= low` end it."""
    signal = Congestion(high=3, low=2).signals()
    assert [signal(1, waiting) for waiting in (2, 3, 4, 3, 2, 1)] == [None, None, Congest(), None, None, Relieve()]
