"""Statistics of publications on their way to local subscribers, and how far a withdrawal is to go because of them.

`Statistics` is the database of a subscriber's broker (STA-6): for each local subscription and advertisement the latest
publications that were delivered, with the numbers of their headers. Critical distances are read off it (CRD-2).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

from routeproof.model.filters import Event
from routeproof.model.messages import Publish, Subscription
from routeproof.model.overlay import LOCAL, Node
from routeproof.model.pruning.messages import met
from routeproof.model.pruning.parameters import PruningParameters
from routeproof.model.pruning.state import Row, Rows
from routeproof.model.tables import by_id

Distances = tuple[int | None, ...]
"""One for each threshold; None is without end."""


class Statistics:
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
