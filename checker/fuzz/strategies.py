"""Instances drawn at random: an overlay, and clients whose filters have much to do with each other.

`instances(sizes)` is the one strategy. What it draws is an ordinary `Instance`, the same that a file could have said.
"""

from __future__ import annotations

from attrs import frozen
from hypothesis import strategies as st

from routeproof.checker.fuzz.algebras import EVENT_SETS, PREDICATES, Algebra, Draw, Shape, pick
from routeproof.model.instance import Advertiser, Instance, Subscriber
from routeproof.model.messages import Advertisement, Publication, Subscription
from routeproof.model.overlay import Link, Overlay

NAME = "drawn"


@frozen
class Sizes:
    """The most there may be of each."""

    brokers: int = 12
    advertisements: int = 3
    subscriptions: int = 6
    publications: int = 5


@st.composite
def instances(draw: Draw[int], sizes: Sizes) -> Instance:
    """Any tree, clients anywhere, most of them with withdrawals."""
    algebra = pick(draw, (EVENT_SETS, PREDICATES))
    overlay = Overlay.of(_tree(draw, sizes.brokers))
    shapes: list[Shape] = []
    advertisers = [_advertiser(draw, rank, overlay, algebra, shapes) for rank in _some(draw, sizes.advertisements)]
    subscribers = [_subscriber(draw, rank, overlay, algebra, shapes) for rank in _some(draw, sizes.subscriptions)]
    publications = [
        _publication(draw, rank, len(advertisers), algebra, shapes) for rank in _some(draw, sizes.publications)
    ]
    return Instance(NAME, overlay, tuple(advertisers), tuple(subscribers), tuple(publications))


def _tree(draw: Draw[int], most: int) -> list[Link]:
    """A line, a star, or anything: the first two are where long paths and wide hubs are."""
    brokers = range(2, 1 + pick(draw, range(2, most + 1)))
    kind = pick(draw, ("line", "star", "any", "any"))
    if kind == "line":
        return [(b - 1, b) for b in brokers]
    if kind == "star":
        return [(1, b) for b in brokers]
    return [(pick(draw, range(1, b)), b) for b in brokers]


def _advertiser(draw: Draw[int], rank: int, overlay: Overlay, algebra: Algebra, shapes: list[Shape]) -> Advertiser:
    shape = _related(draw, algebra, shapes)
    item = Advertisement(rank, f"a{rank + 1}", algebra.filter(shape))
    return Advertiser(item, pick(draw, overlay.brokers), pick(draw, (False, True)))


def _subscriber(draw: Draw[int], rank: int, overlay: Overlay, algebra: Algebra, shapes: list[Shape]) -> Subscriber:
    shape = _related(draw, algebra, shapes)
    item = Subscription(rank, f"s{rank + 1}", algebra.filter(shape))
    return Subscriber(item, pick(draw, overlay.brokers), pick(draw, (False, True, True)))


def _publication(
    draw: Draw[int], rank: int, advertisements: int, algebra: Algebra, shapes: list[Shape]
) -> Publication:
    """Of one of the advertisements, and where it can be, wanted by some subscription."""
    of = pick(draw, range(advertisements))
    wanted = pick(draw, shapes[advertisements:])
    return Publication(rank, f"p{rank + 1}", f"a{of + 1}", algebra.event(draw, shapes[of], wanted))


def _related(draw: Draw[int], algebra: Algebra, shapes: list[Shape]) -> Shape:
    """A new shape, most often a relative of an earlier one."""
    kinship = pick(draw, ("fresh", "narrower", "wider", "equal")) if shapes else "fresh"
    if kinship == "fresh":
        shape = algebra.fresh(draw)
    else:
        base = pick(draw, shapes)
        derive = {"narrower": algebra.narrower, "wider": algebra.wider, "equal": algebra.equal}[kinship]
        shape = derive(draw, base)
    shapes.append(shape)
    return shape


def _some(draw: Draw[int], most: int) -> range:
    return range(1 + max(pick(draw, range(most)), pick(draw, range(most))))
