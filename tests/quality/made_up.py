"""Talks with one broker that were made up to show one fault each: no run and no drawn talk shows it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from attrs import evolve, frozen

from routeproof.model.filters import EventSet
from routeproof.model.messages import (
    Advertise,
    PackedSubscribe,
    PackedUnsubscribe,
    Publication,
    Subscribe,
    Subscription,
    Unadvertise,
    Unsubscribe,
)
from routeproof.model.overlay import LOCAL, Node
from routeproof.model.pruning.vocabulary import Congest, Cut, PruningParameters, Relieve, publish, withdraw
from tests.impl import lockstep
from tests.pruning import test_lockstep as test_pruning_lockstep
from tests.quality.test_lockstep_finds import (
    ALL,
    BACK,
    COLLECTS,
    NARROW,
    ONE,
    SAME,
    SHOWN,
    STAR,
    USUAL,
    WIDE,
    A,
    B,
    cuts,
)


@frozen
class MadeUp:
    """What is said to broker 1 under these readings, or those of the core under packing."""

    said: Sequence[tuple[Node, Hashable]]
    parameters: PruningParameters | None = None


TWO = Subscription(5, "w", EventSet.of((2,)))

APART = (
    (2, Advertise(A)),
    (4, Advertise(B)),
    (3, Subscribe(ALL)),
    (3, Subscribe(NARROW)),
    (3, Subscribe(TWO)),
    (3, withdraw(ALL, cuts(0, 5))),
)

TWICE = (
    (2, Advertise(A)),
    (3, Subscribe(SAME)),
    (3, Subscribe(WIDE)),
    (3, Subscribe(ALL)),
    (3, Unsubscribe(SAME)),
)

MADE_UP = (
    # a packed message that is handled in another order is sent on in another order
    MadeUp(((2, Advertise(A)), (3, PackedSubscribe((NARROW, ONE))), (3, PackedUnsubscribe((NARROW, ONE))))),
    *(MadeUp(each.said, each.parameters) for each in SHOWN),
    MadeUp(BACK, evolve(COLLECTS, base="lazy")),
    # what comes from elsewhere is void, and so is what is taken up twice (RTE-8)
    MadeUp(
        (
            (2, Advertise(A)),
            (3, Subscribe(WIDE)),
            (4, Unsubscribe(WIDE)),
            (LOCAL, Congest()),
            (3, withdraw(WIDE, ())),
            (3, withdraw(WIDE, ())),
            (LOCAL, Relieve()),
        ),
        USUAL,
    ),
    # an advertisement elsewhere draws nothing here (PRN-11)
    MadeUp(
        (
            (2, Advertise(A)),
            (4, Advertise(B)),
            (3, Subscribe(WIDE)),
            (3, withdraw(WIDE, ())),
            (2, Unadvertise(A)),
        ),
        USUAL,
    ),
    # a client whose withdrawal was taken up, and who comes back under its id, is served again (PRN-6, PRN-15)
    MadeUp(
        (
            (2, Advertise(A)),
            (LOCAL, Subscribe(NARROW)),
            (LOCAL, Congest()),
            (LOCAL, Unsubscribe(NARROW)),
            (LOCAL, Relieve()),
            (LOCAL, Subscribe(NARROW)),
            (2, publish(Publication(0, "p", "a", 0))),
        ),
        USUAL,
    ),
    # what something wider replaced while another was retained is sent again when that goes (PRN-10)
    MadeUp(
        (
            (2, Advertise(A)),
            (3, Subscribe(ONE)),
            (3, withdraw(ONE, ())),
            (3, Subscribe(NARROW)),
            (3, Subscribe(WIDE)),
            (3, Unsubscribe(WIDE)),
        ),
        USUAL,
    ),
    # what is retained makes way for what it overlaps, and for nothing else (PRN-16)
    MadeUp(
        ((2, Advertise(A)), (3, Subscribe(NARROW)), (3, withdraw(NARROW, ())), (2, Advertise(B))),
        evolve(USUAL, newcomers="withdraw"),
    ),
    # one is triggered at each of two neighbours, two in all (SIM-8, `triggered`)
    *(MadeUp(APART, evolve(USUAL, cuts=(1, 2), triggered=whose)) for whose in ("broker", "neighbour")),
    # an addition goes that overlaps one advertisement of the list, and not the other (PRN-5)
    MadeUp(
        (
            (2, Advertise(A)),
            (2, Advertise(B)),
            (3, Subscribe(ALL)),
            (3, Subscribe(NARROW)),
            (3, withdraw(ALL, cuts(5, 5))),
        ),
        evolve(USUAL, sends="listed", cuts=(0, 1)),
    ),
    # where a withdrawal ends, what was held back before stays so (PRN-5)
    MadeUp(
        (
            (2, Advertise(A)),
            (2, Advertise(B)),
            (2, Subscribe(SAME)),
            (3, Subscribe(ALL)),
            (3, Subscribe(NARROW)),
            (3, Subscribe(TWO)),
            (3, withdraw(ALL, (Cut("b", (5, 5)),))),
            (3, withdraw(TWO, ())),
            (2, withdraw(SAME, ())),
        ),
        evolve(USUAL, sends="listed", cuts=(0, 1)),
    ),
    # of equal filters the others go as well with what was sent of them, once something wider has come (COV-6)
    MadeUp(TWICE, evolve(USUAL, base="lazy")),
    # also where what was sent is forgotten, and nothing is said of it (PRN-7)
    MadeUp((*TWICE[:-1], (3, withdraw(SAME, ())), (3, Subscribe(ONE))), evolve(USUAL, base="lazy", remembers=False)),
    # what is owed was not sent, so that something wider may still take its place (COV-6, PRN-5)
    MadeUp(
        (
            (2, Advertise(A)),
            (2, Advertise(B)),
            (3, Subscribe(ALL)),
            (3, Subscribe(NARROW)),
            (3, withdraw(ALL, (Cut("b", (5, 5)),))),
            (3, Subscribe(WIDE)),
        ),
        evolve(USUAL, base="lazy", sends="listed", cuts=(0, 1)),
    ),
)


def follow_made_up(talk: MadeUp) -> None:
    """The model and the reference implementation, side by side."""
    pair = (
        lockstep.Lockstep(STAR, 1, "packing")
        if talk.parameters is None
        else test_pruning_lockstep.Lockstep(STAR, 1, "incremental", talk.parameters)
    )
    for sender, message in talk.said:
        pair.tell(sender, message)
