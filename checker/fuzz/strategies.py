"""Instances drawn at random: an overlay, and clients whose filters have much to do with each other.

`instances(sizes)` is the one strategy. What it draws is an ordinary `Instance`, as a file could contain it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from attrs import evolve, frozen
from hypothesis import strategies as st

from routeproof.checker.fuzz.algebras import EVENT_SETS, PREDICATES, Algebra, Draw, Shape, pick
from routeproof.checker.fuzz.machine import Machine
from routeproof.checker.wings import wings
from routeproof.model.instance import Advertiser, Instance, Subscriber
from routeproof.model.messages import Advertisement, Publication, Subscription
from routeproof.model.overlay import Link, Node, Overlay
from routeproof.model.protocols import world
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


def _as_drawn(draw: Draw, instance: Instance, policy: str) -> Instance:
    return instance


@frozen
class Fuzzing:
    """How the fuzzer goes about a protocol."""

    of: Callable[[Draw, Instance, str], Instance] = _as_drawn
    """(draw, instance, policy) -> the instance of the protocol that an instance of the core becomes."""
    machine: type[Machine] = Machine
    """Settings of Hypothesis."""


def is_drawn(protocol: str) -> bool:
    """True if instances of the protocol are drawn; others have to be given."""
    return protocol == "routing" or (protocol in wings() and wings()[protocol].fuzzing is not None)


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
def worlds(draw: Draw, sizes: Sizes, protocol: str, policies: Sequence[str], mutant: str | None) -> World:
    """An instance in motion under one of the policies."""
    policy = pick(draw, policies)
    instance = evolve(draw(instances(sizes)), policies=(policy,))
    return world(fuzzing_of(protocol).of(draw, instance, policy), policy, mutant)


def fuzzing_of(protocol: str) -> Fuzzing:
    """How the fuzzer goes about a protocol: its wing says, or all is as for the routing core."""
    made = wings()[protocol].fuzzing if protocol in wings() else None
    return Fuzzing() if made is None else made()
