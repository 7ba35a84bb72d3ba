"""Retention: what a broker that prunes keeps of withdrawn subscriptions, and the statistics that decide on it.

`Pool` is how one neighbour U looks from a broker that prunes: the candidates, and what is retained for U though it was
withdrawn here. An entry that is retained for U did not leave its group when it left the table. So it quenches, and is
quenched, as it did before (PRN-9), at no cost.

`StatisticsDatabase` belongs to a subscriber's broker (STA-6): for each local subscription and advertisement it has the
latest publications that were delivered, with the numbers of their headers. Critical distances are read off it (CRD-2);
they say how far a withdrawal is to go.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence

from routeproof.impl.index import Candidates
from routeproof.impl.index.covering import CandidateGroup, Covering, Due, Settlement
from routeproof.impl.index.filter_index import CoveredIndex
from routeproof.impl.index.profile import IN_ORDER, FilterProfile, ProfiledSubscription
from routeproof.model.filters import Event
from routeproof.model.messages import Publish, Subscription
from routeproof.model.overlay import LOCAL, Node
from routeproof.model.pruning.vocabulary import PruningParameters, Row, Rows, met
from routeproof.model.tables import by_id


class Pool(Candidates):
    """The candidates for U and what is retained for U."""

    def __init__(self, parameters: PruningParameters) -> None:
        super().__init__(parameters.base)
        assert isinstance(self._wanted, Covering)
        self._covering = self._wanted
        self._parameters = parameters
        self._retained: dict[Subscription, ProfiledSubscription] = {}
        self._below = _Below() if parameters.collects else None

    # -- what comes and goes -------------------------------------------------------------------------------------------

    def subscribe(self, entry: ProfiledSubscription) -> None:
        former = self._retained.pop(entry.subscription, None)
        if former is None:
            super().subscribe(entry)
            return
        group = self._groups[entry.profile]  # PRN-13: it is sent already, and stays so
        group.roster[bisect_left(group.roster, entry.key, key=IN_ORDER)] = group.sent = entry
        if self._below is not None:
            self._below.add(entry.profile)

    def retain(self, entry: ProfiledSubscription) -> None:
        """PRN-4: it was withdrawn here, and the broker sends nothing to U."""
        self._retained[entry.subscription] = entry
        if self._below is not None:
            self._below.drop(entry.profile)

    def forget(self, entry: ProfiledSubscription) -> None:
        """PRN-7 without `remembers`: the broker sends nothing to U, now or later."""
        group = self._groups[entry.profile]
        self.unsubscribe(entry)
        self._covering.forget(group)

    def make_way(self, newcomer: FilterProfile) -> None:
        """PRN-16: what a new advertisement of U would draw, though it was never weighed against it, leaves."""
        for entry in [each for each in self._retained.values() if newcomer.overlaps(each.profile)]:
            self.unsubscribe(entry)

    def _join(self, entry: ProfiledSubscription, advertised: FilterProfile) -> None:
        super()._join(entry, advertised)
        if self._below is not None:
            self._below.add(entry.profile)

    def _leave(self, entry: ProfiledSubscription, group: CandidateGroup) -> None:
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

    def has_sent(self, entry: ProfiledSubscription) -> bool:
        group = self._groups.get(entry.profile)
        return group is not None and group.sent is entry

    def uncovered(self, entry: ProfiledSubscription) -> list[ProfiledSubscription]:
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
        self._candidates: Counter[FilterProfile] = Counter()

    def add(self, profile: FilterProfile) -> None:
        if not self._candidates[profile]:
            self._index.add(profile)
        self._candidates[profile] += 1

    def drop(self, profile: FilterProfile) -> None:
        self.shrunk = True
        self._candidates[profile] -= 1
        if not self._candidates[profile]:
            del self._candidates[profile]
            self._index.remove(profile)

    def any_covered(self, profile: FilterProfile) -> bool:
        return next(self._index.covered(profile), None) is not None


Distances = tuple[int | None, ...]
"""One for each threshold; None is without end."""


class StatisticsDatabase:
    """`size` counts rows. `several`: whether more than one subscription matches an event that came from a hop, now."""

    def __init__(self, parameters: PruningParameters, several: Callable[[Event, Node], bool]) -> None:
        self._parameters = parameters
        self._several = several
        self._rows: dict[Subscription, dict[str, deque[Row]]] = {}
        self.size = 0

    def note(self, subscription: Subscription, message: Publish, sender: Node, told: Publish) -> None:
        """STA-6: it came from there with one header, and was delivered with the other."""
        publication = message.publication
        rows = self._latest(subscription, publication.of)
        if len(rows) < self._parameters.window:  # STA-7
            self.size += 1
        if self._parameters.rows == "arrived" and sender != LOCAL:
            rows.append(Row(publication.id, met(message).distance, met(message).count, (publication.event, sender)))
        else:
            rows.append(Row(publication.id, met(told).distance, met(told).count))

    def _latest(self, subscription: Subscription, advertisement: str) -> deque[Row]:
        by_advertisement = self._rows.setdefault(subscription, {})
        rows = by_advertisement.get(advertisement)
        if rows is None:
            rows = by_advertisement[advertisement] = deque(maxlen=self._parameters.window)
        return rows

    def purge(self, subscription: Subscription) -> None:
        """STA-7: its client is gone."""
        gone = self._rows.pop(subscription, {})
        self.size -= sum(map(len, gone.values()))

    def greatest_count(self, subscription: Subscription) -> int:
        """STA-8; 0 where nothing was delivered."""
        seen = self._rows.get(subscription, {}).values()
        return max((self._header(row)[1] for rows in seen for row in rows), default=0)

    def _header(self, row: Row) -> tuple[int, int]:
        """STA-9: distance and count as the table is now, where the header was noted as it arrived."""
        if row.came is None:
            return row.distance, row.count
        return (0, row.count + 1) if self._several(*row.came) else (row.distance + 1, row.count)

    def distances(self, subscription: Subscription, advertisement: str) -> Distances | None:
        """CRD-2, for each threshold. None if the list leaves this advertisement out (CRD-6)."""
        parameters = self._parameters
        rows = self._rows.get(subscription, {}).get(advertisement)
        if not rows:
            unknown: dict[str, Distances | None] = {
                "remove": (None,) * len(parameters.thresholds),
                "zero": (0,) * len(parameters.thresholds),
                "absent": None,
            }
            return unknown[parameters.without_history]
        seen = sorted(self._header(row)[0] for row in rows)
        return tuple(critical(seen, threshold, parameters.inclusive) for threshold in parameters.thresholds)

    def rows(self) -> Rows:
        return tuple(
            (subscription, advertisement, tuple(rows))
            for subscription, by_advertisement in sorted(self._rows.items(), key=lambda item: by_id(item[0]))
            for advertisement, rows in sorted(by_advertisement.items())
        )

    def restore(self, rows: Rows) -> None:
        """Into an empty one."""
        for subscription, advertisement, latest in rows:
            self._latest(subscription, advertisement).extend(latest)
            self.size += len(latest)


def critical(seen: Sequence[int], percent: int, inclusive: bool) -> int | None:
    """The least distance, of those seen in ascending order, that a share of so many percent does not exceed.

    CRD-3: of n rows, inclusively, the distance of the k-th is the one, where k is the least number with k / n >= t. In
    the other reading the share of rows *below* the distance must be *more* than t: one more than that of the k-th.
    """
    rank = -(-percent * len(seen) // 100) if inclusive else percent * len(seen) // 100 + 1
    if rank > len(seen):
        return None
    if rank == 0:
        return 0
    return max(seen[rank - 1] + (0 if inclusive else 1), 0)
