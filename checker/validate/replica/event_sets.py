"""An index of event sets: for each event, whose sets it is in."""

from __future__ import annotations

from routeproof.checker.validate.replica.bits import numbers_of
from routeproof.checker.validate.replica.groups import Group, Places
from routeproof.model.filters import Event, EventSet, Filter, FilterError


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
            raise FilterError("a set of events was asked about a table of attributes; expected an event number")
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
