"""Row groups of Parquet in the workers, and the plan of which part of a trace is judged where.

A row group is read where it is judged; before that, a few of its columns say whose events it has. Files that we write
keep each broker together (`routeproof.traces.columns`); others may have it anywhere.

A broker's events must be judged in order, so they are one part; but where the trace has its tables, a part may end and
the next begin, so that a broker with nearly all events is not one long task. A broker that delivers to clients without
naming the subscription is not cut: nothing in a snapshot says which client a subscription is of.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from heapq import heapify, heapreplace
from itertools import islice, repeat
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from attrs import frozen
from msgspec import Struct
from msgspec.structs import replace

from routeproof.checker.spark.rows import Batch, batches, rows_of
from routeproof.checker.validate.broker.judge import MOST, Judge, publications, subscriptions
from routeproof.checker.validate.broker.publications import MOST as MOST_PUBLICATIONS
from routeproof.checker.validate.setting import Setting
from routeproof.checker.validate.spark import AHEAD, LINES, PUBLISHED, in_rows, opened
from routeproof.checker.validate.store import packed
from routeproof.traces import BadLine, Event
from routeproof.traces.parquet_file import FAULTS, ParquetFile, viewed
from routeproof.traces.reader import RowBatch, read_rows

SUMMARIES = "number long, kind int, events long, data binary"
"""Schema of a row group's summary: whose events it has, as `GROUP`; and its clients' rows, as in `columns.BLOCKS`."""
GROUP = LINES

COLUMNS = ("run", "broker", "event", "to")
"""Columns that say whose an event is, and whether a part may begin with it."""


class GroupStretch(Struct, frozen=True, array_like=True):
    """A broker's events in one row group. `starts`: the first of all in the group, and a part may begin with it."""

    run: str
    broker: str
    events: int
    starts: bool
    bare: bool


def count(path: Path) -> int:
    """Row groups."""
    with path.open("rb") as file:
        return len(ParquetFile(file).sizes)


def rows(path: Path, group: int) -> Iterator[RowBatch | BadLine]:
    with opened(path) as file:
        _, found = read_rows(file, groups=[group])
        yield from found


def first(path: Path, group: int) -> Event | BadLine | None:
    for found in rows(path, group):
        return found if isinstance(found, BadLine) else found.part(0, 1).events()[0]
    return None


def summarise(path: str, setting: Setting, found: Iterator[Batch]) -> Iterator[Batch]:
    """For `mapInArrow`: rows of a group's `number` in, `SUMMARIES` out; null where the group cannot be read."""
    judge = Judge(setting)
    for row in rows_of(found):
        yield from batches(SUMMARIES, _summary(judge, Path(path), row["number"]))


def _summary(judge: Judge, path: Path, number: int) -> Iterator[tuple[int, int, int, bytes | None]]:
    stretches = _stretches(judge, path, number)
    yield number, GROUP, 0, None if stretches is None else msgspec.msgpack.encode(stretches)
    yield number, AHEAD, 0, packed(list(islice(subscriptions(path, [number]), MOST)))
    if judge.setting.matches:
        for some, data in in_rows(list(islice(publications(path, [number]), MOST_PUBLICATIONS))):
            yield number, PUBLISHED, some, data


def decode(data: bytes) -> list[GroupStretch]:
    return msgspec.msgpack.decode(data, type=list[GroupStretch])


def _stretches(judge: Judge, path: Path, group: int) -> list[GroupStretch] | None:
    import pyarrow as pa

    found: dict[tuple[str, str], tuple[int, bool]] = {}
    begins: tuple[str, str] | None = None
    first_event = ""
    try:
        for batch in _batches(path, group):
            run, broker, event, to = (_said(batch, name) for name in COLUMNS)
            (there,) = np.nonzero(broker.numbers >= 0)
            if not len(there):
                continue
            of_whom = (run.numbers * len(broker.words) + broker.numbers)[there]
            different, firsts, counts = np.unique(of_whom, return_index=True, return_counts=True)
            bare = set(of_whom[(event.is_word("deliver") & to.is_word(""))[there]].tolist())
            for at in np.argsort(firsts).tolist():
                which_run, which = divmod(int(different[at]), len(broker.words))
                key = run.words[which_run] or judge.setting.run, broker.words[which]
                known, was_bare = found.get(key, (0, False))
                found[key] = known + int(counts[at]), was_bare or int(different[at]) in bare
            if begins is None:
                begins = next(iter(found))
                first_event = event.words[event.numbers[there[0]]]
    except (pa.ArrowException, UnicodeDecodeError, *FAULTS):
        return None
    starts = first_event == "snapshot" and _is_start(judge, path, group)
    return [GroupStretch(*key, events, starts and key == begins, bare) for key, (events, bare) in found.items()]


def _batches(path: Path, group: int) -> Iterator[Batch]:
    with opened(path) as file:
        source = ParquetFile(file)
        for part in source.parts(group, [name for name in COLUMNS if name in source.names]):
            if not part.is_too_long:
                yield part.batch


@frozen
class _Said:
    """A column of words, by number."""

    numbers: Any
    words: list[str]

    def is_word(self, word: str) -> Any:
        return self.numbers == (self.words.index(word) if word in self.words else len(self.words))


def _said(batch: Batch, name: str) -> _Said:
    """Nothing is the empty word; of a broker it is -1."""
    import pyarrow as pa

    if name not in batch.schema.names:
        return _Said(np.zeros(batch.num_rows, np.int64), [""])
    column = batch.column(name)
    if not pa.types.is_dictionary(column.type) or column.dictionary.null_count:
        column = column.cast(pa.large_string()).dictionary_encode()
    words = column.dictionary.cast(pa.large_string()).to_pylist()
    numbers = np.frombuffer(viewed(column.indices, -1), np.int64)
    if name == "broker":
        return _Said(numbers, words)
    if "" not in words:
        words.append("")
    return _Said(np.where(numbers < 0, words.index(""), numbers), words)


def _is_start(judge: Judge, path: Path, group: int) -> bool:
    begins = first(path, group)
    return isinstance(begins, Event) and judge.start_at(begins) is not None


# -- the plan ----------------------------------------------------------------------------------------------------------

PART_EVENTS = 20_000
"""A part that may end goes on until it has so many."""


@frozen
class Block:
    """A row of `columns.BLOCKS`, without its lines."""

    run: bytes
    broker: bytes
    place: int
    events: int
    starts: bool
    bare: bool


WITHIN, BEGINS, CLOSES = range(3)


@frozen
class Assigned:
    """A block belongs to a part: as one of its blocks, as the one with whose first line, a snapshot, it begins, or with
    that line only, at which it ends."""

    place: int
    part: int
    role: int
    task: int


def of_blocks(blocks: Iterable[Block], tasks: int) -> list[Assigned]:
    """Parts are numbered in the order in which a broker's follow each other."""
    brokers: dict[tuple[bytes, bytes], list[Block]] = {}
    for block in sorted(blocks, key=lambda b: b.place):
        brokers.setdefault((block.run, block.broker), []).append(block)
    found: list[tuple[int, int, int]] = []
    sizes: list[int] = []
    for mine in brokers.values():
        whole = any(block.bare for block in mine)
        sizes.append(0)
        for block in mine:
            role = WITHIN
            if block.starts and not whole and sizes[-1] >= PART_EVENTS:
                found.append((block.place, len(sizes) - 1, CLOSES))
                sizes.append(0)
                role = BEGINS
            found.append((block.place, len(sizes) - 1, role))
            sizes[-1] += block.events
    task = spread(sizes, tasks)
    return [Assigned(place, part, role, task[part]) for place, part, role in found]


@frozen
class Unit:
    """Row groups that one task reads in order.

    `starts`: those that begin with a snapshot and a new part. `closes`: row groups of other units, each of which begins
    with the snapshot at which a part of this one ends.
    """

    groups: tuple[int, ...]
    starts: tuple[int, ...] = ()
    closes: tuple[int, ...] = ()


def of_groups(groups: Sequence[list[GroupStretch] | None]) -> list[Unit]:
    """Row groups that share a broker are one unit, unless the broker's tables stand where the second begins.

    If the broker of a row group is unknown, all row groups are one unit.
    """
    if any(group is None for group in groups):
        return [Unit(tuple(range(len(groups))))]
    known = [group or [] for group in groups]
    whole = {(s.run, s.broker) for group in known for s in group if s.bare}
    joined = _Joined(len(known))
    last: dict[tuple[str, str], int] = {}
    cuts: dict[int, int] = {}
    for number, group in enumerate(known):
        for stretch in group:
            key = stretch.run, stretch.broker
            if key in last and stretch.starts and key not in whole:
                cuts[number] = last[key]
            elif key in last:
                joined.join(last[key], number)
            last[key] = number
    members: dict[int, list[int]] = {}
    for number in range(len(known)):
        members.setdefault(joined.find(number), []).append(number)
    cuts = {number: before for number, before in cuts.items() if joined.find(number) != joined.find(before)}
    return [
        Unit(
            tuple(those),
            tuple(number for number in those if number in cuts),
            tuple(number for number, before in cuts.items() if before in those),
        )
        for those in sorted(members.values())
    ]


def whole_units(path: Path, setting: Setting) -> list[tuple[tuple[int, ...], int]]:
    """Row groups that share no broker with those of another unit, and how many rows each unit has; if the
    statistics of the file are right."""
    judge = Judge(setting)
    with path.open("rb") as source:
        said = list(map(_said_of_group, repeat(ParquetFile(source)), range(count(path))))
    known = [_stretches(judge, path, at) if each is None else [each] for at, each in enumerate(said)]
    uncut = [None if group is None else [replace(each, starts=False) for each in group] for group in known]
    rows = [sum(stretch.events for stretch in group or ()) for group in known]
    return [(unit.groups, sum(rows[number] for number in unit.groups)) for unit in of_groups(uncut)]


def _said_of_group(file: ParquetFile, number: int) -> GroupStretch | None:
    """The only broker of a row group; None if there may be others. In a run without a name."""
    told, rows = file.told(number), file.sizes[number]
    run, broker = told.get("run"), told.get("broker")
    if broker is None or not broker.has_min_max or broker.min != broker.max or broker.null_count:
        return None
    if "run" in file.names and (run is None or run.null_count != rows):
        return None
    return GroupStretch("", broker.min, rows, False, False)


class _Joined:
    """Sets of row groups that only grow."""

    def __init__(self, count: int) -> None:
        self._parent = list(range(count))

    def find(self, each: int) -> int:
        while self._parent[each] != each:
            self._parent[each] = each = self._parent[self._parent[each]]
        return each

    def join(self, one: int, other: int) -> None:
        one, other = sorted((self.find(one), self.find(other)))
        self._parent[other] = one


def spread(sizes: Sequence[int], tasks: int, later: int = 0) -> list[int]:
    """A task for each, so that no task has much more than another: the largest first, each to the least busy. All tasks
    but the first begin `later`."""
    busy = [(later if task else 0, task) for task in range(max(1, tasks))]
    heapify(busy)
    found = [0] * len(sizes)
    for each in sorted(range(len(sizes)), key=lambda i: -sizes[i]):
        load, task = busy[0]
        found[each] = task
        heapreplace(busy, (load + sizes[each] + 1, task))
    return found
