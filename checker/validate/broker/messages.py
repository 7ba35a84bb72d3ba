"""Meanings of messages, found out once: `MessageMeaning`, kept in a `Dictionary`.

A trace repeats the same message at every broker that it passes, twice each. Its canonical form, its digest and the
model's message for it are therefore remembered by the text that was written: the latest of all, and of publications for
long what little is needed again, in some hundred bytes each (`publications`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from itertools import pairwise

import numpy as np
from attrs import evolve
from msgspec import UNSET, UnsetType
from msgspec import Raw as JsonText

from routeproof.checker.validate.broker.canonical import (
    CanonicalMessage,
    are_same,
    canonical_control,
    canonical_in_trace,
    publication_digest,
)
from routeproof.checker.validate.broker.canonical import digest as digest_of
from routeproof.checker.validate.broker.publications import Entry, Publications, Written, key_of
from routeproof.checker.validate.fast import Universe
from routeproof.checker.validate.fast.bits import numbers_of
from routeproof.checker.validate.fast.matches import Plain
from routeproof.checker.validate.fast.universe import Answer
from routeproof.model.filters import Event, Filter
from routeproof.model.messages import (
    Advertise,
    Advertisement,
    PackedSubscribe,
    PackedUnsubscribe,
    Publication,
    Subscribe,
    Subscription,
    Unadvertise,
    Unsubscribe,
)
from routeproof.traces import Item, TraceError, TraceMessage
from routeproof.traces.messages import Meanings

TOGETHER = 1 << 9
"""Publications that are matched at a time."""

REMEMBERED = 1 << 10
"""Messages, of some 1,200 bytes each: about so many are on the way at a time."""

Known = Callable[[str], Subscription | Advertisement | None]
"""Look-up of an id at a broker, as far as the broker knows."""


class Unreadable(ValueError):
    """A message that no broker could handle: its content is missing."""


class MessageMeaning:
    """`digest`: the digest of its content. `is_control`: True if it changes tables. `items`: the entries of such a
    message.
    """

    __slots__ = ("_meanings", "digest", "id", "is_control", "items", "kind", "matching", "of", "written")

    def __init__(self, message: TraceMessage, written: bytes | int, digest: int | None = None) -> None:
        self.kind: str = message.kind
        self.id: str = message.id
        self.of: str = message.of
        self.is_control: bool = message.kind != "publish"
        self.items: tuple[Item, ...] = message.items if self.is_control else ()
        self.written = written
        """Its filter or its event; empty where it has none."""
        self.digest: int = _digest(message, written) if digest is None else digest
        self.matching: Answer | None = None
        """The matches of a publication, computed on first use."""
        self._meanings = message.meanings

    @property
    def said(self) -> CanonicalMessage:
        """The message in words, for comparison; that of a publication is read again."""
        if self.is_control:
            return canonical_control(self.kind, self.items)
        return CanonicalMessage(self.kind, ((self.id, None),), self.event, of=self.of)

    @property
    def event(self) -> Event | None:
        """The published event, read again; None if the trace does not have it."""
        if isinstance(self.written, int):
            return self.written
        assert self._meanings is not None, "a message that no reader has made"
        return self._meanings.attributes(JsonText(self.written)) if self.written else None

    def named(self, names: Mapping[str, str]) -> MessageMeaning:
        """Returns the message with ids replaced by the names under which the broker knows them."""
        keys = [item.of or item.id for item in self.items]
        if names.keys().isdisjoint((*keys, *(id for item in self.items for id in item.several))):
            return self
        made: MessageMeaning = copy(self)
        pairs = zip(self.items, keys, strict=True)
        made.items = tuple(
            evolve(item, id=names.get(key, key), of="", several=tuple(names.get(id, id) for id in item.several))
            for item, key in pairs
        )
        return made

    def is_same(self, other: MessageMeaning) -> bool:
        """Do both say the same?"""
        return (
            self is other
            or self.digest == other.digest
            or (not self.is_control and are_same(self.digest, other.digest))
        )

    @property
    def content(self) -> int:
        """Stands for what is published; 0 where the message does not say."""
        return 0 if self.written == b"" else self.digest


class Dictionary:
    """Messages by their text. `matched`: True if the caller will need the matches of publications."""

    def __init__(self, universe: Universe, *, matched: bool = True) -> None:
        self._universe = universe
        self._matched = matched
        self._latest: dict[Hashable, MessageMeaning] = {}
        self.publications = Publications(universe)

    def of(self, message: TraceMessage) -> MessageMeaning:
        """`TraceError` where its filter or event cannot be read."""
        text = message.attributes_text
        key: Hashable
        written: bytes | int
        if text is not UNSET and message.kind == "publish":
            written = bytes(text)
            key = message.id, message.of, written
        else:
            packed = message.packed
            items = None if packed is UNSET else tuple((i.id, i.of, i.several, _bytes(i.filter_text)) for i in packed)
            written = _written(message)
            key = message.kind, message.id, message.of, message.several, written, items
        meant = self._latest.get(key)
        if meant is None:
            if len(self._latest) >= REMEMBERED:
                self._put_away()
            meant = self._latest[key] = self._found(message, written)
        return meant

    def entries(self, written: Sequence[Written], meanings: Meanings) -> list[Entry | None]:
        """Entries of publications; None where an event cannot be read."""

        def chosen(places: list[int]) -> list[Written]:
            return [written[at] for at in places]

        return self.entries_by_key([key_of(*each) for each in written], chosen, meanings)

    def entries_by_key(
        self, keys: Sequence[int], written: Callable[[list[int]], list[Written]], meanings: Meanings
    ) -> list[Entry | None]:
        """Entries, for a caller that has keys. `written`: the publications with some places among them."""
        found = self.publications.find_all(keys)
        new = [at for at, entry in enumerate(found) if entry is None]
        for begin in range(0, len(new), TOGETHER):
            some = new[begin : begin + TOGETHER]
            for at, entry in zip(some, self._new_entries(written(some), meanings), strict=True):
                found[at] = entry
        return found

    def _new_entries(self, written: Sequence[Written], meanings: Meanings) -> list[Entry | None]:
        found: list[Entry | None] = [None for _ in written]
        plain: dict[int, Plain] = {}
        for at, each in enumerate(written):
            table = None if isinstance(each[2], int) else meanings.plain(each[2])
            if table is not None:
                plain[at] = table
            else:
                with suppress(TraceError):
                    found[at] = self._entry(each, meanings)
        places, slots = self._universe.subscriptions.matching_many(list(plain.values()) if self._matched else ())
        ends = np.searchsorted(places, np.arange(len(plain) + 1)).tolist()
        for (at, values), mine in zip(plain.items(), pairwise(ends), strict=True):
            id, of, _ = written[at]
            digest = publication_digest(id, of, values)
            found[at] = self.publications.keep(key_of(*written[at]), digest, slots[slice(*mine)])
        return found

    def _entry(self, written: Written, meanings: Meanings) -> Entry:
        """Entry of a publication that is not plain."""
        id, of, event = written
        message = (
            TraceMessage("publish", id, of=of, number=event)
            if isinstance(event, int)
            else TraceMessage("publish", id, of=of, attributes_text=JsonText(event), meanings=meanings)
        )
        said = canonical_in_trace(message)
        assert said.event is not None, "it is made with one"
        matching = self._universe.subscriptions.matching_once(said.event) if self._matched else ()
        return self.publications.keep(key_of(id, of, event), digest_of(said), matching)

    def _found(self, message: TraceMessage, written: bytes | int) -> MessageMeaning:
        if message.kind != "publish" or written == b"":
            return MessageMeaning(message, written)
        entry = self.publications.find((message.id, message.of, written))
        if entry is None:
            return MessageMeaning(message, written)
        meant = MessageMeaning(message, written, self.publications.digest(entry))
        if self._matched:
            meant.matching = self.publications.answer(entry)
        return meant

    def _put_away(self) -> None:
        for meant in self._latest.values():
            slots = None if meant.is_control or meant.written == b"" else self._slots(meant)
            if slots is not None:
                self.publications.keep(key_of(meant.id, meant.of, meant.written), meant.digest, slots)
        self._latest.clear()

    def _slots(self, meant: MessageMeaning) -> Sequence[int] | None:
        """Slots of the matching subscriptions; None if they are not known at this moment."""
        matching = meant.matching
        if not self._matched:
            return ()
        if matching is None or matching.moment != self._universe.subscriptions.moment:
            return None
        return numbers_of(matching.mask) if matching.few is None else matching.few


def _bytes(text: JsonText | UnsetType) -> bytes | None:
    return None if text is UNSET else bytes(text)


def _digest(message: TraceMessage, written: bytes | int) -> int:
    """`TraceError` where its filter or event cannot be read."""
    if message.kind == "publish" and isinstance(written, bytes) and message.meanings is not None:
        plain = message.meanings.plain(written)
        if plain is not None:
            return publication_digest(message.id, message.of, plain)
    return digest_of(canonical_in_trace(message))


def _written(message: TraceMessage) -> bytes | int:
    if message.kind == "publish":
        return b"" if message.number is UNSET else message.number
    return b"" if message.filter_text is UNSET else bytes(message.filter_text)


def model_message(meant: MessageMeaning, ranks: dict[str, int], sub: Known, adv: Known) -> Hashable | None:
    """The control message as the model has it, for a broker that knows what `sub` and `adv` say.

    A withdrawal may carry an id only: it withdraws the entry that the broker knows by that id. None if there is no such
    entry: no broker needs to handle it (RTE-8).
    """
    match meant.kind:
        case "advertise":
            id = _original(meant.items[0])
            a = Advertisement(ranks.get(id, 0), id, _filter(meant, meant.items[0]))
            _same(a, adv(a.id))
            return Advertise(a)
        case "unadvertise":
            known = adv(_original(meant.items[0]))
            return Unadvertise(known) if isinstance(known, Advertisement) else None
        case "subscribe":
            return Subscribe(_subscription(meant, meant.items[0], ranks, sub))
        case "unsubscribe":
            found = sub(_original(meant.items[0]))
            return Unsubscribe(found) if isinstance(found, Subscription) else None
        case "subscribe-many":
            return PackedSubscribe(tuple(_subscription(meant, item, ranks, sub) for item in meant.items))
        case "unsubscribe-many":
            every = [sub(_original(item)) for item in meant.items]
            some = tuple(s for s in every if isinstance(s, Subscription))
            return PackedUnsubscribe(some) if some else None
    raise Unreadable(f"a message of the kind '{meant.kind}', which the protocol does not have")


def publication(meant: MessageMeaning) -> Publication:
    """The publication as the model has it."""
    if meant.event is None:
        raise Unreadable(f"publication {meant.id} without its event")
    return Publication(0, meant.id, "", meant.event)


def _subscription(meant: MessageMeaning, item: Item, ranks: dict[str, int], sub: Known) -> Subscription:
    id = _original(item)
    s = Subscription(ranks.get(id, 0), id, _filter(meant, item))
    _same(s, sub(s.id))
    return s


def _same(announced: Subscription | Advertisement, known: Subscription | Advertisement | None) -> None:
    if known is not None and known.filter != announced.filter:
        raise Unreadable(f"{announced.id} announced with another filter than the one by which the broker knows it")


def _filter(meant: MessageMeaning, item: Item) -> Filter:
    if item.filter is None:
        raise Unreadable(f"{meant.kind} of {item.id} without a filter")
    return item.filter


def _original(item: Item) -> str:
    return item.of or item.id
