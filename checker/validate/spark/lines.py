"""Reading JSON Lines in the workers: ranges of the file in, blocks of each broker's lines out.

A line is looked at just enough to know whose it is; it is read where it is judged. What nobody can read is put apart
here, with its number and the reason.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import BinaryIO

import msgspec
from attrs import define, field, frozen

from routeproof.checker.validate.ahead import MOST
from routeproof.checker.validate.packing import HALF, is_whole, key_of, packed
from routeproof.checker.validate.part import Judge
from routeproof.checker.validate.setting import Setting
from routeproof.checker.validate.spark.columns import AHEAD, BAD, BLOCKS, LINES, Batch, batches, rows_of
from routeproof.checker.validate.spark.shared import opened
from routeproof.model.filters import dialect
from routeproof.traces import BadLine, Event
from routeproof.traces.containers import Broken, blocks, codec_of
from routeproof.traces.lines import LINE_BYTES, read_block, whole_lines
from routeproof.traces.reader import MAGIC_BYTES

RANGE = 32 << 20
"""Bytes of a file that are one task's, about."""

BLOCK = 1 << 19
"""Bytes of lines in one row."""

NUMBER_BITS = 40
"""A line's number counts within its range, above these bits: nobody knows yet how many lines come before."""


class _Said(msgspec.Struct, gc=False):
    kind: str = ""
    id: str = ""
    to: str = ""
    filter: msgspec.Raw = msgspec.Raw()


class _Glance(msgspec.Struct, gc=False):
    broker: str
    event: str
    run: str = ""
    message: _Said | None = None


_glance = msgspec.json.Decoder(_Glance).decode


@frozen
class Range:
    """Where a task reads: from the first line that begins at `begin` or after it, to that which begins before `end`."""

    number: int
    begin: int
    end: int


def ranges(path: Path, size: int) -> list[Range]:
    """A plain file in pieces; one that is compressed cannot be cut."""
    with path.open("rb") as file:
        if codec_of(file.peek(MAGIC_BYTES)[:MAGIC_BYTES]) is not None:
            return [Range(0, -1, -1)]
        after_header = len(file.readline())
    total = path.stat().st_size
    begins = list(range(after_header, max(total, after_header + 1), size))
    return [Range(i, begin, min(begin + size, total)) for i, begin in enumerate(begins)]


def line_number(number: int, lines_in: Callable[[int], int]) -> int:
    """Its place in the file; `lines_in` counts those in the ranges before."""
    return 0 if number == 0 else lines_in(number >> NUMBER_BITS) + (number & ((1 << NUMBER_BITS) - 1))


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
        self._dialect = dialect(judge.setting.dialect)
        self._path = path
        self._range = where
        self._open: dict[tuple[str, str], _Block] = {}
        self._place = where.number << 32
        self._announced: dict[tuple[str, bytes], None] = {}
        self._unfinished = False
        """Did what can be read of a broken file end in the middle of a line?"""

    def rows(self) -> Iterator[Row]:
        base = self._range.number << NUMBER_BITS
        number = 0
        try:
            for number, line in enumerate(self._lines(), start=1):
                if line.strip():
                    yield from self._put(line, base + number)
        except Broken as error:
            yield self._unreadable(BadLine(base + number + (not self._unfinished), str(error)))
        for key in list(self._open):
            yield self._closed(key)
        if self._announced:
            data = packed(list(islice(self._announced, MOST)))
            yield (b"", b"", self._next(), AHEAD, 0, False, False, b"", data)
        yield (b"", b"", self._next(), BAD, number, False, False, b"", b"")  # how many lines there were

    def _put(self, line: bytes, number: int) -> Iterator[Row]:
        try:
            glance = _glance(line)
            run, broker, event = glance.run, glance.broker, glance.event
            bare = event == "deliver" and not (glance.message and glance.message.to)
            if event == "client" and glance.message is not None and glance.message.kind == "subscribe":
                self._announced[glance.message.id, bytes(glance.message.filter)] = None
        except (ValueError, RecursionError):
            [read] = read_block(line, number, self._dialect)
            if isinstance(read, BadLine):
                yield self._unreadable(read)
                return
            run, broker, event = read.run, read.broker, read.event
            bare = event == "deliver" and not (read.message and read.message.to)
        key = run or self._judge.setting.run, broker
        block = self._open.get(key)
        starts = event == "snapshot" and self._is_start(line)
        if block is not None and (starts or block.size + len(line) > BLOCK):
            yield self._closed(key)
            block = None
        if block is None:
            if not is_whole(*key):
                yield self._unreadable(BadLine(number, HALF))
                return
            block = self._open[key] = _Block(starts)
        block.lines.append(line)
        block.numbers.append(number)
        block.size += len(line)
        block.bare = block.bare or bare

    def _is_start(self, line: bytes) -> bool:
        """Can a part begin with this snapshot?"""
        [read] = read_block(line, 0, self._dialect)
        return isinstance(read, Event) and self._judge.start_at(read) is not None

    def _closed(self, key: tuple[str, str]) -> Row:
        block = self._open.pop(key)
        run, broker = map(key_of, key)
        counted = len(block.lines)
        data = b"\n".join(block.lines)
        return run, broker, self._next(), LINES, counted, block.starts, block.bare, block.numbers.tobytes(), data

    def _unreadable(self, line: BadLine) -> Row:
        numbers = array("q", [line.number]).tobytes()
        return b"", b"", self._next(), BAD, 0, False, False, numbers, key_of(line.reason)

    def _next(self) -> int:
        self._place += 1
        return self._place

    def _lines(self) -> Iterator[bytes]:
        with opened(self._path) as file:
            if self._range.begin < 0:
                beginning = file.peek(MAGIC_BYTES)[:MAGIC_BYTES]
                lines = (line for block in whole_lines(blocks(file, beginning)) for line in self._split(block))
                next(lines, None)  # the header
                yield from lines
            else:
                yield from _of_range(file, self._range)

    def _split(self, block: bytes) -> list[bytes]:
        lines = block.split(b"\n")
        self._unfinished = bool(lines[-1])
        if not lines[-1]:
            lines.pop()
        return lines


def _of_range(file: BinaryIO, where: Range) -> Iterator[bytes]:
    """Lines without their ends; one that is too long is too long still, but not all of it is kept."""
    at = where.begin
    file.seek(at - 1)  # a range begins after the header, so there is a byte before it
    if file.read(1) != b"\n":
        at += _skip_rest(file)
    while at < where.end:
        line = _read(file, LINE_BYTES + 2)
        at += len(line)
        if not line.endswith(b"\n"):
            at += _skip_rest(file)
        if not line:
            return
        yield line.removesuffix(b"\n")


def _skip_rest(file: BinaryIO) -> int:
    """What is left of a line: how much that was."""
    skipped = 0
    while piece := _read(file, 1 << 20):
        skipped += len(piece)
        if piece.endswith(b"\n"):
            break
    return skipped


def _read(file: BinaryIO, most: int) -> bytes:
    try:
        return file.readline(most)
    except OSError as error:
        raise Broken(f"the file cannot be read on: {error.strerror or error}") from None
