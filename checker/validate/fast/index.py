"""Indexes of filters: event sets, predicate filters, and both kinds.

An event set answers every query by a union or an intersection of masks over the groups. For predicate filters the index
first finds the buckets that can have an answer, then the answers in each. Masks over the buckets decide for all at once
which buckets can: those whose only value for an attribute is the given one, and those that constrain it loosely, to
more than one value. A bucket is searched when every attribute that it constrains is accounted for, which is counted
(`in_all_of_theirs`), or when every attribute of the query is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import chain
from typing import Protocol, TypeAlias

from attrs import Factory, define

from routeproof.checker.validate.fast.bits import Numbers, Places, Tally, in_all_of_theirs, numbers_of
from routeproof.checker.validate.fast.buckets import Bucket, Group, Item, Key, item, only_value
from routeproof.model.filters import Attributes, Constant, Event, EventSet, Filter, FilterError, PredicateFilter, Value
from routeproof.model.filters.interface import exact
from routeproof.model.filters.sets import ValueSet


class Index(Protocol):
    """Finds, among the groups it holds, what asking every filter would find, each once, in no particular order."""

    def add(self, group: Group) -> None: ...

    def remove(self, group: Group) -> None: ...

    def matching(self, event: Event) -> Iterable[Group]: ...

    def covering(self, asked: Filter) -> Iterable[Group]: ...

    def covered(self, asked: Filter) -> Iterable[Group]: ...

    def overlapping(self, asked: Filter) -> Iterable[Group]: ...


# -- event sets --------------------------------------------------------------------------------------------------------


class EventSetIndex:
    """Every question is a union or an intersection of a few masks over the groups."""

    def __init__(self) -> None:
        self._groups: dict[int, Group] = {}
        self._places = Places()
        self._with: dict[int, int] = {}
        """Per event, the groups whose sets it is in."""

    def add(self, group: Group) -> None:
        group.place = self._places.take()
        self._groups[group.place] = group
        for event in _events(group.filter):
            self._with[event] = self._with.get(event, 0) | 1 << group.place

    def remove(self, group: Group) -> None:
        self._places.give_back(group.place)
        del self._groups[group.place]
        for event in _events(group.filter):
            self._with[event] &= ~(1 << group.place)

    def matching(self, event: Event) -> list[Group]:
        if not isinstance(event, int):
            raise FilterError("a set of event numbers cannot match a table of attributes; expected an event number")
        return self._listed(self._with.get(event, 0))

    def covering(self, asked: Filter) -> list[Group]:
        found = self._places.everyone
        for event in _events(asked):
            found &= self._with.get(event, 0)
        return self._listed(found)

    def covered(self, asked: Filter) -> list[Group]:
        inside = frozenset(_events(asked))
        found = self._places.everyone
        for event, groups in self._with.items():
            if event not in inside:
                found &= ~groups
        return self._listed(found)

    def overlapping(self, asked: Filter) -> list[Group]:
        found = 0
        for event in _events(asked):
            found |= self._with.get(event, 0)
        return self._listed(found)

    def _listed(self, found: int) -> list[Group]:
        return [self._groups[place] for place in numbers_of(found)]


def _events(each: Filter) -> tuple[int, ...]:
    if not isinstance(each, EventSet):
        raise FilterError("a set of events was compared with a predicate filter; expected filters of one kind")
    return each.events


# -- predicates --------------------------------------------------------------------------------------------------------

ANSWERED = 1 << 10
"""Answers that are remembered, of which buckets: some 300 bytes each."""

Asked: TypeAlias = tuple[tuple[str, Item | None], ...]
"""Attributes of an event, each with its value, if some bucket constrains it to this one."""


@define
class _Attribute:
    """The buckets that constrain it: to which one value, or loosely."""

    only: dict[Item, Numbers] = Factory(dict)
    any_only: Numbers = Factory(Numbers)
    loose: Numbers = Factory(Numbers)

    def with_only(self, one: Item | None) -> int:
        """The buckets that constrain it to this one value; None is none."""
        found = None if one is None else self.only.get(one)
        return 0 if found is None else found.mask

    def known(self, value: Value) -> Item | None:
        """The value as a key, if some bucket constrains it to this one."""
        if not self.only:  # a fraction takes long to be hashed
            return None
        one = item(value)
        return one if one in self.only else None


class BucketIndex:
    """Buckets by key, and per attribute who constrains it how."""

    def __init__(self) -> None:
        self._by_key: dict[Key, Bucket] = {}
        self._by_place: dict[int, Bucket] = {}
        self._places = Places()
        self._attributes: dict[str, _Attribute] = {}
        self._totals = Tally()
        """How many attributes each bucket constrains."""
        self._lenient = Numbers()
        """The buckets that a missing attribute may satisfy: the count says nothing about whether these match."""
        self._answered: dict[Asked, list[Bucket]] = {}

    def add(self, group: Group) -> None:
        key = Key.of(_predicates(group.filter))
        bucket = self._by_key.get(key)
        if bucket is None:
            bucket = self._by_key[key] = Bucket(key, self._places.take())
            self._by_place[bucket.place] = bucket
            self._enter(bucket, True)
        bucket.add(group)

    def __iter__(self) -> Iterator[Group]:
        return (group for bucket in self._by_key.values() for group in bucket.groups)

    @property
    def attributes(self) -> Collection[str]:
        """The attributes that some filter constrains, or did."""
        return self._attributes.keys()

    def remove(self, group: Group) -> None:
        key = Key.of(_predicates(group.filter))
        bucket = self._by_key[key]
        bucket.remove(group)
        if not bucket.groups:
            del self._by_key[key], self._by_place[bucket.place]
            self._enter(bucket, False)
            self._places.give_back(bucket.place)

    def matching(self, event: Event) -> list[Group]:
        if not isinstance(event, Attributes):
            raise FilterError("a predicate filter cannot match an event number; expected a table of attributes")
        possible = self.possible(self.asked(event.by_name))
        return [group for bucket in possible for group in bucket.matching(event)]

    @property
    def compared(self) -> set[str]:
        """The attributes that some bucket constrains to one value."""
        return {name for name, each in self._attributes.items() if each.only}

    def asked(self, event: Mapping[str, Constant] | Mapping[str, Value]) -> Asked:
        """Returns what is asked of the buckets for an event."""
        found = []
        for name, value in event.items():
            attribute = self._attributes.get(name)
            if attribute is not None:
                one = attribute.known(exact(value) if isinstance(value, float) else value) if attribute.only else None
                found.append((name, one))
        return tuple(found)

    def possible(self, asked: Asked) -> list[Bucket]:
        """Which buckets an event may match: of these attributes it has this one value, or another one (None)."""
        found = self._answered.get(asked)
        if found is None:
            if len(self._answered) >= ANSWERED:
                self._answered.clear()
            masks = [self._attributes[name].with_only(one) | self._attributes[name].loose.mask for name, one in asked]
            found = self._answered[asked] = self._listed(self._accounted_for(masks) | self._lenient.mask)
        return found

    def covering(self, asked: Filter) -> Iterator[Group]:
        mine = _predicates(asked)
        accounted = []
        for name, values in mine.constraints:
            attribute = self._attributes.get(name)
            if attribute is not None:
                accounted.append(attribute.with_only(only_value(values)) | attribute.loose.mask)
        for bucket in self._listed(self._accounted_for(accounted)):
            yield from bucket.covering(mine)

    def covered(self, asked: Filter) -> Iterator[Group]:
        mine = _predicates(asked)
        possible = self._places.everyone
        wide: list[tuple[_Attribute, ValueSet]] = []
        for name, values in mine.constraints:
            attribute = self._attributes.get(name)
            if attribute is None:
                return
            one = only_value(values)
            if one is not None:
                possible &= attribute.with_only(one)
            else:
                possible &= attribute.any_only.mask | attribute.loose.mask
                wide.append((attribute, values))
        for attribute, values in wide:
            possible &= attribute.loose.mask | _only_in(attribute, values, possible)
        for bucket in self._listed(possible):
            yield from bucket.covered(mine)

    def overlapping(self, asked: Filter) -> Iterator[Group]:
        mine = _predicates(asked)
        possible = self._places.everyone
        for name, values in mine.constraints:
            attribute = self._attributes.get(name)
            if attribute is not None:
                one = only_value(values)
                if one is not None:
                    possible &= ~attribute.any_only.mask | attribute.with_only(one)
                else:
                    possible &= ~attribute.any_only.mask | _only_in(attribute, values, possible)
        for bucket in self._listed(possible):
            yield from bucket.overlapping(mine)

    def _accounted_for(self, masks: list[int]) -> int:
        return in_all_of_theirs(masks, self._totals, self._places.everyone)

    def _listed(self, buckets: int) -> list[Bucket]:
        return [self._by_place[place] for place in numbers_of(buckets)]

    def _enter(self, bucket: Bucket, belongs: bool) -> None:
        """A bucket came, or went."""
        self._answered.clear()
        for name, one in bucket.key.items:
            attribute = self._attributes.setdefault(name, _Attribute())
            attribute.any_only.set(bucket.place, belongs)
            attribute.only.setdefault(one, Numbers()).set(bucket.place, belongs)
            if not attribute.only[one]:
                del attribute.only[one]
        for name in (*bucket.key.ranges, *bucket.key.others):
            self._attributes.setdefault(name, _Attribute()).loose.set(bucket.place, belongs)
        self._lenient.set(bucket.place, belongs and bucket.key.lenient)
        self._totals.set(bucket.place, bucket.key.size if belongs else 0)


def _only_in(attribute: _Attribute, values: ValueSet, possible: int) -> int:
    """The buckets whose one value is among these; all, where there are more values to look at than buckets."""
    if len(attribute.only) > possible.bit_count():
        return attribute.any_only.mask
    found = 0
    for one, buckets in attribute.only.items():
        value: Value = one[0] if isinstance(one, tuple) else one
        if value in values:
            found |= buckets.mask
    return found


def _predicates(each: Filter) -> PredicateFilter:
    if not isinstance(each, PredicateFilter):
        raise FilterError("a predicate filter was compared with a set of events; expected filters of one kind")
    return each


# -- both kinds --------------------------------------------------------------------------------------------------------


class ClosedIndex:
    """Advertisements that say what they do not mention, of which a dialect has few: each is asked."""

    def __init__(self) -> None:
        self._groups: dict[Filter, Group] = {}

    def __iter__(self) -> Iterator[Group]:
        return iter(self._groups.values())

    def add(self, group: Group) -> None:
        self._groups[group.filter] = group

    def remove(self, group: Group) -> None:
        del self._groups[group.filter]

    def matching(self, event: Event) -> list[Group]:
        return [group for group in self if group.filter.matches(event)]

    def covering(self, asked: Filter) -> list[Group]:
        return [group for group in self if group.filter.covers(asked)]

    def covered(self, asked: Filter) -> list[Group]:
        return [group for group in self if asked.covers(group.filter)]

    def overlapping(self, asked: Filter) -> list[Group]:
        return [group for group in self if group.filter.overlaps(asked)]


class BothKinds:
    """Each question goes to the index of its kind."""

    def __init__(self) -> None:
        self._sets = EventSetIndex()
        self.predicates = BucketIndex()
        self._closed = ClosedIndex()

    def add(self, group: Group) -> None:
        self._of(group.filter).add(group)

    def remove(self, group: Group) -> None:
        self._of(group.filter).remove(group)

    def matching(self, event: Event) -> Iterable[Group]:
        if not isinstance(event, Attributes):
            return self._sets.matching(event)
        return self.predicates.matching(event) + self._closed.matching(event)

    def covering(self, asked: Filter) -> Iterable[Group]:
        if not isinstance(asked, PredicateFilter):
            return self._sets.covering(asked)
        if asked.is_open:
            return chain(self.predicates.covering(asked), self._closed.covering(asked))
        return [group for group in chain(self.predicates, self._closed) if group.filter.covers(asked)]

    def covered(self, asked: Filter) -> Iterable[Group]:
        if not isinstance(asked, PredicateFilter):
            return self._sets.covered(asked)
        if asked.is_open:
            return chain(self.predicates.covered(asked), self._closed.covered(asked))
        return [group for group in chain(self.predicates, self._closed) if asked.covers(group.filter)]

    def overlapping(self, asked: Filter) -> Iterable[Group]:
        if not isinstance(asked, PredicateFilter):
            return self._sets.overlapping(asked)
        if asked.is_open:
            return chain(self.predicates.overlapping(asked), self._closed.overlapping(asked))
        return [group for group in chain(self.predicates, self._closed) if asked.overlaps(group.filter)]

    @property
    def asked_for(self) -> Collection[str] | None:
        """The attributes on which it depends what an event matches; None for all."""
        return None if any(self._closed) else self.predicates.attributes

    def _of(self, each: Filter) -> Index:
        if isinstance(each, PredicateFilter):
            return self.predicates if each.is_open else self._closed
        return self._sets


def matches(its: Filter, event: Event) -> bool:
    return isinstance(its, PredicateFilter) == isinstance(event, Attributes) and its.matches(event)


def covers(wide: Filter, narrow: Filter) -> bool:
    """Compares single values first: a non-empty set is within one that holds one value only if it is that set."""
    if type(wide) is not type(narrow):
        return False
    if isinstance(wide, PredicateFilter) and isinstance(narrow, PredicateFilter) and narrow.is_open:
        only = items_of(narrow)
        for name, one in items_of(wide).items():
            if only.get(name) != one:
                return False
    return wide.covers(narrow)


def overlaps(one: Filter, other: Filter) -> bool:
    """Compares single values first: two sets that hold one value each overlap only if they are the same set."""
    if type(one) is not type(other):
        return False
    if isinstance(one, PredicateFilter) and isinstance(other, PredicateFilter):
        only = items_of(other)
        for name, value in items_of(one).items():
            if only.get(name, value) != value:
                return False
    return one.overlaps(other)


@lru_cache(1 << 13)
def items_of(each: PredicateFilter) -> dict[str, Item]:
    """The attributes that a filter constrains to one value, each with that value."""
    return {name: one for name, values in each.constraints if (one := only_value(values)) is not None}
