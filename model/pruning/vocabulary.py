"""Vocabulary of pruning: its readings, its messages, and the state of a broker in addition to its tables.

Readings are what the papers leave open, each a parameter with a default: `spec/pruning.md` has the table with the
reasons, and `PruningParameters.of(policy)` the defaults of a policy. Messages are the headers of publications and
withdrawals, and the signals of congestion.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, Self

from attrs import evolve, frozen

from routeproof.model.fields import AdvertisementId
from routeproof.model.filters import Event
from routeproof.model.messages import Message, MessageHeader, Publication, Publish, Subscription, Unsubscribe
from routeproof.model.overlay import Node
from routeproof.model.tables import Tables, by_id, replaced

PRUNING = ("incremental", "selective")
"""The policies of the protocol."""

THRESHOLDS = {"incremental": (60, 90), "selective": (90,)}


@frozen
class PruningParameters:
    """See spec/pruning.md, Readings."""

    thresholds: tuple[int, ...]
    cuts: tuple[int, int] = (10, 5012)
    triggered: Literal["broker", "neighbour"] = "broker"
    inclusive: bool = True
    without_history: Literal["remove", "zero", "absent"] = "remove"
    counts: Literal["elsewhere", "all"] = "elsewhere"
    rows: Literal["updated", "arrived"] = "updated"
    window: int = 1000
    fewest: int = 1
    sends: Literal["all", "listed"] = "all"
    base: Literal["active", "lazy"] = "active"
    remembers: bool = True
    collects: bool = False
    newcomers: Literal["keep", "withdraw"] = "keep"
    overtakes: bool = False
    identity: Literal["issue", "id"] = "issue"

    @classmethod
    def of(cls, policy: str) -> PruningParameters:
        return cls(THRESHOLDS[policy])


@frozen(cache_hash=True)
class Met(MessageHeader):
    """STA-1: what brokers have made of a publication: hops since it last met another subscription, and how often."""

    distance: int = 0
    count: int = 0


@frozen(cache_hash=True)
class Cut:
    """How far a withdrawal is to go toward an advertisement: hops, one number a threshold; None is without end."""

    advertisement: AdvertisementId
    distances: tuple[int | None, ...]


@frozen(cache_hash=True)
class CutList(MessageHeader):
    """PRN-1: how far a withdrawal is to go. A withdrawal without this header goes all the way."""

    cuts: tuple[Cut, ...]


@frozen(cache_hash=True)
class Congest(Message, control=False, by="driver"):
    """From `LOCAL`: the broker is congested from now on (PRN-6)."""


@frozen(cache_hash=True)
class Relieve(Message, control=False, by="driver"):
    """From `LOCAL`: the broker is no longer congested."""


def publish(publication: Publication, distance: int = 0, count: int = 0) -> Publish:
    """A publication as it travels: with its header."""
    return Publish(publication, Met(distance, count))


def met(message: Publish) -> Met:
    """The header of a publication; a client's operation has none yet, which is as good as one that met nothing."""
    return message.header if isinstance(message.header, Met) else NOTHING_MET


def withdraw(subscription: Subscription, cuts: tuple[Cut, ...] | None) -> Unsubscribe:
    """A withdrawal that is to go as far as the cuts say; with None a full one."""
    return Unsubscribe(subscription, None if cuts is None else CutList(cuts))


def cuts_of(message: Unsubscribe) -> tuple[Cut, ...] | None:
    """How far a withdrawal is to go; None for a full one."""
    return message.header.cuts if isinstance(message.header, CutList) else None


NOTHING_MET = Met()


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
