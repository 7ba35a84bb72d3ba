"""Publications and deliveries of a trace as columns: from lines, and from batches of Parquet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import msgspec
import numpy as np
from attrs import frozen
from msgspec import Struct

from routeproof.checker.placement.overlay import Column, Frame
from routeproof.checker.validate.findings import BadLines
from routeproof.checker.validate.store import HALF, is_whole, key_of
from routeproof.traces import BadLine
from routeproof.traces.fields import REFUSALS, WholeNumber, in_one_line, parse
from routeproof.traces.format import EVENTS

PUBLISHED, DELIVERED, RECEIVED = range(3)
KINDS = {"client": PUBLISHED, "deliver": DELIVERED, "receive": RECEIVED}
"""Events of a publication that are read: it is made, handed to a client, taken from a neighbour."""

COLUMNS = ("run", "broker", "seq", "event", "peer", "time", "kind", "id", "of", "line", "unreadable")
UNKNOWN = -1
NO_TIME = -1
RANGE_BITS = 40


class ReadReport(Struct):
    """The report of one unit: how much was read of it, and what could not be."""

    unit: int
    rows: int = 0
    """Lines, by which the numbers of the next unit's lines follow."""
    events: int = 0
    outside: int = 0
    """Events at brokers that are not in the overlay."""
    bad: list[tuple[int, str]] = msgspec.field(default_factory=list)
    """Some of the lines that could not be read: places in the unit, with the reasons."""
    bad_count: int = 0


def schema() -> Any:
    """The columns of a block. `near`: the neighbour that a receipt came from; `who`: the publisher."""
    import pyarrow as pa

    numbers = {"kind": pa.int8(), "broker": pa.int32(), "near": pa.int32(), "seq": pa.int64(), "time": pa.int64()}
    return pa.schema([*((name, pa.large_binary()) for name in ("run", "id", "who")), *numbers.items()])


# -- lines -------------------------------------------------------------------------------------------------------------


class _Message(Struct, gc=False):
    kind: str = ""
    id: str = ""
    of: str = ""


class _Line(Struct, gc=False):
    """The part of a line that is looked at."""

    broker: str
    seq: WholeNumber
    event: Literal["receive", "send", "deliver", "client", "snapshot", "drop", "crash", "restart", "note"]
    run: str = ""
    peer: str = ""
    time: WholeNumber = NO_TIME
    message: _Message | None = None


_line = msgspec.json.Decoder(_Line).decode


def of_lines(some: list[bytes], frame: Frame, bad: BadLines, done: int, read: ReadReport) -> Any:
    """The rows of some lines; `done`: the number of lines before them."""
    try:
        found: list[_Line | None] = list(map(_line, some))
    except REFUSALS:
        found = [_one_line(line, bad, number) for number, line in enumerate(some, done + 1)]
    rows: list[tuple[Any, ...]] = []
    for number, each in enumerate(found, done + 1):
        if each is None:
            continue
        read.events += 1
        kind = KINDS.get(each.event)
        message = each.message
        if (
            kind is None
            or message is None
            or message.kind != "publish"
            or (kind == RECEIVED and not frame.shared_clock)
        ):
            continue
        if not message.id or not is_whole(each.run, each.broker, message.id, message.of, each.peer):
            bad.add(BadLine(number, HALF if message.id else 'a "publish" without "id"'))
            continue
        broker = frame.number.get(each.broker)
        if broker is None:
            read.outside += 1
            continue
        near = frame.number.get(each.peer, UNKNOWN) if kind == RECEIVED else UNKNOWN
        who = publisher(message.of, each.peer) if kind == PUBLISHED else b""
        run = key_of(each.run or frame.run)
        rows.append((run, message.id.encode(), who, kind, broker, near, each.seq, each.time))
    return _batch(list(zip(*rows, strict=True))) if rows else None


def _batch(columns: Sequence[Any]) -> Any:
    """The rows of columns in the order of the schema."""
    import pyarrow as pa

    kinds = schema()
    pairs = zip(columns, kinds, strict=True)
    arrays = [each if isinstance(each, pa.Array) else pa.array(each, kind.type) for each, kind in pairs]
    return pa.RecordBatch.from_arrays(arrays, schema=kinds)


def _one_line(line: bytes, bad: BadLines, number: int) -> _Line | None:
    if not line.strip():
        return None
    try:
        return _line(line)
    except REFUSALS as error:
        bad.add(BadLine(number, _reason(line, error)))
        return None


def _reason(line: bytes, error: Exception) -> str:
    try:
        row = parse(line)
    except (ValueError, TypeError) as refused:
        return in_one_line(refused)
    if isinstance(row, dict) and row.get("event") not in EVENTS:
        return f'"event": expected one of {", ".join(EVENTS)}'
    return in_one_line(error)


def publisher(of: str, peer: str) -> bytes:
    """The name of a publisher: its advertisement's, or where publications name none its client's, or none at all."""
    return b"a" + of.encode() if of else b"c" + peer.encode() if peer else b""


# -- columns -----------------------------------------------------------------------------------------------------------


def of_batch(batch: Any, frame: Frame, bad: BadLines, done: int, read: ReadReport) -> Any:
    """The rows of a batch of Parquet; `done`: the number of rows before it."""

    columns = dict(zip(batch.schema.names, batch.columns, strict=True))
    count = batch.num_rows
    words = {
        name: _Words.of(columns.get(name), count) for name in ("run", "broker", "event", "peer", "kind", "id", "of")
    }
    seq, time = (_numbers(columns.get(name), count) for name in ("seq", "time"))
    well = (words["broker"].codes >= 0) & (words["event"].codes >= 0) & (seq >= 0)
    unreadable = columns.get("unreadable")
    if unreadable is not None and unreadable.null_count < count:
        well &= unreadable.is_null().to_numpy(zero_copy_only=False)
    kind = words["event"].looked_up(lambda word: KINDS.get(word, len(KINDS) if word in EVENTS else UNKNOWN), UNKNOWN)
    well &= kind >= 0
    publish = words["kind"].looked_up(lambda word: int(word == "publish"), 0) == 1
    wanted = well & publish & (kind < (3 if frame.shared_clock else RECEIVED))
    without = wanted & (words["id"].codes < 0)
    read.events += int(well.sum())
    _note_bad(bad, ~well | without, columns, done)
    broker = words["broker"].looked_up(lambda word: frame.number.get(word, UNKNOWN), UNKNOWN)
    wanted &= ~without
    read.outside += int((wanted & (broker < 0)).sum())
    (rows,) = np.nonzero(wanted & (broker >= 0))
    if not len(rows):
        return None
    run, id, of, peer = (words[name].at(rows) for name in ("run", "id", "of", "peer"))
    near = np.where(
        kind == RECEIVED, words["peer"].looked_up(lambda word: frame.number.get(word, UNKNOWN), UNKNOWN), UNKNOWN
    )
    who = _publishers(of, peer, kind[rows] == PUBLISHED)
    numbers = (kind[rows], broker[rows], near[rows], seq[rows], time[rows])
    return _batch([_filled(run, frame.run.encode()), id, who, *numbers])


def _note_bad(bad: BadLines, rows: Column, columns: dict[str, Any], done: int) -> None:
    for at in np.nonzero(rows)[0].tolist():
        reason = columns["unreadable"][at].as_py() if "unreadable" in columns else None
        number = columns["line"][at].as_py() if "line" in columns else None
        of_line = number if isinstance(number, int) and 0 < number < 1 << RANGE_BITS else done + at + 1
        bad.add(BadLine(of_line, str(reason or "a row without a broker, a seq, an event or the id of its publication")))


def _filled(texts: Any, nothing: bytes) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.if_else(pc.equal(pc.binary_length(texts), 0), pa.scalar(nothing, pa.large_binary()), texts)


def _publishers(of: Any, peer: Any, published: Column) -> Any:
    """`publisher` of each row; empty where the row is no publication."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = pa.large_binary()
    nothing = pa.scalar(b"", kind)
    named = [
        pc.binary_join_element_wise(pa.scalar(tag, kind), texts, nothing) for tag, texts in ((b"a", of), (b"c", peer))
    ]
    has = [pc.greater(pc.binary_length(texts), 0) for texts in (of, peer)]
    who = pc.if_else(has[0], named[0], pc.if_else(has[1], named[1], nothing))
    return pc.if_else(pa.array(published), who, nothing)


@frozen
class _Words:
    """A column of texts, by number; -1 is none."""

    codes: Column
    words: Any

    @classmethod
    def of(cls, column: Any, rows: int) -> _Words:
        import pyarrow as pa

        if column is None or column.null_count == rows:
            return cls(np.full(rows, UNKNOWN, np.int64), pa.array([], pa.large_binary()))
        if not pa.types.is_dictionary(column.type) or column.dictionary.null_count:
            column = column.cast(pa.large_string()).dictionary_encode()
        codes = column.indices.cast(pa.int64()).fill_null(UNKNOWN).to_numpy(zero_copy_only=False)
        return cls(codes, column.dictionary.cast(pa.large_string()).cast(pa.large_binary()))

    def looked_up(self, value: Callable[[str], int], nothing: int) -> Column:
        """A number for the text of each row."""
        if not len(self.words):
            return np.full(len(self.codes), nothing, np.int64)
        used = np.bincount(self.codes + 1, minlength=len(self.words) + 1) > 0
        found = np.full(len(self.words) + 1, nothing, np.int64)
        (which,) = np.nonzero(used[1:])
        texts = self.words.take(which).to_pylist()
        found[which + 1] = [value(text.decode()) for text in texts]
        return found[self.codes + 1]

    def at(self, rows: Column) -> Any:
        """Texts of some rows; empty where there is none."""
        import pyarrow as pa

        if not len(self.words):
            return pa.array([b""] * len(rows), pa.large_binary())
        codes = self.codes[rows]
        return self.words.take(pa.array(codes, pa.int64(), mask=codes < 0)).fill_null(b"")


def _numbers(column: Any, rows: int) -> Column:
    """Integers from 0 on; what is none of them is -1."""
    import pyarrow as pa

    if column is None or not pa.types.is_integer(column.type):
        return np.full(rows, UNKNOWN, np.int64)
    return np.maximum(column.cast(pa.int64()).fill_null(UNKNOWN).to_numpy(zero_copy_only=False), UNKNOWN)
