"""From a trace's words to the model's: ids to the advertisements and subscriptions that they were.

A withdrawal may carry an id only. `Words` remembers, for one broker, what each id was when it was last announced there.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable

from routeproof.model.filters import Filter
from routeproof.model.messages import (
    Advertise,
    Advertisement,
    PackedSubscribe,
    PackedUnsubscribe,
    Publication,
    Publish,
    Subscribe,
    Subscription,
    Unadvertise,
    Unsubscribe,
)
from routeproof.model.overlay import Node
from routeproof.model.tables import Tables
from routeproof.traces import Event, TraceMessage, TraceTables


class Unreadable(ValueError):
    """A message that nobody could handle: it lacks what it is about."""


class Words:
    """What ids mean at one broker."""

    def __init__(self, ranks: dict[str, int]) -> None:
        self._ranks = ranks
        self._advs: dict[str, Advertisement] = {}
        self._subs: dict[str, Subscription] = {}

    def model_message(self, message: TraceMessage) -> Hashable:
        """The same message, as the model has it."""
        match message.kind:
            case "advertise":
                a = Advertisement(self._rank(message.id), message.id, self._filter(message))
                self._advs[a.id] = a
                return Advertise(a)
            case "unadvertise":
                original = message.of or message.id
                if original not in self._advs:
                    raise Unreadable(f"advertisement {original}, of which this broker never heard, is withdrawn")
                return Unadvertise(self._advs[original])
            case "subscribe":
                return Subscribe(self._subscription(message.id, self._filter(message)))
            case "unsubscribe":
                return Unsubscribe(self._withdrawn(message.of or message.id))
            case "subscribe-many":
                return PackedSubscribe(
                    tuple(self._subscription(i.id, i.filter) for i in message.items if i.filter is not None)
                )
            case "unsubscribe-many":
                return PackedUnsubscribe(tuple(self._withdrawn(i.of or i.id) for i in message.items))
            case "publish":
                event = message.event
                if event is None:
                    raise Unreadable(f"publication {message.id} without its event")
                return Publish(Publication(0, message.id, message.of, event))
        raise Unreadable(f"a message of the kind '{message.kind}', which the protocol does not have")

    def tables_differ(self, tables: Tables, snapshot: Event, name_of: Callable[[Node], str]) -> tuple[str, str] | None:
        """Where a snapshot and the model's tables differ: what the model has there, what the snapshot says."""
        told = snapshot.tables
        if told is None:
            raise Unreadable("a snapshot without tables")
        known = TraceTables.of(tables, name_of)
        for part in ("advs", "subs", "sent"):
            ours, theirs = getattr(known, part), getattr(told, part)
            if theirs is None:
                continue
            bare = [entry for entry in theirs if getattr(entry, "filter", 0) is None]
            if bare:
                ours = getattr(known.without_filters(), part)
            if ours != theirs:
                return f"in {part}: {_shown(ours, theirs)}", f"in {part}: {_shown(theirs, ours)}"
        return None

    def _subscription(self, id: str, wants: Filter) -> Subscription:
        s = Subscription(self._rank(id), id, wants)
        self._subs[id] = s
        return s

    def _withdrawn(self, id: str) -> Subscription:
        if id not in self._subs:
            raise Unreadable(f"subscription {id}, of which this broker never heard, is withdrawn")
        return self._subs[id]

    def _filter(self, message: TraceMessage) -> Filter:
        found = message.items[0].filter
        if found is None:
            raise Unreadable(f"{message.kind} of {message.id} without a filter")
        return found

    def _rank(self, id: str) -> int:
        return self._ranks.get(id, 0)


def _shown(these: tuple[object, ...], those: tuple[object, ...]) -> str:
    """What only these have, shortly."""
    only = [each for each in these if each not in those]
    words = [f"{getattr(e, 'id', '') or e}" for e in only[:5]]
    return ", ".join(words) + (", ..." if len(only) > 5 else "") or "nothing more"
