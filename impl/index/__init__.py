"""The tables of a broker, indexed: which subscriptions an event matches, and which a neighbour could use.

`Matching` is the subscription table, by the hop that each subscription came from. Each hop has an index of its own, so
that a publication stops looking at a hop as soon as one subscription from there matches. Equal filters are indexed
once.

`Candidates` is what one neighbour U could use: the subscriptions from elsewhere that intersect one of its
advertisements. Each filter that is a candidate remembers one advertisement of U's that draws it. A new advertisement
looks for filters that none drew before; a withdrawn one, only for another advertisement for each filter that it drew.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from attrs import Factory, define

from routeproof.impl.index.covering import CandidateGroup, Covering, Everything, Settlement, Wanted
from routeproof.impl.index.filter_index import FilterIndex
from routeproof.impl.index.profile import IN_ORDER, FilterProfile, ProfiledSubscription, Roster, Spans
from routeproof.model.filters import Event
from routeproof.model.overlay import Node


@define
class _Hop:
    index: FilterIndex = Factory(FilterIndex)
    rosters: dict[FilterProfile, Roster] = Factory(dict)


class Matching:
    """An entry that is to come from elsewhere is removed, changed, and added again."""

    def __init__(self, hops: Iterable[Node]) -> None:
        self._hops = {hop: _Hop() for hop in hops}

    def add(self, entry: ProfiledSubscription) -> None:
        hop = self._hops[entry.source]
        roster = hop.rosters.get(entry.profile)
        if roster is None:
            hop.index.add(entry.profile)
            hop.rosters[entry.profile] = Roster((entry,))
        else:
            roster.add(entry)

    def remove(self, entry: ProfiledSubscription) -> None:
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

    def all_from(self, source: Node, event: Event, spans: Spans) -> list[ProfiledSubscription]:
        """In the order of ids."""
        hop = self._hops[source]
        matching = [entry for profile in hop.index.matching(event, spans) for entry in hop.rosters[profile]]
        matching.sort(key=IN_ORDER)
        return matching

    def overlapping(self, profile: FilterProfile, besides: Node) -> Iterator[ProfiledSubscription]:
        """From every hop but one."""
        for source, hop in self._hops.items():
            if source != besides:
                for each in hop.index.overlapping(profile):
                    yield from hop.rosters[each]


# -- Candidates for a neighbour ----------------------------------------------------------------------------------------


class Candidates:
    """Hears of entries that did not come from U, and of no others (COV-3), and settles after each step."""

    def __init__(self, policy: str) -> None:
        self._advertised = FilterIndex()
        self._advertisements: dict[FilterProfile, int] = {}
        self._drawn_by: dict[FilterProfile, dict[CandidateGroup, None]] = {}
        self._groups: dict[FilterProfile, CandidateGroup] = {}
        self._wanted: Wanted = Everything() if policy == "none" else Covering(lazy=policy == "lazy")

    def subscribe(self, entry: ProfiledSubscription) -> None:
        """RTE-3: a candidate is what intersects an advertisement that came from U."""
        if entry.profile in self._groups:
            self._join(entry, self._groups[entry.profile].drawn_by)
        elif (advertised := next(self._advertised.overlapping(entry.profile), None)) is not None:
            self._join(entry, advertised)

    def unsubscribe(self, entry: ProfiledSubscription) -> None:
        group = self._groups.get(entry.profile)
        if group is not None:
            self._leave(entry, group)
            if not group.roster:
                del self._drawn_by[group.drawn_by][group]

    def advertise(self, advertised: FilterProfile, intersecting: Iterable[ProfiledSubscription]) -> None:
        """RTE-4: what was waiting is drawn. Where a wider advertisement came before, nothing was."""
        waiting = next(self._advertised.covering(advertised), None) is None
        self._learn(advertised)
        if waiting:
            for entry in intersecting:
                group = self._groups.get(entry.profile)
                if group is None or not group.roster.has(entry):
                    self._join(entry, advertised)

    def unadvertise(self, advertised: FilterProfile) -> None:
        """RTE-7: what only this advertisement drew is no longer drawn."""
        self._advertisements[advertised] -= 1
        if self._advertisements[advertised]:
            return
        del self._advertisements[advertised]
        self._advertised.remove(advertised)
        for group in self._drawn_by.pop(advertised):
            other = next(self._advertised.overlapping(group.profile), None)
            if other is None:
                for entry in list(group.roster):
                    self._leave(entry, group)
            else:
                group.drawn_by = other
                self._drawn_by[other][group] = None

    def settle(self) -> Settlement:
        return self._wanted.settle()

    def sent(self) -> list[ProfiledSubscription]:
        return self._wanted.sent(self._groups.values())

    def restore(
        self,
        advertised: Iterable[FilterProfile],
        sent: Iterable[ProfiledSubscription],
        others: Iterable[ProfiledSubscription],
    ) -> bool:
        """Into an empty one. Whether these can be the tables of a broker that has settled."""
        for profile in advertised:
            self._learn(profile)
        told = dict.fromkeys(sent)
        for entry in told:
            self.subscribe(entry)
        adopted = self._wanted.adopt()
        for entry in others:
            self.subscribe(entry)
        return set(adopted) == set(told) and self._is_settled()

    def _is_settled(self) -> bool:
        return not self.settle()

    def _learn(self, advertised: FilterProfile) -> None:
        if advertised not in self._advertisements:
            self._advertisements[advertised] = 0
            self._advertised.add(advertised)
            self._drawn_by[advertised] = {}
        self._advertisements[advertised] += 1

    def _join(self, entry: ProfiledSubscription, advertised: FilterProfile) -> None:
        group = self._groups.get(entry.profile)
        if group is None:
            group = self._groups[entry.profile] = CandidateGroup(entry.profile, advertised)
            self._drawn_by[advertised][group] = None
        group.roster.add(entry)
        self._wanted.joined(group, entry)

    def _leave(self, entry: ProfiledSubscription, group: CandidateGroup) -> None:
        group.roster.drop(entry)
        self._wanted.left(group, entry)
        if not group.roster:
            del self._groups[entry.profile]
