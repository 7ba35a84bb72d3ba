"""Parts in the workers: lines or row groups in; findings, and rows for the joins, out.

A worker holds one block of lines, or one batch of a row group, and the tables of the parts that are open. The second
look at a trace (`conclusion`) is here too: at blocks that were kept, or at row groups once more.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from msgspec.structs import force_setattr

from routeproof.checker.spark.rows import Batch, batches, rows_of
from routeproof.checker.system.processes import collecting_rarely
from routeproof.checker.validate.broker.batch import held
from routeproof.checker.validate.broker.bulk import BulkReplay, handed_out, looks_at_once
from routeproof.checker.validate.broker.judge import Judge
from routeproof.checker.validate.broker.part import Part
from routeproof.checker.validate.conclusion import FoundEvent, found_among, likely
from routeproof.checker.validate.findings import BadLines, encode_bad, encode_found
from routeproof.checker.validate.metrics import part_of
from routeproof.checker.validate.setting import Setting
from routeproof.checker.validate.spark import (
    CLIENT,
    EMITTED,
    FOUND,
    LINK,
    RESULTS,
    UNREADABLE,
    groups,
    judge_that_knows,
    unsqueezed,
)
from routeproof.checker.validate.spark.groups import BEGINS, CLOSES, Unit
from routeproof.checker.validate.store import key_of, name_of, packed
from routeproof.model.filters import dialect
from routeproof.traces import BadLine, Event
from routeproof.traces.format import keeps_own
from routeproof.traces.lines import read_block
from routeproof.traces.reader import RowBatch

PART_BITS = 32
"""Bits for the number of the broker's events within the part, below the part's number."""

UNITS = "task int, data binary"

Row = tuple[Any, ...]


def judge_blocks(setting: Setting, foreseen: Any, found: Iterator[Batch]) -> Iterator[Batch]:
    """For `mapInArrow`: blocks of lines with their `part` and `role`, in order of parts and places; `RESULTS` out.
    `foreseen`: broadcast."""
    judge = judge_that_knows(setting, foreseen.value)
    with collecting_rarely():
        yield from batches(RESULTS, _of_blocks(judge, rows_of(found)))


def _of_blocks(judge: Judge, blocks: Iterator[dict[str, Any]]) -> Iterator[Row]:
    for number, mine in groupby(blocks, lambda block: block["part"]):
        yield from _of_part(judge, number, mine)


def _of_part(judge: Judge, number: int, blocks: Iterator[dict[str, Any]]) -> Iterator[Row]:
    setting = judge.setting
    first = next(blocks)
    begun = numbered(first, setting)
    start = begun.pop(0) if first["role"] == BEGINS else None
    assert start is None or isinstance(start, Event), "it was asked whether a part can begin with it"
    part = part_of(judge, name_of(first["run"]), name_of(first["broker"]), start, number << PART_BITS)
    closes: list[Event | BadLine] = []

    def lines() -> Iterator[Event | BadLine]:
        yield from begun
        for block in blocks:
            if block["role"] == CLOSES:
                closes.extend(numbered(block, setting, first_only=True))
            else:
                yield from numbered(block, setting)

    if looks_at_once(judge.setting):
        for each in BulkReplay(judge, lambda _: part).take(held(lines())):
            if isinstance(each, Part):
                yield from _set_aside(each, number)
            else:
                part.bad.add(each)
    else:
        for line in lines():
            yield from _look(part, number, line)
    for snapshot in closes:
        assert isinstance(snapshot, Event), "it was asked whether a part can begin with it"
        part.end_with(snapshot)
    yield from _finished(part, number)


def numbered(block: dict[str, Any], setting: Setting, *, first_only: bool = False) -> list[Event | BadLine]:
    """A block's lines as they stood in the file."""
    numbers = np.frombuffer(block["lines"], np.int64).tolist()
    data = unsqueezed(block["data"])
    if first_only:
        data = data.partition(b"\n")[0]
    found = read_block(data, 0, dialect(setting.dialect), own=keeps_own(setting.protocol_name))
    for at, line in enumerate(found):
        if isinstance(line, Event):
            force_setattr(line, "line", numbers[line.line])
        else:
            found[at] = BadLine(numbers[line.number], line.reason)
    return found


def judge_groups(path: str, setting: Setting, foreseen: Any, found: Iterator[Batch]) -> Iterator[Batch]:
    """For `mapInArrow`: `UNITS` in, `RESULTS` out. `foreseen`: broadcast."""
    judge = judge_that_knows(setting, foreseen.value)
    with collecting_rarely():
        for row in rows_of(found):
            unit = msgspec.msgpack.decode(row["data"], type=UnitRow)
            yield from batches(RESULTS, _of_groups(judge, Path(path), Unit(*unit)))


UnitRow = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]


def encode_unit(unit: Unit) -> bytes:
    return msgspec.msgpack.encode((unit.groups, unit.starts, unit.closes))


def _of_groups(judge: Judge, path: Path, unit: Unit) -> Iterator[Row]:
    opened = _Opened(judge)
    for group in unit.groups:
        opened.begin(group, starts=group in unit.starts)
        for found in groups.rows(path, group):
            yield from opened.look(found)
    for group in unit.closes:
        snapshot = groups.first(path, group)
        assert isinstance(snapshot, Event), "it was asked whether a part can begin with it"
        opened.part(snapshot).end_with(snapshot)
    yield from opened.finished()


class _Opened:
    """The parts of a unit's row groups. A part's number is that of the row group with which it begins."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._parts: dict[tuple[str, str], tuple[int, Part]] = {}
        self._bad = BadLines()
        self._group = 0
        self._starts = False

    def begin(self, group: int, *, starts: bool) -> None:
        """`starts`: with its first row, which is a snapshot, a part begins."""
        self._group, self._starts = group, starts

    def part(self, event: Event) -> Part:
        return self._parts[self._key(event)][1]

    def look(self, found: RowBatch | BadLine) -> Iterator[Row]:
        if isinstance(found, BadLine):
            self._bad.add(found)
            return
        for each in handed_out(found, self._judge.setting, self._known):
            if isinstance(each, Part):
                yield from _set_aside(each, self._parts[each.run, each.broker][0])
                continue
            for line in each:
                yield from self._look_at(line)

    def _look_at(self, line: Event | BadLine) -> Iterator[Row]:
        if isinstance(line, BadLine):
            self._bad.add(line)
            return
        key = self._key(line)
        known = None if self._starts else self._parts.get(key)
        if known is not None:
            yield from _look(known[1], known[0], line)
            return
        part = part_of(self._judge, *key, line if self._starts else None, self._group << PART_BITS)
        self._parts[key] = self._group, part
        if not self._starts:
            yield from _look(part, self._group, line)
        self._starts = False

    def _key(self, event: Event) -> tuple[str, str]:
        return event.run or self._judge.setting.run, event.broker

    def _known(self, run: str, broker: str) -> Part | None:
        known = self._parts.get((run, broker))
        return None if known is None else known[1]

    def finished(self) -> Iterator[Row]:
        for number, part in self._parts.values():
            yield from _finished(part, number)
        if self._bad.count:
            yield UNREADABLE, b"", b"", b"", "", 0, 0, encode_bad(self._bad)


def _look(part: Part, number: int, line: Event | BadLine) -> Iterator[Row]:
    if isinstance(line, BadLine):
        part.bad.add(line)
    elif part.look(line):
        yield from _set_aside(part, number)


def _finished(part: Part, number: int) -> Iterator[Row]:
    found = part.finish()
    yield from _set_aside(part, number, all_of_it=True)
    run, broker = key_of(part.run), key_of(part.broker)
    yield FOUND, run, broker, b"", "", number, 0, encode_found(found)


def _set_aside(part: Part, number: int, *, all_of_it: bool = False) -> Iterator[Row]:
    run = key_of(part.run)
    for (near, far, end), block in part.links.blocks(all_of_them=all_of_it):
        yield LINK, run, key_of(near), key_of(far), end, number, part.events, block
    for bucket, block in part.client_blocks(all_of_them=all_of_it):
        yield CLIENT, run, key_of(part.broker), b"", str(bucket), number, part.events, block
    for where, block in part.emitted_blocks(all_of_them=all_of_it):
        yield EMITTED, run, b"", b"", where, number, part.events, block


# -- second look -------------------------------------------------------------------------------------------------------

MET = "data binary"
"""Schema of the events that were found."""


def in_blocks(setting: Setting, told: Any, found: Iterator[Batch]) -> Iterator[Batch]:
    """For `mapInArrow`: blocks of lines in, `MET` out. `told`: the broadcast parts to look for."""
    yield from batches(MET, ((packed(each),) for each in _met_in_blocks(setting, told.value, rows_of(found))))


def _met_in_blocks(setting: Setting, wanted: frozenset[Any], blocks: Iterator[dict[str, Any]]) -> Iterator[FoundEvent]:
    whose = {each[:2] for each in wanted if len(each) == 3}
    runs = {each[0] for each in wanted if len(each) == 2}
    for block in blocks:
        run = name_of(block["run"])
        if run in runs or (run, name_of(block["broker"])) in whose:
            yield from found_among(numbered(block, setting), setting, wanted)


def in_groups(path: str, setting: Setting, told: Any, found: Iterator[Batch]) -> Iterator[Batch]:
    """For `mapInArrow`: numbers of row groups in, `MET` out."""
    yield from batches(MET, ((packed(each),) for each in _met_in_groups(path, setting, told.value, rows_of(found))))


def _met_in_groups(
    path: str, setting: Setting, wanted: frozenset[Any], asked: Iterator[dict[str, Any]]
) -> Iterator[FoundEvent]:
    for row in asked:
        for rows in groups.rows(Path(path), row["number"]):
            if isinstance(rows, RowBatch):
                yield from found_among(likely(rows, wanted), setting, wanted)


def decode_met(data: bytes) -> FoundEvent:
    return msgspec.msgpack.decode(data, type=FoundEvent)
