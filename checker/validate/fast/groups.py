"""Groups of filters that indexes have, and the index of event sets: for each event, whose sets it is in."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from attrs import Factory, define

from routeproof.checker.validate.fast.bits import numbers_of
from routeproof.model.filters import Event, EventSet, Filter, FilterError


@define(eq=False)
class Group:
    """All that have one filter, by number. `place` belongs to the index that holds the group."""

    filter: Filter
    numbers: list[int] = Factory(list)
    place: int = -1


class Index(Protocol):
    """Finds, among the groups it holds, what asking every filter would find, each once, in no particular order."""

    def add(self, group: Group) -> None: ...

    def remove(self, group: Group) -> None: ...

    def matching(self, event: Event) -> Iterable[Group]: ...

    def covering(self, asked: Filter) -> Iterable[Group]: ...

    def covered(self, asked: Filter) -> Iterable[Group]: ...

    def overlapping(self, asked: Filter) -> Iterable[Group]: ...


class Places:
    """Hands out small numbers, and those that came back before new ones."""

    def __init__(self) -> None:
        self.everyone = 0
        self._back: list[int] = []
        self._next = 0

    def take(self) -> int:
        if self._back:
            place = self._back.pop()
        else:
            place, self._next = self._next, self._next + 1
        self.everyone |= 1 << place
        return place

    def give_back(self, place: int) -> None:
        self._back.append(place)
        self.everyone &= ~(1 << place)


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
