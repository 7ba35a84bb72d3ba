"""Instances drawn at random: an overlay, and clients whose filters have much to do with each other.

`instances(sizes)` is the one strategy. What it draws is an ordinary `Instance`, the same that a file could have said.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from attrs import evolve, frozen
from hypothesis import strategies as st

from routeproof.checker.fuzz.algebras import EVENT_SETS, PREDICATES, Algebra, Draw, Shape, pick
from routeproof.model.instance import Advertiser, Instance, Subscriber
from routeproof.model.messages import Advertisement, Publication, Subscription
from routeproof.model.overlay import Link, Node, Overlay
from routeproof.model.protocols import world
from routeproof.model.pruning_parameters import PRUNING
from routeproof.model.world import World

GENERATED = "generated"

Drawn: TypeAlias = tuple[Shape, Node]
"""A filter and the home of who has it."""


@frozen
class Sizes:
    """The most there may be of each."""

    brokers: int = 12
    advertisements: int = 3
    subscriptions: int = 6
    publications: int = 8


@st.composite
def instances(draw: Draw, sizes: Sizes) -> Instance:
    """Any tree, clients anywhere, most of them with withdrawals."""
    algebra = pick(draw, (EVENT_SETS, PREDICATES))
    overlay = Overlay.of(_tree(draw, sizes.brokers))
    drawn: list[Drawn] = []
    advertisers = [_advertiser(draw, rank, overlay, algebra, drawn) for rank in _some(draw, sizes.advertisements)]
    advertised = list(drawn)
    subscribers = [_subscriber(draw, rank, overlay, algebra, drawn) for rank in _some(draw, sizes.subscriptions)]
    subscribed = drawn[len(advertised) :]
    publications = [
        _publication(draw, rank, advertised, subscribed, algebra) for rank in _some(draw, sizes.publications)
    ]
    return Instance(GENERATED, overlay, tuple(advertisers), tuple(subscribers), tuple(publications))


def _tree(draw: Draw, most: int) -> list[Link]:
    """A line, a star, or anything: the first two are where long paths and wide hubs are."""
    brokers = range(2, 1 + pick(draw, range(1, most + 1)))
    kind = pick(draw, ("line", "star", "any", "any"))
    if kind == "line":
        return [(b - 1, b) for b in brokers]
    if kind == "star":
        return [(1, b) for b in brokers]
    return [(pick(draw, range(1, b)), b) for b in brokers]


def _advertiser(draw: Draw, rank: int, overlay: Overlay, algebra: Algebra, drawn: list[Drawn]) -> Advertiser:
    shape, home = _related(draw, overlay, algebra, drawn)
    return Advertiser(Advertisement(rank, f"a{rank + 1}", algebra.filter(shape)), home, pick(draw, (False, True)))


def _subscriber(draw: Draw, rank: int, overlay: Overlay, algebra: Algebra, drawn: list[Drawn]) -> Subscriber:
    shape, home = _related(draw, overlay, algebra, drawn)
    return Subscriber(Subscription(rank, f"s{rank + 1}", algebra.filter(shape)), home, pick(draw, (False, True, True)))


def _publication(
    draw: Draw, rank: int, advertised: list[Drawn], subscribed: list[Drawn], algebra: Algebra
) -> Publication:
    """Where it can be, one that some subscription wants."""
    wanted, _ = pick(draw, subscribed)
    intersecting = [
        i for i, (shape, _) in enumerate(advertised) if algebra.filter(shape).overlaps(algebra.filter(wanted))
    ]
    of = pick(draw, intersecting or range(len(advertised)))
    return Publication(rank, f"p{rank + 1}", f"a{of + 1}", algebra.event(draw, advertised[of][0], wanted))


def _related(draw: Draw, overlay: Overlay, algebra: Algebra, drawn: list[Drawn]) -> Drawn:
    """A filter and a home: most often a relative of an earlier filter, and at home where that one is.

    Both matter. Covering is between relatives, and between those whose ways have a link in common.
    """
    home = pick(draw, overlay.brokers)
    kinship = pick(draw, ("fresh", "narrower", "wider", "equal")) if drawn else "fresh"
    if kinship == "fresh":
        shape = algebra.fresh(draw)
    else:
        base, base_home = pick(draw, drawn)
        derive = {"narrower": algebra.narrower, "wider": algebra.wider, "equal": algebra.equal}[kinship]
        shape, home = derive(draw, base), pick(draw, (home, base_home))
    drawn.append((shape, home))
    return shape, home


def _some(draw: Draw, most: int) -> range:
    return range(1 + max(pick(draw, range(most)), pick(draw, range(most))))


@st.composite
def worlds(draw: Draw, sizes: Sizes, policies: Sequence[str], mutant: str | None) -> World:
    """An instance in motion under one of the policies."""
    policy = pick(draw, policies)
    instance = evolve(draw(instances(sizes)), policies=(policy,))
    return world(_pruned(draw, instance, policy) if policy in PRUNING else instance, policy, mutant)


THRESHOLDS: dict[str, tuple[tuple[int, ...], ...]] = {
    "incremental": ((60, 90), (60, 90), (30, 60), (100, 100)),
    "selective": ((90,), (90,), (50,), (100,)),
}
READINGS: dict[str, tuple[Any, ...]] = {
    "cuts": ((0, 1), (1, 2), (1, 3), (0, 0), (2, 2)),
    "triggered": ("broker", "neighbour"),
    "inclusive": (True, True, False),
    "without_history": ("remove", "zero", "absent"),
    "counts": ("elsewhere", "elsewhere", "all"),
    "window": (1000, 1000, 2),
    "fewest": (1, 0, 2),
    "base": ("active", "active", "lazy"),
    "collects": (False, True),
    "identity": ("issue", "issue", "id"),
    "newcomers": ("keep", "keep", "withdraw"),
}
"""What may be drawn beside thresholds: readings under which nothing may break.

With `identity = "id"` clients come back to the broker that they left: elsewhere it breaks.
"""

BREAKING: dict[str, tuple[Any, str]] = {
    "sends": ("listed", "PRN-listed"),
    "remembers": (False, "PRN-forgets"),
    "overtakes": (True, "PRN-blocked"),
}
"""What is not drawn, and the claim that fails under it (`spec.claims`). A given instance may have it all the same."""


def _pruned(draw: Draw, instance: Instance, policy: str) -> Instance:
    """The same clients under pruning: some come back, mostly elsewhere, and brokers may become congested."""
    choices = {"thresholds": THRESHOLDS[policy], **READINGS}
    readings = {key: pick(draw, values) for key, values in choices.items()}
    brokers = instance.overlay.brokers

    def places(s: Subscriber) -> Sequence[Node | None]:
        return (None, s.at) if readings["identity"] == "id" else (None, None, *brokers)

    return evolve(
        instance,
        protocol="pruning",
        readings=tuple((key, value) for key, value in readings.items() if value != choices[key][0] or key == "cuts"),
        subscribers=tuple(
            evolve(s, again=pick(draw, places(s))) if s.unsubscribes else s for s in instance.subscribers
        ),
        congestion=tuple(sorted({pick(draw, brokers) for _ in range(pick(draw, (0, 0, 1, 2)))})),
    )
