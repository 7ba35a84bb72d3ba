"""Entries of the subscription table, and rosters: those of one filter, in the order of ids."""

from __future__ import annotations

from bisect import bisect_left, insort
from operator import attrgetter

from attrs import define, field

from routeproof.impl.profile import Profile
from routeproof.model.messages import Subscription
from routeproof.model.overlay import Node
from routeproof.model.tables import by_id

IN_ORDER = attrgetter("key")


@define(eq=False, weakref_slot=False)
class Entry:
    """A subscription in the table; `source` is where it came from, `key` its place in the order of ids."""

    subscription: Subscription
    profile: Profile
    source: Node
    key: tuple[int, str] = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.key = by_id(self.subscription)


class Roster(list[Entry]):
    """Entries with one filter. Most have one entry; where many share a filter, none is looked for one by one."""

    __slots__ = ()

    def add(self, entry: Entry) -> None:
        insort(self, entry, key=IN_ORDER)

    def drop(self, entry: Entry) -> None:
        del self[bisect_left(self, entry.key, key=IN_ORDER)]

    def has(self, entry: Entry) -> bool:
        at = bisect_left(self, entry.key, key=IN_ORDER)
        return at < len(self) and self[at] is entry
