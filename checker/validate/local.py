"""The engine for one machine: it reads a trace once, event by event, in memory that does not grow with it.

All brokers are replayed side by side, in whatever order the file has them. What links and clients need is set aside in
a temporary file (`store`), and judged when the whole trace has been read. Several processes, this one among them, have
a share of the brokers each, and a file each; every one reads all lines, or its own row groups. Then each judges a share
of what clients saw.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack
from functools import partial
from itertools import starmap
from pathlib import Path
from typing import TypeAlias
from zlib import crc32

from attrs import frozen

from routeproof.checker.system.errors import UsageError
from routeproof.checker.system.processes import Together, collecting_rarely, crew
from routeproof.checker.validate.broker.bulk import BulkReplay, handed_out, looks_at_once
from routeproof.checker.validate.broker.judge import Judge, subscriptions
from routeproof.checker.validate.broker.part import Part
from routeproof.checker.validate.clients import OPERATIONS
from routeproof.checker.validate.clients.judge import CLIENTS, SAID, judge_clients, operations_said
from routeproof.checker.validate.clock import CERTAIN, Doubts
from routeproof.checker.validate.conclusion import (
    doubts_about,
    first_of_broker,
    judge_clock,
    look_up,
    report,
)
from routeproof.checker.validate.findings import BadLines, PartResult, Rejection
from routeproof.checker.validate.judging import STAGES, hindrances, run_locally, summaries
from routeproof.checker.validate.links import Spans, compare
from routeproof.checker.validate.metrics import Measured, part_of
from routeproof.checker.validate.readiness import Link, Passages, Ways, kept_of_link
from routeproof.checker.validate.report import Extent, Report
from routeproof.checker.validate.scope import hindrance, why_times_do_not_tell
from routeproof.checker.validate.setting import Setting
from routeproof.checker.validate.spark.groups import spread, whole_units
from routeproof.checker.validate.store import HALF, Key, Store, Stores, is_whole
from routeproof.checker.validate.traffic import (
    Ends,
    OnTheWay,
    Traffic,
    begun_amid,
    count_link,
    ends_of,
    last_time,
    traffic_of,
    width_and_latest,
)
from routeproof.traces import BadLine, Event, TraceError, open_trace
from routeproof.traces.reader import RowBatch, is_parquet, open_lines, open_rows

Premises: TypeAlias = tuple[str, Traffic | None, Ways | None, Mapping[str, Doubts], Ends]
"""Premises of what clients are owed: the run, when links were busy, what passed them, doubts about times, and
where recordings end."""

Judged: TypeAlias = tuple[list[Rejection], Extent]


def validate_locally(path: Path, setting: Setting, workers: int = 1) -> Report:
    try:
        shares = shares_of(path, setting, workers)
        if len(shares) > 1 and (found := _in_workers(path, setting, shares)) is not None:
            return found
        with Store() as store, collecting_rarely():
            reading = _Reading(path, setting, store)
            reading.read_all()
            return reading.conclude(reading.finish())
    except TraceError as error:
        raise UsageError(str(error)) from None


def replays_well(path: Path, setting: Setting, brokers: Collection[str]) -> bool:
    """True if none of these brokers takes a wrong step. Neither links nor clients are judged."""
    with Store() as store, collecting_rarely():
        reading = _Reading(path, setting, store, WorkShare(only=brokers))
        reading.read_all()
        return all(each.rejection is None for each in reading.finish())


BEGINNING = 200_000
"""Number of events that are judged in the time in which a process begins."""


@frozen
class WorkShare:
    """The brokers that one of `of` workers judges: those of some row groups, or one in `of` of all; or the only ones.

    `counts_bad`: it counts the lines that cannot be read, of all that it reads.
    """

    number: int = 0
    of: int = 1
    groups: tuple[int, ...] | None = None
    counts_bad: bool = True
    only: Collection[str] | None = None

    def has(self, broker: str) -> bool:
        if self.only is not None:
            return broker in self.only
        if self.of == 1 or self.groups is not None:
            return True
        return crc32(broker.encode("utf-8", "surrogatepass")) % self.of == self.number


def shares_of(path: Path, setting: Setting, workers: int) -> list[WorkShare]:
    """At most one share a worker. A broker's events are judged in order, so each broker belongs to one of them."""
    workers = min(workers, len(setting.names))
    if workers < 2:
        return [WorkShare()]
    if is_parquet(path):
        units = whole_units(path, setting)
        if len(units) >= workers:
            sizes = [rows for _, rows in units]
            task = spread(sizes, workers, min(BEGINNING, sum(sizes) // (2 * workers)))
            chosen = [
                [g for (those, _), t in zip(units, task, strict=True) if t == n for g in those] for n in range(workers)
            ]
            return [WorkShare(n, workers, tuple(sorted(those))) for n, those in enumerate(chosen)]
    return [WorkShare(number, workers, counts_bad=number == 0) for number in range(workers)]


IN_A_BUCKET = 16 << 20, 1 << 20
"""Bytes of a trace for each bucket of what clients saw, of lines and of Parquet: some 50,000 events."""

FEWEST_BUCKETS, MOST_BUCKETS = 16, 1 << 8


def _buckets(path: Path, workers: int) -> int:
    """How many buckets there are; as many for each worker."""
    found = max(FEWEST_BUCKETS, min(path.stat().st_size // IN_A_BUCKET[is_parquet(path)], MOST_BUCKETS))
    return workers * max(1, found // workers)


def _in_workers(path: Path, setting: Setting, shares: list[WorkShare]) -> Report | None:
    """Joins what parts set aside, which stands in a file of each worker. None if a broker is in several shares: what
    the file states of its row groups is wrong."""
    with tempfile.TemporaryDirectory() as folder, crew(len(shares) - 1) as made, ExitStack() as stack:
        names = [Path(folder, str(share.number)) for share in shares]
        read = made([partial(_read_share, path, setting, *each) for each in zip(names, shares, strict=True)])
        found = [part for parts, _, _ in read for part in parts]
        if len({(part.run, part.broker) for part in found}) < len(found):
            return None
        files = {name: last for name, (_, _, last) in zip(names, read, strict=True)}
        store = stack.enter_context(Stores(list(starmap(Store, files.items()))))
        with collecting_rarely():
            reading = _Reading(path, setting, store)
            reading.judge_clients = partial(_judge_in_shares, made, setting, files)
            for _, bad, _ in read:
                reading.bad.merge(bad)
            return reading.conclude(found)


def _judge_in_shares(
    made: Together, setting: Setting, files: Mapping[Path, Mapping[Key, int]], premises: Premises
) -> Judged:
    rejections, extent = [], Extent()
    shares = [partial(_judge_share, setting, files, premises, number) for number in range(len(files))]
    for wrong, judged in made(shares):
        rejections += wrong
        extent.add(judged)
    return rejections, extent


def _judge_share(setting: Setting, files: Mapping[Path, Mapping[Key, int]], premises: Premises, number: int) -> Judged:
    """Judges every n-th bucket of what clients saw, of n files."""

    def is_mine(kind: str, bucket: str) -> bool:
        return kind != CLIENTS or int(bucket) % len(files) == number

    mine = {name: {key: at for key, at in last.items() if is_mine(*key[1:3])} for name, last in files.items()}
    with Stores(list(starmap(Store, mine.items()))) as store, collecting_rarely():
        return _judge_clients(setting, store, premises)


def _judge_clients(setting: Setting, store: Store, premises: Premises) -> Judged:
    run, traffic, ways, doubts, ends = premises
    told, extent = partial(operations_said, store, run, doubts), Extent()
    return list(judge_clients(setting, run, told, traffic, store, doubts, extent, ends, ways)), extent


def _read_share(
    path: Path, setting: Setting, where: Path, share: WorkShare
) -> tuple[list[PartResult], BadLines, Mapping[Key, int]]:
    with Store(where) as store, collecting_rarely():
        reading = _Reading(path, setting, store, share)
        reading.read_all()
        return reading.finish(), reading.bad, store.last


class _Reading:
    """All parts of one trace, or of a share of it."""

    def __init__(self, path: Path, setting: Setting, store: Store, share: WorkShare = WorkShare()) -> None:
        self._path, self._share = path, share
        self._look = partial(look_up, path, setting)
        self._setting = setting
        self._store = store
        self.judge = Judge(setting, _buckets(path, share.of))
        self._parts: dict[tuple[str, str], Part] = {}
        self.bad = BadLines()
        """Lines that cannot be read."""
        self.judge_clients: Callable[[Premises], Judged] = partial(_judge_clients, setting, store)
        self._traffic: dict[str, Traffic | None] = {}
        self._doubts: dict[str, dict[str, Doubts]] = {}
        """Doubts about the clock of each run that was concluded."""

    def read_all(self) -> None:
        if is_parquet(self._path):
            self.judge.look_ahead(subscriptions(self._path))
            with open_rows(self._path, self._share.groups) as (_, rows):
                self.read_rows(rows)
        else:
            self.read_lines()

    def read_lines(self) -> None:
        """Reads lines of JSON: where that is possible, publications at many brokers at once."""
        if looks_at_once(self._setting):
            with open_lines(self._path) as (_, blocks):
                for each in BulkReplay(self.judge, self._new_part, self._share.has).take(blocks):
                    if isinstance(each, Part):
                        self._put(each)
                    else:
                        self._cannot_read(each)
        else:
            with open_trace(self._path) as (_, lines):
                self.read(lines)

    def read(self, lines: Iterable[Event | BadLine]) -> None:
        parts, header_run = self._parts, self._setting.run
        for line in lines:
            if type(line) is BadLine:
                self._cannot_read(line)
                continue
            assert type(line) is Event
            part = parts.get((line.run or header_run, line.broker)) or self._new_part(line)
            if part is not None and part.look(line):
                self._put(part)

    def _cannot_read(self, line: BadLine) -> None:
        if self._share.counts_bad:
            self.bad.add(line)

    def _new_part(self, line: Event) -> Part | None:
        key = line.run or self._setting.run, line.broker
        if not self._share.has(line.broker):
            return None
        if not is_whole(*key):
            self.bad.add(BadLine(line.line, HALF))
            return None
        part = self._parts[key] = part_of(self.judge, *key)
        return part

    def _part(self, run: str, broker: str) -> Part | None:
        return self._parts.get((run, broker))

    def read_rows(self, found: Iterator[RowBatch | BadLine]) -> None:
        for rows in found:
            if isinstance(rows, BadLine):
                self._cannot_read(rows)
            else:
                for each in handed_out(rows, self._setting, self._part):
                    if isinstance(each, Part):
                        self._put(each)
                    else:
                        self.read(each)
            del rows  # its dictionaries need not stay until those of the next are there

    def _put(self, part: Part, *, all_of_it: bool = False) -> None:
        for link, block in part.links.blocks(all_of_them=all_of_it):
            self._store.put((part.run, "link", *link), block)
        for bucket, block in part.client_blocks(all_of_them=all_of_it):
            where = (SAID, part.broker) if bucket == OPERATIONS else (CLIENTS, f"{bucket:03}")
            self._store.put((part.run, *where), block)
        for key, block in part.emitted_blocks(all_of_them=all_of_it):
            self._store.put((part.run, STAGES, key, ""), block)

    def finish(self) -> list[PartResult]:
        """Ends all parts, whose rows are then in the store."""
        found = []
        for part in self._parts.values():
            found.append(part.finish())
            self._put(part, all_of_it=True)
        return found

    def conclude(self, found: list[PartResult]) -> Report:
        extent = Extent()
        rejections = [r for each in found if (r := first_of_broker([each])) is not None]
        of_run: dict[str, list[PartResult]] = {}
        for each in found:
            of_run.setdefault(each.run, []).append(each)
        for run in sorted(of_run):
            rejections += self._between_brokers(run, of_run[run], extent)
        if isinstance(self._setting, Measured):
            from routeproof.checker.validate.metrics.files import measure_locally

            measure_locally(self._setting, self._store, found)
        for each in found:
            self.bad.merge(each.bad)
        stages = self._setting.judging.stages
        if stages is None:
            return report(self._setting, found, rejections, self.bad, self._look, extent)
        why = hindrances(stages, self._setting, found, rejections)
        runs = [run for run in why if why[run] is None]
        rejections += run_locally(stages, self._setting, self._store, runs, self._traffic, self._doubts)
        made = report(self._setting, found, rejections, self.bad, self._look, extent)
        left_out = {each for each in why.values() if each is not None}
        return stages.conclude(self._setting, made, summaries(self._store, runs), left_out)

    def _between_brokers(self, run: str, found: list[PartResult], extent: Extent) -> list[Rejection]:
        """Links and clients of one run."""
        doubts = {each.broker: doubts_about([each]) for each in found}
        rejections = [r for each in sorted(doubts) if (r := judge_clock(run, each, doubts[each], extent)) is not None]
        doubtful = {broker: each for broker, each in doubts.items() if each}
        width, latest = width_and_latest(found, doubts.values())
        ways, sure = OnTheWay(width), OnTheWay(width) if doubtful else None
        are_wrong, kept, passages = False, kept_of_link(self._setting), dict[Link, Passages]()
        last = {each.broker: last_time(self._setting, doubts[each.broker]) for each in found}
        of_links, begun = Extent(), begun_amid(found)
        ways.add_kept(each.kept for each in found)
        for near, far in self._links_of(run):
            sent, taken = (self._store.blocks((run, "link", near, far, end)) for end in ("sent", "taken"))
            pair = doubtful.get(near, CERTAIN), doubtful.get(far, CERTAIN)
            known = last.get(near, -1)
            amid = near in begun, far in begun
            for each in compare(self._setting, run, (near, far), sent, taken, pair, until=known, kept=kept, amid=amid):
                if isinstance(each, Spans):
                    ways.add(each)
                    if sure is not None:
                        sure.add_sure(each)
                    continue
                rejections += each.rejections
                are_wrong |= each.is_wrong
                ways.left |= each.on_the_way
                passages[near, far] = each.passages
                count_link(of_links, run, (near, far), each)
        ends, wrong = ends_of(self._setting, found, of_links, last, are_sure=sure is None)
        rejections += wrong
        extent.add(of_links)
        if not {"client", "deliver"} <= self._setting.observes:
            return rejections
        traffic = None
        if why_times_do_not_tell(self._setting, found) is None:
            traffic = traffic_of(self._setting, latest, ways, sure, hindrance(links_are_wrong=are_wrong))
        self._traffic[run], self._doubts[run] = traffic, doubtful
        by_link = Ways(self._setting, passages, ways.left) if kept and not are_wrong else None
        wrong, seen = self.judge_clients((run, traffic, by_link, doubtful, ends))
        extent.add(seen)
        return [*rejections, *wrong]

    def _links_of(self, run: str) -> list[tuple[str, str]]:
        links = {(near, far) for _, _, near, far, _ in self._store.under(run, "link")}
        return sorted(link for link in links if self._setting.compares(*link))
