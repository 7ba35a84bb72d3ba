"""What a broker of the pruning protocol knows beside its tables. `spec/pruning.md`, State of a broker."""

from __future__ import annotations

from attrs import frozen

from routeproof.model.messages import Subscription, Unsubscribe
from routeproof.model.overlay import Node
from routeproof.model.tables import Tables


@frozen(cache_hash=True)
class Row:
    """STA-6: a publication that was delivered, with what its header said."""

    publication: str
    distance: int
    count: int


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
