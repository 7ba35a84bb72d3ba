"""Publications by columns: many steps of one broker, found in rows of Parquet and judged together.

Nearly all events of a trace are a publication that is received, sent on and delivered, over and over. A `Stretch` is
many such steps of one broker, one after the other, in columns (`stretches`). Anything else, and anything odd, is left
to be read event by event.

Steps of publications change no table. So each publication's subscribers, looked up in the broker's tables, say where it
goes and for whom it is delivered, and what was sent and delivered must be just that: pairs of a step and a neighbour or
a subscription, which are compared (`unlike`). `passes` does so for a stretch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from sys import hash_info
from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np
from attrs import Factory, frozen

from routeproof.checker.validate.broker.publications import Unpacked, Written, id_hash, of_hash
from routeproof.checker.validate.fast import Knowledge
from routeproof.checker.validate.fast.bits import numbers_of
from routeproof.model.overlay import LOCAL, Node
from routeproof.traces.fields import NAME_LENGTH
from routeproof.traces.messages import ADDED
from routeproof.traces.parquet_file import viewed
from routeproof.traces.reader import RowBatch

Column: TypeAlias = Any
"""A numpy array, a row each."""

KINDS = ("receive", "client", "send", "deliver")
"""Kinds of events. A step begins with one of the first two."""
RECEIVE, CLIENT, SEND, DELIVER = range(len(KINDS))

WORDS = ("run", "broker", "event", "peer", "kind", "id", "of", "to", "attributes")
NUMBERS = ("seq", "time", "number", "issued", "done", "line")
NOTHING = ("filter", "items", *(key.name for key in ADDED), "tables", "text", "unreadable")
"""Columns that none of these rows has."""

WORTH = 64
"""Rows. Fewer are as soon looked at one by one."""

LARGEST = 1 << 62


class _Odd(Exception):
    """Columns that are not what they should be."""


Text = TypeVar("Text", str, bytes)


@frozen
class Words(Generic[Text]):
    """Texts, by number; -1 is `nothing`. `known` is an Arrow array of them."""

    numbers: Column
    known: Any
    nothing: Text
    _texts: list[list[Text]] = Factory(list)
    """All texts as a list, once it was asked for; shared by all parts. So are the hashes."""
    _hashes: list[Column] = Factory(list)

    def part(self, begin: int, end: int) -> Words[Text]:
        return Words(self.numbers[begin:end], self.known, self.nothing, self._texts, self._hashes)

    def all_of_them(self) -> list[Text]:
        if not self._texts:
            self._texts.append([] if self.known is None else self.known.to_pylist())
        return self._texts[0]

    def looked_up(self, rows: Column, values: Callable[[Text], int | None], nothing: int) -> Column:
        """A number for the string of each of some rows; `nothing` for a string that has none."""
        used, which = np.unique(self.numbers[rows], return_inverse=True)
        texts = self.all_of_them()
        found = (values(texts[n]) if n >= 0 else None for n in used.tolist())
        return np.array([nothing if each is None else each for each in found], np.int64)[which]

    def hashes(self, rows: Column, hashed: Callable[[Text], int]) -> Column:
        """A hash of the text of each of some rows, always the same one."""
        if not self._hashes:
            self._hashes.append(np.array([*map(hashed, self.all_of_them()), hashed(self.nothing)], np.int64))
        return self._hashes[0][self.numbers[rows]]

    def at(self, rows: Column) -> list[Text]:
        """Texts of some rows."""
        texts = self.all_of_them()
        return [texts[n] if n >= 0 else self.nothing for n in self.numbers[rows].tolist()]


@frozen
class Stretch:
    """Whole steps: rows from `begin` on, up to `end`, with which the next step begins. That row is in the columns."""

    run: str
    broker: str
    begin: int
    end: int
    kind: Column
    seq: Column
    time: Column
    issued: Column
    line: Column
    peer: Words[str]
    to: Words[str]
    message: Column
    """A number for each different publication."""
    id: Words[str]
    of: Words[str]
    attributes: Words[bytes]
    number: Column

    def __len__(self) -> int:
        return self.end - self.begin

    def written(self, rows: Column) -> list[Written]:
        """The publications of some rows: id, advertisement and event."""
        events: list[bytes | int] = [*self.attributes.at(rows)]
        for at, number in enumerate(self.number[rows].tolist()):
            if number >= 0:
                events[at] = number
        return list(zip(self.id.at(rows), self.of.at(rows), events, strict=True))

    def keys(self, rows: Column) -> list[int]:
        """The keys of the publications of some rows (`key_of`)."""
        numbers = self.number[rows]
        events = np.where(numbers < 0, self.attributes.hashes(rows, hash), numbers % hash_info.modulus)
        found: list[int] = (self.id.hashes(rows, id_hash) ^ self.of.hashes(rows, of_hash) ^ events).tolist()
        return found


def stretches(rows: RowBatch) -> list[Stretch]:
    """Sorted, and pairwise disjoint."""
    import pyarrow as pa

    try:
        return _Columns(rows).stretches()
    except (_Odd, pa.ArrowException):
        return []


class _Columns:
    """Columns of some rows."""

    def __init__(self, rows: RowBatch) -> None:
        batch = rows.batch
        self._size = len(rows)
        self._arrays = dict(zip(batch.schema.names, batch.columns, strict=True))
        self._words = {name: self._words_of(name) for name in WORDS}
        self._numbers = {name: self._numbers_of(name) for name in NUMBERS}
        lines, places = self._numbers["line"], np.arange(rows.first, rows.first + self._size)
        self._numbers["line"] = np.where(lines > 0, lines, places)

    def stretches(self) -> list[Stretch]:
        kinds = np.array(
            [KINDS.index(each) if each in KINDS else -1 for each in self._words["event"].all_of_them()] + [-1]
        )
        kind = kinds[self._words["event"].numbers]
        usual, message = self._usual(kind), self._messages()
        new = np.ones(self._size, np.bool_)
        new[1:] = usual[1:] != usual[:-1]
        for name in ("run", "broker"):
            numbers = self._words[name].numbers
            new[1:] |= numbers[1:] != numbers[:-1]
        (begins,) = np.nonzero(new)
        found = []
        for begin, end in zip(begins.tolist(), [*begins[1:].tolist(), self._size], strict=True):
            (steps,) = np.nonzero(kind[begin:end] <= CLIENT)
            if usual[begin] and len(steps) and steps[-1] - steps[0] >= WORTH:
                found.append(self._stretch(begin + int(steps[0]), begin + int(steps[-1]), kind, message))
        return found

    def _stretch(self, begin: int, end: int, kind: Column, message: Column) -> Stretch:
        words = {name: self._words[name].part(begin, end + 1) for name in WORDS}
        numbers = {name: self._numbers[name][begin : end + 1] for name in NUMBERS}
        return Stretch(
            run=words["run"].at([0])[0],
            broker=words["broker"].at([0])[0],
            begin=begin,
            end=end,
            kind=kind[begin : end + 1],
            message=message[begin : end + 1],
            **{name: numbers[name] for name in ("seq", "time", "issued", "line", "number")},
            **{name: words[name] for name in ("peer", "to", "id", "of", "attributes")},
        )

    def _usual(self, kind: Column) -> Column:
        """Rows that are whole, and about a publication that says its event."""
        words, numbers = self._words, self._numbers
        kinds = words["kind"].all_of_them()
        publish = kinds.index("publish") if "publish" in kinds else -2
        usual = (kind >= 0) & (words["kind"].numbers == publish) & (numbers["seq"] >= 0)
        for name in ("broker", "peer", "id"):
            usual &= words[name].numbers >= 0
        usual &= (words["attributes"].numbers >= 0) != (numbers["number"] >= 0)
        usual &= (kind != DELIVER) | (words["to"].numbers >= 0)
        for name in NOTHING:
            array = self._arrays.get(name)
            if array is not None and array.null_count < self._size:
                usual &= np.frombuffer(viewed(array.is_null(), 0), np.int64) != 0
        return usual

    def _messages(self) -> Column:
        parts = [(self._words[name].numbers, self._words[name].known) for name in ("id", "of", "attributes")]
        sized = [(numbers, 0 if known is None else len(known)) for numbers, known in parts]
        number = self._numbers["number"]
        if number.max(initial=-1) >= 0:
            different, number = np.unique(number, return_inverse=True)
            sized.append((number, len(different)))
        message, size = np.zeros(self._size, np.int64), 1
        for numbers, most in sized:
            size *= most + 1
            if size > LARGEST:
                raise _Odd
            message = message * (most + 1) + (numbers + 1)
        return message

    def _words_of(self, name: str) -> Words[Any]:
        """All that are known to the column must be names; attributes are bytes, as they stand in the file."""
        import pyarrow as pa
        import pyarrow.compute as pc

        array, nothing = self._arrays.get(name), b"" if name == "attributes" else ""
        if array is None or array.null_count == self._size:
            return Words(np.full(self._size, -1), None, nothing)
        if not pa.types.is_dictionary(array.type):
            array = array.dictionary_encode()
        known = array.dictionary
        if not (pa.types.is_string(known.type) or pa.types.is_large_string(known.type)) or known.null_count:
            raise _Odd
        if name == "attributes":
            known = known.cast(pa.binary() if pa.types.is_string(known.type) else pa.large_binary())
        else:
            lengths = pc.min_max(pc.utf8_length(known)).as_py()
            if not 0 < lengths["min"] <= lengths["max"] <= NAME_LENGTH:
                raise _Odd
        return Words(_filled(array.indices), known, nothing)

    def _numbers_of(self, name: str) -> Column:
        """From 0 on; -1 is none."""
        import pyarrow as pa
        import pyarrow.compute as pc

        array = self._arrays.get(name)
        if array is None or array.null_count == self._size:
            return np.full(self._size, -1)
        if not pa.types.is_integer(array.type) or pc.min(array).as_py() < 0:
            raise _Odd
        return _filled(array)


def _filled(array: Any) -> Column:
    return np.frombuffer(viewed(array, -1), np.int64)


# -- the steps of a stretch --------------------------------------------------------------------------------------------

NOBODY = -1

PAIRS = 1 << 16
"""Batch size, in pairs of a step and a subscription that matches its publication; all pairs of one step stay together.
"""


class Steps:
    """The steps of a stretch: which of its rows belong to which, and the publication of each."""

    def __init__(self, stretch: Stretch) -> None:
        begins = stretch.kind <= CLIENT
        (every,) = np.nonzero(begins)
        self.begins = every[:-1]
        """Rows; the last one of the stretch begins a step of which nothing else is there."""
        self.of_row = np.cumsum(begins)[:-1] - 1
        different, first, which = np.unique(stretch.message[every], return_index=True, return_inverse=True)
        firsts = every[first]
        self.ids = stretch.id.at(firsts)
        """The id of each different publication."""
        self.keys = stretch.keys(firsts)
        self.publication = which[:-1]
        """Number of each step's publication among the different ones."""
        told = different[self.publication]
        self._stretch, self._firsts = stretch, firsts
        self.are_about_one = bool((stretch.message[:-1] == told[self.of_row]).all())
        """Is every step about one publication only?"""

    def written(self, publications: list[int]) -> list[Written]:
        """The publications of these numbers, as they were written."""
        return self._stretch.written(self._firsts[publications])


def near_of(neighbours: Mapping[str, Node], stretch: Stretch) -> Column | None:
    """The neighbour on the other side of each event, `LOCAL` for clients; None where one is no neighbour."""
    kind = stretch.kind[:-1]
    near = np.full(len(kind), LOCAL)
    (links,) = np.nonzero((kind != CLIENT) & (kind != DELIVER))
    near[links] = stretch.peer.looked_up(links, neighbours.get, NOBODY)
    return None if (near == NOBODY).any() else near


def passes(knowledge: Knowledge, near: Column, stretch: Stretch, steps: Steps, known: Unpacked) -> bool:
    """`near`: the neighbour of each event; `known`: the digests and matches of the steps' publications."""
    kind = stretch.kind[:-1]
    sent, came = kind == SEND, kind == DELIVER
    slots = stretch.to.looked_up(np.flatnonzero(came), local_slots(knowledge).get, NOBODY)
    hops = _hops(knowledge, known)
    handed = Handed(steps.of_row[sent], near[sent], steps.of_row[came], slots)
    return not len(unlike(steps.publication, known, lambda _, slot: hops[slot], near[steps.begins], handed))


@frozen
class Handed:
    """Observed sendings, each with its step and receiver, and deliveries, each with its step and slot."""

    sent: Column
    to: Column
    delivered: Column
    slot: Column

    def sendings(self, begin: int, end: int) -> tuple[Column, Column]:
        """Sendings of the steps from the one to the other; they are in the order of steps."""
        rows = slice(*np.searchsorted(self.sent, (begin, end)).tolist())
        return self.sent[rows], self.to[rows]

    def deliveries(self, begin: int, end: int) -> tuple[Column, Column]:
        rows = slice(*np.searchsorted(self.delivered, (begin, end)).tolist())
        return self.delivered[rows], self.slot[rows]


def unlike(
    publications: Column, known: Unpacked, hop_of: Callable[[Column, Column], Column], sender: Column, seen: Handed
) -> Column:
    """The steps of which the broker made something else than RTE-5 wants. `publications` and `sender`: of each step.
    `hop_of`: at each step, the last hop of a slot."""
    matching = np.cumsum(known.counts[publications])
    begin, wrong = 0, [np.empty(0, np.int64)]
    while begin < len(publications):
        before = int(matching[begin - 1]) if begin else 0
        end = max(begin + 1, int(np.searchsorted(matching, before + PAIRS, "right")))
        step, slot = _matching(publications[begin:end], known)
        step += begin
        hop = hop_of(step, slot)
        onward, here = (hop > LOCAL) & (hop != sender[step]), hop == LOCAL
        (sent, to), (came, served) = seen.sendings(begin, end), seen.deliveries(begin, end)
        wrong += [_apart(step[onward], hop[onward], sent, to), _apart(step[here], slot[here], came, served)]
        begin = end
    return np.unique(np.concatenate(wrong))


def _apart(steps: Column, values: Column, others: Column, seen: Column) -> Column:
    """The steps that do not have the same values in the one as in the other, each once. Values are from -1 on."""
    width = 2 + max(int(values.max(initial=0)), int(seen.max(initial=0)))
    wanted = np.unique(steps.astype(np.int64) * width + values + 1)
    there = np.sort(others * width + seen + 1)
    if np.array_equal(wanted, there):
        return wanted[:0]
    every, which = np.unique(np.concatenate([wanted, there]), return_inverse=True)
    counts = [np.bincount(those, minlength=len(every)) for those in (which[: len(wanted)], which[len(wanted) :])]
    return every[counts[0] != counts[1]] // width


def _matching(publications: Column, known: Unpacked) -> tuple[Column, Column]:
    """Each step with each slot that its publication matches. `publications`: of each step."""
    counts = known.counts[publications]
    step = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
    shift = known.firsts[publications] - (np.cumsum(counts) - counts)
    return step, known.slots[np.arange(len(step)) + np.repeat(shift, counts)]


def local_slots(knowledge: Knowledge) -> dict[str, int]:
    """Slots of the subscriptions of a broker's own clients, by id; one of them if several have the same id."""
    return {knowledge.universe.subscription(slot).id: slot for slot in numbers_of(knowledge.hops.get(LOCAL, 0))}


def _hops(knowledge: Knowledge, known: Unpacked) -> Column:
    """The last hop of each subscription, by slot."""
    hops = np.full(1 + max(max(knowledge.subs, default=0), int(known.slots.max(initial=0))), NOBODY, np.int32)
    put_hops(knowledge, hops)
    return hops


def put_hops(knowledge: Knowledge, hops: Column) -> None:
    slots = np.fromiter(knowledge.subs, np.int64, len(knowledge.subs))
    hops[slots] = np.fromiter(knowledge.subs.values(), np.int64, len(knowledge.subs))
