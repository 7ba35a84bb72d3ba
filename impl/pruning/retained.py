"""Retained subscriptions: what a broker keeps at a neighbour after it was withdrawn here, in one pool with the
candidates.

`Pool` is how one neighbour U looks from a broker that prunes. An entry that is retained for U did not leave its group
when it left the table. So it quenches, and is quenched, as it did before (PRN-9), at no cost.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable

from routeproof.impl.index.covering import Covering, Due, Group, Settlement
from routeproof.impl.index.filter_index import CoveredIndex
from routeproof.impl.index.profile import IN_ORDER, Entry, Profile
from routeproof.impl.index.tables import Candidates
from routeproof.model.messages import Subscription
from routeproof.model.pruning.parameters import PruningParameters


class Pool(Candidates):
    """The candidates for U and what is retained for U."""

    def __init__(self, parameters: PruningParameters) -> None:
        super().__init__(parameters.base)
        assert isinstance(self._wanted, Covering)
        self._covering = self._wanted
        self._parameters = parameters
        self._retained: dict[Subscription, Entry] = {}
        self._below = _Below() if parameters.collects else None

    # -- what comes and goes -------------------------------------------------------------------------------------------

    def subscribe(self, entry: Entry) -> None:
        former = self._retained.pop(entry.subscription, None)
        if former is None:
            super().subscribe(entry)
            return
        group = self._groups[entry.profile]  # PRN-13: it is sent already, and stays so
        group.roster[bisect_left(group.roster, entry.key, key=IN_ORDER)] = group.sent = entry
        if self._below is not None:
            self._below.add(entry.profile)

    def retain(self, entry: Entry) -> None:
        """PRN-4: it was withdrawn here, and the broker sends nothing to U."""
        self._retained[entry.subscription] = entry
        if self._below is not None:
            self._below.drop(entry.profile)

    def forget(self, entry: Entry) -> None:
        """PRN-7 without `remembers`: the broker sends nothing to U, now or later."""
        group = self._groups[entry.profile]
        self.unsubscribe(entry)
        self._covering.forget(group)

    def make_way(self, newcomer: Profile) -> None:
        """PRN-16: what a new advertisement of U would draw, though it was never weighed against it, leaves."""
        for entry in [each for each in self._retained.values() if newcomer.overlaps(each.profile)]:
            self.unsubscribe(entry)

    def _join(self, entry: Entry, advertised: Profile) -> None:
        super()._join(entry, advertised)
        if self._below is not None:
            self._below.add(entry.profile)

    def _leave(self, entry: Entry, group: Group) -> None:
        """PRN-11: what nothing draws any more leaves, retained or not."""
        super()._leave(entry, group)
        if self._retained.pop(entry.subscription, None) is None and self._below is not None:
            self._below.drop(entry.profile)

    # -- settling ------------------------------------------------------------------------------------------------------

    def settle(self, due: Due | None = None) -> Settlement:
        if self._below is not None:
            self._collect(self._below)
        settlement = self._covering.settle(due)
        if self._retained:
            replaced = [entry for entry in settlement.removals if entry.subscription in self._retained]
            for entry in replaced:  # PRN-10: something larger took its place
                self.unsubscribe(entry)
            if replaced:
                self._covering.arrange()
        return settlement

    def _collect(self, below: _Below) -> None:
        """PRN-12: what holds nothing back any more leaves."""
        if below.shrunk:
            below.shrunk = False
            for entry in [each for each in self._retained.values() if not below.any_covered(each.profile)]:
                self.unsubscribe(entry)

    def has_sent(self, entry: Entry) -> bool:
        group = self._groups.get(entry.profile)
        return group is not None and group.sent is entry

    def uncovered(self, entry: Entry) -> list[Entry]:
        """SIM-8: what would have to be sent if the withdrawal of this entry, which was sent, were passed on."""
        return self._covering.uncovered(self._groups[entry.profile], entry)

    # -- tables --------------------------------------------------------------------------------------------------------

    def retained(self) -> Iterable[Subscription]:
        return self._retained

    def _is_settled(self) -> bool:
        """Some readings leave unsent what is wanted until there is another reason to settle."""
        self._covering.arrange()
        may_owe = self._parameters.sends == "listed" or not self._parameters.remembers
        return may_owe or not self._covering.owed()


class _Below:
    """PRN-12: the filters of which there is a candidate that is not retained. `shrunk`: one has gone since."""

    def __init__(self) -> None:
        self.shrunk = False
        self._index = CoveredIndex()
        self._candidates: Counter[Profile] = Counter()

    def add(self, profile: Profile) -> None:
        if not self._candidates[profile]:
            self._index.add(profile)
        self._candidates[profile] += 1

    def drop(self, profile: Profile) -> None:
        self.shrunk = True
        self._candidates[profile] -= 1
        if not self._candidates[profile]:
            del self._candidates[profile]
            self._index.remove(profile)

    def any_covered(self, profile: Profile) -> bool:
        return next(self._index.covered(profile), None) is not None
