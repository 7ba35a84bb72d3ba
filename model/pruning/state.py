"""State of a broker of the pruning protocol in addition to its tables. `spec/pruning.md`, State of a broker."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self

from attrs import evolve, frozen

from routeproof.model.filters import Event
from routeproof.model.messages import Subscription, Unsubscribe
from routeproof.model.overlay import Node
from routeproof.model.tables import Tables, by_id, replaced


@frozen(cache_hash=True)
class Row:
    """STA-6: a publication that was delivered, with its header.

    `came` is given where the header is noted as it arrived (STA-9): what the publication was, and the hop it came from.
    """

    publication: str
    distance: int
    count: int
    came: tuple[Event, Node] | None = None


Rows = tuple[tuple[Subscription, str, tuple[Row, ...]], ...]
"""Per local subscription and advertisement id, in the order of ids; a pair's rows in the order of delivery."""


@frozen(cache_hash=True)
class PruningTables(Tables):
    """Entries in the order of ids (`held`: of arrival), so that equal knowledge is an equal value."""

    retained: tuple[tuple[Node, tuple[Subscription, ...]], ...] = ()
    """Per neighbour, what is still in `sent` there though it was withdrawn here. Like `sent`: no empty entries."""
    rows: Rows = ()
    held: tuple[tuple[Node, Unsubscribe], ...] = ()
    congested: bool = False

    def retained_for(self, neighbour: Node) -> tuple[Subscription, ...]:
        return next((subs for n, subs in self.retained if n == neighbour), ())

    def with_retained(self, neighbour: Node, subscriptions: Iterable[Subscription]) -> Self:
        """Replaces the whole set."""
        return evolve(self, retained=replaced(self.retained, neighbour, subscriptions))

    def rows_of(self, subscription: Subscription, advertisement: str) -> tuple[Row, ...]:
        return next((rows for s, a, rows in self.rows if (s, a) == (subscription, advertisement)), ())

    def with_row(self, subscription: Subscription, advertisement: str, row: Row, window: int) -> Self:
        """STA-7: the latest `window` of a pair are kept."""
        rows = (*self.rows_of(subscription, advertisement), row)[-window:]
        others = (entry for entry in self.rows if entry[:2] != (subscription, advertisement))
        entries = sorted([*others, (subscription, advertisement, rows)], key=lambda e: (by_id(e[0]), e[1]))
        return evolve(self, rows=tuple(entries))

    def without_rows(self, subscription: Subscription) -> Self:
        """STA-7: what is withdrawn by its client has no statistics any more."""
        return evolve(self, rows=tuple(entry for entry in self.rows if entry[0] != subscription))
