"""Filters drawn on purpose close to each other: narrower, wider, and equal to those drawn before.

Two filters drawn independently are almost never nested, and covering is all about nested ones. So an algebra draws a
*shape*, from which the next shapes are derived, and which becomes a filter at the end. There are two, `EVENT_SETS` and
`PREDICATES`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Protocol, TypeAlias, TypeVar

from hypothesis import strategies as st

from routeproof.model.filters import STRICT, Event, EventSet, Filter

T = TypeVar("T")


class Draw(Protocol):
    """The function that Hypothesis hands to a function that draws."""

    def __call__(self, strategy: st.SearchStrategy[T], /) -> T: ...


Shape: TypeAlias = tuple[int, ...]
"""Shape of a filter: numbers that mean something to its algebra only."""


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

EVENTS = 6


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


# Built once: a strategy is cheap to draw from and not to make.
_BELOW = [st.just(0)] + [st.integers(0, n - 1) for n in range(1, 100)]
_MASKS = st.integers(1, (1 << EVENTS) - 1)
_FAMILIES = [_Family(attribute) for attribute in CONDITIONS]

EVENT_SETS: Algebra = EventSets()
PREDICATES: Algebra = Predicates()
