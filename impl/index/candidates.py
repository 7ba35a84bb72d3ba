"""Which subscriptions a neighbour could use: those from elsewhere that intersect one of its advertisements.

`Candidates` is how one neighbour U looks from here. Each filter that is a candidate remembers one advertisement of U's
that draws it. A new advertisement looks for filters that none drew before; a withdrawn one, only for another
advertisement for each filter that it drew itself.
"""

from __future__ import annotations

from collections.abc import Iterable

from routeproof.impl.index.covering import Covering, Everything, Group, Settlement, Wanted
from routeproof.impl.index.filter_index import FilterIndex
from routeproof.impl.index.profile import Entry, Profile


class Candidates:
    """Hears of entries that did not come from U, and of no others (COV-3), and settles after each step."""

    def __init__(self, policy: str) -> None:
        self._advertised = FilterIndex()
        self._advertisements: dict[Profile, int] = {}
        self._drawn_by: dict[Profile, dict[Group, None]] = {}
        self._groups: dict[Profile, Group] = {}
        self._wanted: Wanted = Everything() if policy == "none" else Covering(lazy=policy == "lazy")

    def subscribe(self, entry: Entry) -> None:
        """RTE-3: a candidate is what intersects an advertisement that came from U."""
        if entry.profile in self._groups:
            self._join(entry, self._groups[entry.profile].drawn_by)
        elif (advertised := next(self._advertised.overlapping(entry.profile), None)) is not None:
            self._join(entry, advertised)

    def unsubscribe(self, entry: Entry) -> None:
        group = self._groups.get(entry.profile)
        if group is not None:
            self._leave(entry, group)
            if not group.roster:
                del self._drawn_by[group.drawn_by][group]

    def advertise(self, advertised: Profile, intersecting: Iterable[Entry]) -> None:
        """RTE-4: what was waiting is drawn. Where a wider advertisement came before, nothing was."""
        waiting = next(self._advertised.covering(advertised), None) is None
        self._learn(advertised)
        if waiting:
            for entry in intersecting:
                group = self._groups.get(entry.profile)
                if group is None or not group.roster.has(entry):
                    self._join(entry, advertised)

    def unadvertise(self, advertised: Profile) -> None:
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

    def sent(self) -> list[Entry]:
        return self._wanted.sent(self._groups.values())

    def restore(self, advertised: Iterable[Profile], sent: Iterable[Entry], others: Iterable[Entry]) -> bool:
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

    def _learn(self, advertised: Profile) -> None:
        if advertised not in self._advertisements:
            self._advertisements[advertised] = 0
            self._advertised.add(advertised)
            self._drawn_by[advertised] = {}
        self._advertisements[advertised] += 1

    def _join(self, entry: Entry, advertised: Profile) -> None:
        group = self._groups.get(entry.profile)
        if group is None:
            group = self._groups[entry.profile] = Group(entry.profile, advertised)
            self._drawn_by[advertised][group] = None
        group.roster.add(entry)
        self._wanted.joined(group, entry)

    def _leave(self, entry: Entry, group: Group) -> None:
        group.roster.drop(entry)
        self._wanted.left(group, entry)
        if not group.roster:
            del self._groups[entry.profile]
