"""Matches of many events at once, whose attributes are plain (`Meanings.plain`): a few steps of numpy for all of them.

Events that say the same of all that buckets constrain to one value may match the same buckets. So each bucket is
compared once, with all events that may match it: the ranges of a large one in its columns, those of all small ones
together, and any other constraint by the filters' own methods. A number among plain attributes has a float of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, TypeAlias

import numpy as np

from routeproof.checker.validate.fast.buckets import Bucket, Group
from routeproof.checker.validate.fast.index import BucketIndex
from routeproof.model.filters import Attributes, Constant
from routeproof.model.filters.interface import exact

Column: TypeAlias = Any
"""A numpy array, a row each."""

Plain: TypeAlias = Mapping[str, Constant]
"""Plain attributes of an event."""

PAIRS = 1 << 18
"""Most pairs of an event and a filter that are compared at a time, some 50 bytes each."""


def attributes_of(event: Plain, names: Iterable[str] | None) -> Attributes:
    """The event as far as these names go; None is all of them."""
    return Attributes.of(
        {name: exact(v) if isinstance(v, float) else v for name, v in event.items() if names is None or name in names}
    )


def matching_pairs(index: BucketIndex, events: Sequence[Plain]) -> tuple[Column, Column]:
    """Pairs of an event's place and a number that it matches, in order; those of one event as the index finds them."""
    if not events:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    possible: dict[Bucket, list[int]] = {}
    for places in _alike(index.compared, events):
        for bucket in index.possible(index.asked(events[places[0]])):
            possible.setdefault(bucket, []).extend(places)
    if len(events) > 1 and sum(len(bucket.groups) * len(places) for bucket, places in possible.items()) > PAIRS:
        half = len(events) // 2
        (first, some), (last, others) = (matching_pairs(index, some) for some in (events[:half], events[half:]))
        return np.concatenate((first, last + half)), np.concatenate((some, others))
    return _Pairs(index, events).of(sorted(possible.items(), key=lambda each: each[0].place))


def _alike(compared: set[str], events: Iterable[Plain]) -> Iterable[list[int]]:
    """Places of events with the same attributes, and the same values of those that are compared."""
    alike: dict[tuple[object, ...], list[int]] = {}
    of_names: dict[tuple[str, ...], list[str]] = {}
    for place, event in enumerate(events):
        names = tuple(event)
        some = of_names.get(names)
        if some is None:
            some = of_names[names] = [name for name in names if name in compared]
        values = [(type(event[name]), event[name]) for name in some]  # to Python, True is 1
        alike.setdefault((names, *values), []).append(place)
    return alike.values()


class _Pairs:
    """Pairs of events and groups. `_groups`: the groups that may be in one, in order."""

    def __init__(self, index: BucketIndex, events: Sequence[Plain]) -> None:
        self._index, self._events = index, events
        self._groups: list[Group] = []
        self._found: list[tuple[Column, Column]] = []
        self._small: dict[tuple[str, ...], list[tuple[int, list[int]]]] = {}
        """By the attributes with ranges, the groups of small buckets, each with the events that may match it."""
        self._values: dict[str, Column] = {}

    def of(self, possible: Iterable[tuple[Bucket, list[int]]]) -> tuple[Column, Column]:
        for bucket, places in possible:
            if bucket.key.others:
                self._ask(bucket, places)
            elif bucket.columns is not None:
                self._look_in_columns(bucket, places)
            else:
                small = self._small.setdefault(bucket.key.ranges, [])
                small += ((number, places) for number, _ in enumerate(bucket.groups, len(self._groups)))
                self._groups += bucket.groups
        for ranges, those in self._small.items():
            self._compare(ranges, those)
        return self._numbers()

    def _ask(self, bucket: Bucket, places: Iterable[int]) -> None:
        """Asks each filter."""
        for place in places:
            groups = bucket.matching(attributes_of(self._events[place], self._index.attributes))
            numbers = len(self._groups) + np.arange(len(groups))
            self._groups += groups
            self._found.append((np.full(len(groups), place), numbers))

    def _look_in_columns(self, bucket: Bucket, places: Sequence[int]) -> None:
        assert bucket.columns is not None, "a large bucket"
        which = np.array(places, np.int64)
        flags = bucket.columns.holding([self._value(name)[which] for name in bucket.key.ranges])
        (used,) = np.nonzero(flags.any(axis=0))
        at, numbers = np.nonzero(flags[:, used])
        self._found.append((which[at], len(self._groups) + numbers))
        self._groups += (bucket.groups[row] for row in used.tolist())

    def _compare(self, ranges: Sequence[str], those: Sequence[tuple[int, list[int]]]) -> None:
        """Compares each of these groups with its events."""
        sizes = [len(places) for _, places in those]
        events = np.fromiter(chain.from_iterable(places for _, places in those), np.int64, sum(sizes))
        row = np.repeat(np.arange(len(those)), sizes)
        ends = np.array([self._groups[number].ends_of(ranges) for number, _ in those]).T
        holds = np.ones(len(events), np.bool_)
        for place, name in enumerate(ranges):
            value = self._value(name)[events]
            holds &= (ends[2 * place][row] <= value) & (ends[2 * place + 1][row] <= -value)
        numbers = np.array([number for number, _ in those], np.int64)
        self._found.append((events[holds], numbers[row[holds]]))

    def _value(self, name: str) -> Column:
        """The number that each event has for an attribute; a float that is in no range where it has none."""
        known = self._values.get(name)
        if known is None:
            values = (event.get(name) for event in self._events)
            numbers = [value if type(value) is float or type(value) is int else np.nan for value in values]
            known = self._values[name] = np.array(numbers, np.float64)
        return known

    def _numbers(self) -> tuple[Column, Column]:
        """The pairs in order, and of each group its numbers."""
        nothing = np.empty(0, np.int64)
        places = np.concatenate([nothing, *(some for some, _ in self._found)])
        groups = np.concatenate([nothing, *(some for _, some in self._found)])
        order = np.lexsort((groups, places))
        used, which = np.unique(groups[order], return_inverse=True)
        those = [self._groups[number].numbers for number in used.tolist()]
        sizes = np.array([len(numbers) for numbers in those], np.int64)
        every = np.fromiter(chain.from_iterable(those), np.int64, int(sizes.sum()))
        counts = sizes[which]
        begins = (np.cumsum(sizes) - sizes)[which] - (np.cumsum(counts) - counts)
        return np.repeat(places[order], counts), every[np.repeat(begins, counts) + np.arange(int(counts.sum()))]
