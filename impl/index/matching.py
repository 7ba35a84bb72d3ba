"""The subscription table, by the hop that each subscription came from, and which of it an event matches.

Each hop has an index of its own, so that a publication stops looking at a hop as soon as one subscription from there
matches. Equal filters are indexed once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from attrs import Factory, define

from routeproof.impl.index.filter_index import FilterIndex
from routeproof.impl.index.profile import IN_ORDER, Entry, Profile, Roster
from routeproof.impl.index.sketch import Spans
from routeproof.model.filters import Event
from routeproof.model.overlay import Node


@define
class _Hop:
    index: FilterIndex = Factory(FilterIndex)
    rosters: dict[Profile, Roster] = Factory(dict)


class Matching:
    """An entry that is to come from elsewhere is removed, changed, and added again."""

    def __init__(self, hops: Iterable[Node]) -> None:
        self._hops = {hop: _Hop() for hop in hops}

    def add(self, entry: Entry) -> None:
        hop = self._hops[entry.source]
        roster = hop.rosters.get(entry.profile)
        if roster is None:
            hop.index.add(entry.profile)
            hop.rosters[entry.profile] = Roster((entry,))
        else:
            roster.add(entry)

    def remove(self, entry: Entry) -> None:
        hop = self._hops[entry.source]
        roster = hop.rosters[entry.profile]
        roster.drop(entry)
        if not roster:
            del hop.rosters[entry.profile]
            hop.index.remove(entry.profile)

    def any_from(self, source: Node, event: Event, spans: Spans) -> bool:
        return next(self._hops[source].index.matching(event, spans), None) is not None

    def some_from(self, source: Node, event: Event, spans: Spans, most: int) -> int:
        """How many match; it stops counting at `most`."""
        hop = self._hops[source]
        found = 0
        for profile in hop.index.matching(event, spans):
            found += len(hop.rosters[profile])
            if found >= most:
                return most
        return found

    def all_from(self, source: Node, event: Event, spans: Spans) -> list[Entry]:
        """In the order of ids."""
        hop = self._hops[source]
        matching = [entry for profile in hop.index.matching(event, spans) for entry in hop.rosters[profile]]
        matching.sort(key=IN_ORDER)
        return matching

    def overlapping(self, profile: Profile, besides: Node) -> Iterator[Entry]:
        """From every hop but one."""
        for source, hop in self._hops.items():
            if source != besides:
                for each in hop.index.overlapping(profile):
                    yield from hop.rosters[each]
