"""Any filters and events over attributes: every operator, with the constants at which indexes could go wrong.

The fuzzer's own `PREDICATES` draws from few conditions that are nested in every way. Here there are some hundreds, on
two attributes: a filter is related to another one by having more conditions, or fewer, or the same in another order.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import product

from hypothesis import strategies as st

from routeproof.checker.fuzz.strategies import Algebra, Draw, Shape, pick
from routeproof.model.filters import STRICT, Event, Filter, FilterError, PredicateDialect
from tests.impl.filters import NEGATING, NUMBER_OPERATORS, NUMBERS, STRING_OPERATORS, WORDS

DIALECTS: Sequence[PredicateDialect] = (STRICT, NEGATING)
"""The second has filters that a missing attribute satisfies."""

MOST = 4
"""Conditions of one filter."""

OPERATORS = (
    *product(("prefix", "suffix", "contains"), WORDS),
    *product(STRING_OPERATORS[:6], WORDS),
    *product(NUMBER_OPERATORS, NUMBERS),
    *product(("=", "!="), (False, True)),
    *(("present",), ("integer",)),
)
CONDITIONS = tuple((attribute, *condition) for condition in OPERATORS for attribute in ("x", "y"))
VALUES = (*NUMBERS, *WORDS, False, True)

_ONE = st.integers(0, len(CONDITIONS) - 1)


class Wild:
    """A shape is the number of a dialect, and those of conditions. What a dialect refuses, or cannot be met together
    with what comes before, is left out of the filter."""

    def fresh(self, draw: Draw) -> Shape:
        return (pick(draw, (0, 0, 0, 0, 1)), *(draw(_ONE) for _ in range(pick(draw, (1, 2, 0)))))

    def narrower(self, draw: Draw, shape: Shape) -> Shape:
        return (*shape, draw(_ONE)) if len(shape) <= MOST else shape

    def wider(self, draw: Draw, shape: Shape) -> Shape:
        return shape[: pick(draw, range(1, len(shape) + 1))]

    def equal(self, draw: Draw, shape: Shape) -> Shape:
        return (*shape, *shape[1 : pick(draw, (1, 2))])

    @staticmethod
    @cache
    def filter(shape: Shape) -> Filter:
        dialect = DIALECTS[shape[0]]
        raw: list[object] = []
        met: Filter = dialect.parse(raw)
        for number in shape[1:]:
            try:
                met = dialect.parse([*raw, CONDITIONS[number]])
            except FilterError:
                continue
            raw.append(CONDITIONS[number])
        return met

    def event(self, draw: Draw, advertised: Shape, wanted: Shape) -> Event:
        """It may well be missed by both."""
        admitted = _admitted((advertised, wanted)) or _admitted((wanted,)) or (STRICT.event({}),)
        return admitted[draw(st.integers(0, len(admitted) - 1))]


@cache
def _admitted(shapes: tuple[Shape, ...]) -> Sequence[Event]:
    """Of the events with one value or twice the same one, those that all of these let through."""
    events = [STRICT.event(dict.fromkeys(names, value)) for value in VALUES for names in ("x", "y", "xy")]
    filters = [Wild.filter(shape) for shape in shapes]
    return [event for event in events if all(each.matches(event) for each in filters)]


WILD: Algebra = Wild()
