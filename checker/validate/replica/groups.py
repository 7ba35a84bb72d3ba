"""What the indexes hold and find: a filter, and who has it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from attrs import Factory, define

from routeproof.model.filters import Event, Filter


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
