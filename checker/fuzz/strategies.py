"""Instances drawn at random: an overlay, and clients whose filters have much to do with each other.

`instances(sizes)` is the one strategy. What it draws is an ordinary `Instance`, as a file could contain it.

Two filters drawn independently are almost never nested, and covering is all about nested ones. So an algebra draws a
*shape*, from which the next shapes are derived (narrower, wider, equal), and which becomes a filter at the end. There
are two algebras, `EVENT_SETS` and `PREDICATES`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Protocol, TypeAlias, TypeVar

from attrs import evolve, frozen
from hypothesis import strategies as st

from routeproof.checker.fuzz.walk import Machine
from routeproof.checker.wings import wing_named
from routeproof.model.filters import STRICT, Event, EventSet, Filter
from routeproof.model.instance import Advertiser, Instance, Subscriber
from routeproof.model.messages import Advertisement, Publication, Subscription
from routeproof.model.overlay import Link, Node, Overlay
from routeproof.model.protocols import world
from routeproof.model.world import World

GENERATED = "generated"

T = TypeVar("T")

Shape: TypeAlias = tuple[int, ...]
"""Shape of a filter: numbers that mean something to its algebra only."""

EVENTS = 6

# Per attribute, the conditions a filter may put on it: nested, equal though written differently, overlapping, disjoint,
# with open and closed ends, between integers, with holes. None is unsatisfiable, and attributes are independent of each
# other, so no filter put together from them is.
CONDITIONS: Mapping[str, Sequence[Sequence[Sequence[object]]]] = {
    "class": (
        (),
        (("present",),),
        (("prefix", "S"),),
        ((">=", "S"), ("<", "T")),
        (("prefix", "ST"),),
        (("=", "STOCK"),),
        (("!=", "STOCK"),),
        (("contains", "O"),),
        (("suffix", "K"),),
        (("=", "BOND"),),
    ),
    "price": (
        (),
        (("present",),),
        ((">=", 0),),
        ((">", 0),),
        (("<=", 10),),
        (("<", 10),),
        ((">=", 0), ("<=", 10)),
        ((">", 0), ("<", 10)),
        ((">", 4), ("<", 5)),
        (("=", 5),),
        ((">=", 5), ("<=", 5)),
        (("!=", 5),),
    ),
    "urgent": ((), (("present",),), (("=", True),), (("!=", False),), (("=", False),)),
    "volume": (
        (),
        (("integer",),),
        ((">", 1000),),
        (("integer",), (">", 1000)),
        (("integer",), (">=", 1001)),
        (("=", 2000),),
    ),
}

# Per attribute, values that distinguish these conditions; None is a missing attribute.
VALUES: Mapping[str, Sequence[object]] = {
    "class": (None, "STOCK", "STICK", "SO", "BOND", "OAK", 5),
    "price": (None, 5, 0, 4.5, 10, 9, -1, 11, "5"),
    "urgent": (None, True, False, "true"),
    "volume": (None, 2000, 1001, 1000, 1000.5),
}

# Built once: a strategy is cheap to draw from and not to make.
_BELOW = [st.just(0)] + [st.integers(0, n - 1) for n in range(1, 100)]
_MASKS = st.integers(1, (1 << EVENTS) - 1)


class Draw(Protocol):
    """The function that Hypothesis hands to a function that draws."""

    def __call__(self, strategy: st.SearchStrategy[T], /) -> T: ...


class Algebra(Protocol):
    """Where filters, relatives of filters, and events come from."""

    def fresh(self, draw: Draw) -> Shape: ...

    def narrower(self, draw: Draw, shape: Shape) -> Shape: ...

    def wider(self, draw: Draw, shape: Shape) -> Shape: ...

    def equal(self, draw: Draw, shape: Shape) -> Shape:
        """Returns a shape of equal events, written in another way where there is one."""

    def filter(self, shape: Shape) -> Filter: ...

    def event(self, draw: Draw, advertised: Shape, wanted: Shape) -> Event:
        """An event that the first lets through, and the second too where it can be."""


def pick(draw: Draw, choices: Sequence[T]) -> T:
    """One of them; towards the first when shrinking."""
    return choices[draw(_BELOW[len(choices)])] if len(choices) > 1 else choices[0]


# -- sets of event numbers ---------------------------------------------------------------------------------------------


class EventSets:
    """A shape is the bit mask."""

    def fresh(self, draw: Draw) -> Shape:
        return (draw(_MASKS),)

    def narrower(self, draw: Draw, shape: Shape) -> Shape:
        return (shape[0] & draw(_MASKS) or shape[0],)

    def wider(self, draw: Draw, shape: Shape) -> Shape:
        return (shape[0] | draw(_MASKS),)

    def equal(self, draw: Draw, shape: Shape) -> Shape:
        return shape

    def filter(self, shape: Shape) -> Filter:
        return EventSet(shape[0])

    def event(self, draw: Draw, advertised: Shape, wanted: Shape) -> Event:
        common = advertised[0] & wanted[0] or advertised[0]
        return pick(draw, [event for event in range(EVENTS) if common >> event & 1])


# -- predicates over attributes ----------------------------------------------------------------------------------------


class Predicates:
    """A shape is, per attribute, the number of its condition."""

    def fresh(self, draw: Draw) -> Shape:
        # One or two conditions, rarely more: filters that constrain everything are all disjoint.
        shape = self._constrained(draw, (0,) * len(_FAMILIES))
        return self._constrained(draw, shape)

    def narrower(self, draw: Draw, shape: Shape) -> Shape:
        return self._moved(draw, shape, [family.covered for family in _FAMILIES])

    def wider(self, draw: Draw, shape: Shape) -> Shape:
        return self._moved(draw, shape, [family.covering for family in _FAMILIES])

    def equal(self, draw: Draw, shape: Shape) -> Shape:
        return tuple(pick(draw, family.equal[at]) for at, family in zip(shape, _FAMILIES, strict=True))

    @staticmethod
    @cache
    def filter(shape: Shape) -> Filter:
        return STRICT.parse(
            [
                [family.attribute, *condition]
                for at, family in zip(shape, _FAMILIES, strict=True)
                for condition in CONDITIONS[family.attribute][at]
            ]
        )

    def event(self, draw: Draw, advertised: Shape, wanted: Shape) -> Event:
        raw: dict[str, object] = {}
        for mine, theirs, family in zip(advertised, wanted, _FAMILIES, strict=True):
            both = [value for value in family.admitted[mine] if value in family.admitted[theirs]]
            raw[family.attribute] = VALUES[family.attribute][pick(draw, both or family.admitted[mine])]
        return STRICT.event({attribute: value for attribute, value in raw.items() if value is not None})

    def _constrained(self, draw: Draw, shape: Shape) -> Shape:
        which = pick(draw, range(len(_FAMILIES)))
        return _replaced(shape, which, pick(draw, range(len(CONDITIONS[_FAMILIES[which].attribute]))))

    def _moved(self, draw: Draw, shape: Shape, ways: Sequence[Sequence[Sequence[int]]]) -> Shape:
        """One condition replaced by one that lies that way; the same shape where none does."""
        movable = [which for which, way in enumerate(ways) if way[shape[which]]]
        if not movable:
            return shape
        which = pick(draw, movable)
        return _replaced(shape, which, pick(draw, ways[which][shape[which]]))


class _Family:
    """The conditions on one attribute and how they are related, as the algebra itself sees it."""

    def __init__(self, attribute: str) -> None:
        self.attribute = attribute
        alone = [STRICT.parse([[attribute, *part] for part in condition]) for condition in CONDITIONS[attribute]]
        numbers = range(len(alone))
        self.equal = [[j for j in numbers if alone[j] == alone[i]] for i in numbers]
        self.covered = [[j for j in numbers if alone[i].covers(alone[j]) and alone[j] != alone[i]] for i in numbers]
        self.covering = [[j for j in numbers if alone[j].covers(alone[i]) and alone[j] != alone[i]] for i in numbers]
        events = [STRICT.event({} if value is None else {attribute: value}) for value in VALUES[attribute]]
        self.admitted = [[k for k, event in enumerate(events) if each.matches(event)] for each in alone]


def _replaced(shape: Shape, which: int, by: int) -> Shape:
    return (*shape[:which], by, *shape[which + 1 :])


_FAMILIES = [_Family(attribute) for attribute in CONDITIONS]

EVENT_SETS: Algebra = EventSets()
PREDICATES: Algebra = Predicates()

Drawn: TypeAlias = tuple[Shape, Node]
"""A filter and the home of who has it."""


@frozen
class Sizes:
    """The most there may be of each."""

    brokers: int = 12
    advertisements: int = 3
    subscriptions: int = 6
    publications: int = 8


@frozen
class Fuzzing:
    """How the fuzzer goes about a protocol."""

    of: Callable[[Draw, Instance, str], Instance] = lambda _, instance, __: instance
    """(draw, instance, policy) -> the instance of the protocol that an instance of the core becomes."""
    machine: type[Machine] = Machine
    """Settings of Hypothesis."""


def is_drawn(protocol: str) -> bool:
    """True if instances of the protocol are drawn; others have to be given."""
    return protocol == "routing" or wing_named(protocol).fuzzing is not None


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
    policy = pick(draw, policies)
    instance = evolve(draw(instances(sizes)), policies=(policy,))
    return world(fuzzing_of(protocol).of(draw, instance, policy), policy, mutant)


def fuzzing_of(protocol: str) -> Fuzzing:
    """How the fuzzer goes about a protocol: its wing says, or all is as for the routing core."""
    made = wing_named(protocol).fuzzing
    return Fuzzing() if made is None else made()
