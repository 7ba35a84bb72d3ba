"""Reading JSON Lines in the workers: ranges of the file in, blocks of each broker's lines out.

A line is looked at just enough to know whose it is; it is read where it is judged. Unreadable lines are separated here,
with their numbers and reasons.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import BinaryIO

import msgspec
from attrs import define, field, frozen

from routeproof.checker.spark.rows import Batch, batches, rows_of
from routeproof.checker.validate.broker.judge import MOST, Judge
from routeproof.checker.validate.broker.publications import MOST as MOST_PUBLICATIONS
from routeproof.checker.validate.broker.publications import Written
from routeproof.checker.validate.findings import BadLines, encode_bad
from routeproof.checker.validate.setting import Setting
from routeproof.checker.validate.spark import AHEAD, BAD, BLOCKS, LINES, PUBLISHED, in_rows, opened, squeezed
from routeproof.checker.validate.store import HALF, is_whole, key_of, packed
from routeproof.model.filters import dialect
from routeproof.traces import BadLine, Event
from routeproof.traces.containers import Broken, blocks, codec_of
from routeproof.traces.fields import REFUSALS, WholeNumber
from routeproof.traces.format import EventKind
from routeproof.traces.lines import read_block, whole_lines
from routeproof.traces.reader import HEADER_BYTES, MAGIC_BYTES

RANGE = 64 << 20
"""Bytes of a file that are one task's, at most: each takes some hundredths of a second to begin."""

LEAST = 1 << 20
"""Bytes of a file that are worth a task of their own."""

BLOCK = 1 << 19
"""Bytes of lines in one row, before they are squeezed: a block is closed with the line that makes it so long."""

PIECE = 1 << 18
"""Bytes that are read, and looked at, at once."""

SELDOM = frozenset({"client", "snapshot"})
"""Events that are looked at again. All others are put to their broker's, and nothing else."""

NUMBER_BITS = 40
"""A line's number counts within its range, above these bits: the number of lines before the range is not known yet."""


class _To(msgspec.Struct, gc=False):
    to: str = ""


class _Glance(msgspec.Struct, gc=False):
    """The part of every line that is looked at."""

    broker: str
    event: EventKind
    run: str = ""
    message: _To | None = None


class _Said(msgspec.Struct, gc=False):
    kind: str = ""
    id: str = ""
    of: str = ""
    filter: msgspec.Raw = msgspec.Raw()
    attributes: msgspec.Raw = msgspec.Raw()
    event: WholeNumber | None = None


class _Operation(msgspec.Struct, gc=False):
    """The further part of a client's line that is looked at."""

    message: _Said | None = None


_glance = msgspec.json.Decoder(_Glance).decode
_operation = msgspec.json.Decoder(_Operation).decode


@frozen
class Range:
    """Where a task reads: from the first line that begins at `begin` or after it, to that which begins before `end`."""

    number: int
    begin: int
    end: int


def ranges(path: Path, most: int, cores: int) -> list[Range]:
    """A plain file in pieces, as many for each core, so that none waits for another's last; one that is compressed
    cannot be cut."""
    with path.open("rb") as file:
        if codec_of(file.peek(MAGIC_BYTES)[:MAGIC_BYTES]) is not None:
            return [Range(0, -1, -1)]
        after_header = len(file.readline(HEADER_BYTES + 1))
    total = path.stat().st_size
    rounds = max(1, -(-(total - after_header) // (most * cores)))
    size = min(most, max(LEAST, -(-(total - after_header) // (rounds * cores))))
    begins = list(range(after_header, max(total, after_header + 1), size))
    return [Range(i, begin, min(begin + size, total)) for i, begin in enumerate(begins)]


def line_number(number: int, lines_in: Callable[[int], int]) -> int:
    """Its place in the file, if it has one; `lines_in` counts those in the ranges before."""
    return number if number <= 0 else lines_in(number >> NUMBER_BITS) + (number & ((1 << NUMBER_BITS) - 1))


def read_ranges(path: str, setting: Setting, found: Iterator[Batch]) -> Iterator[Batch]:
    """For `mapInArrow`: rows of `number`, `begin` and `end` in, `BLOCKS` out."""
    judge = Judge(setting)
    for row in rows_of(found):
        yield from batches(BLOCKS, _Reading(judge, Path(path), Range(row["number"], row["begin"], row["end"])).rows())


Row = tuple[bytes, bytes, int, int, int, bool, bool, bytes, bytes]


@define
class _Block:
    """Lines of one broker, so far."""

    starts: bool = False
    bare: bool = False
    size: int = 0
    lines: list[bytes] = field(factory=list)
    numbers: array[int] = field(factory=lambda: array("q"))


class _Reading:
    """One range."""

    def __init__(self, judge: Judge, path: Path, where: Range) -> None:
        self._judge = judge
        self._run = judge.setting.run
        self._most = MOST_PUBLICATIONS if judge.setting.matches else 0
        self._dialect = dialect(judge.setting.dialect)
        self._path = path
        self._range = where
        self._open: dict[tuple[str, str], _Block] = {}
        self._place = where.number << 32
        self._announced: dict[str, bytes] = {}
        self._published: list[Written] = []
        self._bad = BadLines()

    def rows(self) -> Iterator[Row]:
        base = self._range.number << NUMBER_BITS
        count = 0
        reader = RangeLines(self._path, self._range)
        try:
            for lines in reader.lines():
                yield from self._put(lines, base + count + 1)
                count += len(lines)
        except Broken as error:
            self._bad.add(BadLine(base + count + (not reader.unfinished), str(error)))
        for key in list(self._open):
            yield self._closed(key)
        if self._announced:
            data = packed(list(islice(self._announced.items(), MOST)))
            yield (b"", b"", self._next(), AHEAD, 0, False, False, b"", data)
        for some, data in in_rows(self._published):
            yield (b"", b"", self._next(), PUBLISHED, some, False, False, b"", data)
        yield (b"", b"", self._next(), BAD, count, False, False, b"", encode_bad(self._bad))

    def _put(self, lines: list[bytes], first: int) -> Iterator[Row]:
        """Each to its broker's block. Most lines are nothing but that, and there are millions."""
        every: list[_Glance] | list[_Glance | BadLine | None]
        try:
            every = list(map(_glance, lines))
        except REFUSALS:
            every = [self._glance(line, number) for number, line in enumerate(lines, first)]
        begun = self._open
        for number, (line, seen) in enumerate(zip(lines, every, strict=True), first):
            if not isinstance(seen, _Glance):
                if seen is not None:
                    self._bad.add(seen)
                continue
            key, event = (seen.run or self._run, seen.broker), seen.event
            block, starts = begun.get(key), False
            if event in SELDOM:
                if event == "client":
                    self._look_ahead(line)
                elif self._is_start(line):
                    starts = True
                    if block is not None:
                        yield self._closed(key)
                        block = None
            if block is None:
                if not is_whole(*key):
                    self._bad.add(BadLine(number, HALF))
                    continue
                block = begun[key] = _Block(starts)
            block.lines.append(line)
            block.numbers.append(number)
            block.size += len(line)
            if event == "deliver" and not (seen.message and seen.message.to):
                block.bare = True
            if block.size >= BLOCK:
                yield self._closed(key)

    def _glance(self, line: bytes, number: int) -> _Glance | BadLine | None:
        """Reads a range with an unreadable or empty line."""
        if not line.strip():
            return None
        try:
            return _glance(line)
        except REFUSALS:
            [read] = read_block(line, number, self._dialect)
        if isinstance(read, BadLine):
            return read
        return _Glance(read.broker, read.event, read.run, None if read.message is None else _To(read.message.to))

    def _look_ahead(self, line: bytes) -> None:
        """Nothing depends on it: the judge of the line reports what is wrong with it."""
        with suppress(*REFUSALS):
            message = _operation(line).message
            if message is not None and message.kind == "subscribe":
                self._announced[message.id] = bytes(message.filter)
            elif message is not None and message.kind == "unsubscribe":
                self._announced.pop(message.id, None)
            elif message is not None and message.kind == "publish" and len(self._published) < self._most:
                event = bytes(message.attributes) if message.event is None else message.event
                self._published.append((message.id, message.of, event))

    def _is_start(self, line: bytes) -> bool:
        """Can a part begin with this snapshot?"""
        [read] = read_block(line, 0, self._dialect)
        return isinstance(read, Event) and self._judge.start_at(read) is not None

    def _closed(self, key: tuple[str, str]) -> Row:
        block = self._open.pop(key)
        run, broker = map(key_of, key)
        counted = len(block.lines)
        data = squeezed(b"\n".join(block.lines))
        return run, broker, self._next(), LINES, counted, block.starts, block.bare, block.numbers.tobytes(), data

    def _next(self) -> int:
        self._place += 1
        return self._place


class RangeLines:
    """The lines of a range, some at a time, without the header."""

    def __init__(self, path: Path, where: Range) -> None:
        self._path = path
        self._range = where
        self.unfinished = False
        """Did what can be read of a broken file end in the middle of a line?"""

    def lines(self) -> Iterator[list[bytes]]:
        with opened(self._path) as file:
            if self._range.begin >= 0:
                yield from map(self._split, whole_lines(_of_range(file, self._range)))
                return
            found = map(self._split, whole_lines(blocks(file, file.peek(MAGIC_BYTES)[:MAGIC_BYTES])))
            yield next(found, [])[1:]  # without the header
            yield from found

    def _split(self, block: bytes) -> list[bytes]:
        lines = block.split(b"\n")
        self.unfinished = bool(lines[-1])
        if not self.unfinished:
            lines.pop()
        return lines


def _of_range(file: BinaryIO, where: Range) -> Iterator[bytes]:
    """All lines that begin in it, in pieces that end anywhere."""
    at = where.begin
    file.seek(at - 1)  # a range begins after the header, so there is a byte before it
    last = _read(file.read, 1)
    while not last.endswith(b"\n"):
        last = _read(file.readline, PIECE)
        at += len(last)
        if not last:
            return
    while at < where.end:
        last = _read(file.read, min(PIECE, where.end - at))
        at += len(last)
        yield last
        if not last:
            return
    while last and not last.endswith(b"\n"):
        last = _read(file.readline, PIECE)
        yield last


def _read(how: Callable[[int], bytes], most: int) -> bytes:
    try:
        return how(most)
    except OSError as error:
        raise Broken(f"the file cannot be read on: {error.strerror or error}") from None
