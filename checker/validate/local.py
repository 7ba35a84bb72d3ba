"""The engine for one core: it reads a trace once, event by event, in memory that does not grow with it.

All brokers are replayed side by side, in whatever order the file has them. What links and clients need is set aside in
a temporary file (`store`), and judged when the whole trace has been read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path

from routeproof.checker.system.errors import UsageError
from routeproof.checker.system.processes import collecting_rarely
from routeproof.checker.validate.broker.bulk import BulkReplay, handed_out, looks_at_once
from routeproof.checker.validate.broker.findings import PartResult
from routeproof.checker.validate.broker.part import Judge, Part
from routeproof.checker.validate.clients.foreseen import subscriptions
from routeproof.checker.validate.clients.judge import CLIENTS, SAID, judge_clients, operations_said
from routeproof.checker.validate.clients.rows import OPERATIONS
from routeproof.checker.validate.clock import CERTAIN, Doubts
from routeproof.checker.validate.conclusion import (
    doubts_about,
    first_of_broker,
    hindrance,
    judge_clock,
    look_up,
    report,
    why_nothing_is_owed,
)
from routeproof.checker.validate.judging import STAGES, hindrances, run_locally, summaries
from routeproof.checker.validate.links import Spans, compare
from routeproof.checker.validate.metrics.meter import Measured, part_of
from routeproof.checker.validate.rejection import Rejection
from routeproof.checker.validate.report import BadLines, Extent, Report
from routeproof.checker.validate.setting import Setting
from routeproof.checker.validate.store import HALF, Store, is_whole
from routeproof.checker.validate.traffic import (
    Ends,
    OnTheWay,
    Traffic,
    count_link,
    ends_of,
    last_time,
    traffic_of,
    width_and_latest,
)
from routeproof.traces import BadLine, Event, TraceError, open_trace
from routeproof.traces.reader import Rows, is_parquet, open_rows


def validate_locally(path: Path, setting: Setting) -> Report:
    with Store() as store, collecting_rarely():
        reading = _Reading(path, setting, store)
        try:
            if is_parquet(path):
                reading.judge.look_ahead(subscriptions(path))
                with open_rows(path) as (_, rows):
                    reading.read_rows(rows)
            else:
                with open_trace(path) as (_, lines):
                    (reading.read_mixed if looks_at_once(setting) else reading.read)(lines)
            return reading.conclude()
        except TraceError as error:
            raise UsageError(str(error)) from None


class _Reading:
    """All parts of one trace."""

    def __init__(self, path: Path, setting: Setting, store: Store) -> None:
        self._look = partial(look_up, path, setting)
        self._setting = setting
        self._store = store
        self.judge = Judge(setting)
        self._parts: dict[tuple[str, str], Part] = {}
        self._bad = BadLines()
        self._traffic: dict[str, Traffic | None] = {}
        self._doubts: dict[str, dict[str, Doubts]] = {}
        """Doubts about the clock of each run that was concluded."""

    def read(self, lines: Iterable[Event | BadLine]) -> None:
        parts, header_run = self._parts, self._setting.run
        for line in lines:
            if type(line) is BadLine:
                self._bad.add(line)
                continue
            assert type(line) is Event
            part = parts.get((line.run or header_run, line.broker)) or self._new_part(line)
            if part is not None and part.look(line):
                self._put(part)

    def read_mixed(self, lines: Iterable[Event | BadLine]) -> None:
        """Reads lines, with publications at many brokers at once."""
        for each in BulkReplay(self.judge, self._new_part).take(lines):
            if isinstance(each, Part):
                self._put(each)
            else:
                self._bad.add(each)

    def _new_part(self, line: Event) -> Part | None:
        key = line.run or self._setting.run, line.broker
        if not is_whole(*key):
            self._bad.add(BadLine(line.line, HALF))
            return None
        part = self._parts[key] = part_of(self.judge, *key)
        return part

    def _part(self, run: str, broker: str) -> Part | None:
        return self._parts.get((run, broker))

    def read_rows(self, found: Iterator[Rows | BadLine]) -> None:
        for rows in found:
            if isinstance(rows, BadLine):
                self._bad.add(rows)
            else:
                for each in handed_out(rows, self._setting, self._part):
                    if isinstance(each, Part):
                        self._put(each)
                    else:
                        self.read(each)
            del rows  # its dictionaries need not stay until those of the next are there

    def _put(self, part: Part, *, all_of_it: bool = False) -> None:
        for link, block in part.link_blocks(all_of_them=all_of_it):
            self._store.put((part.run, "link", *link), block)
        for bucket, block in part.client_blocks(all_of_them=all_of_it):
            where = (SAID, part.broker) if bucket == OPERATIONS else (CLIENTS, f"{bucket:02}")
            self._store.put((part.run, *where), block)
        for key, block in part.emitted_blocks(all_of_them=all_of_it):
            self._store.put((part.run, STAGES, key, ""), block)

    def conclude(self) -> Report:
        extent = Extent()
        found = []
        for part in self._parts.values():
            found.append(part.finish())
            self._put(part, all_of_it=True)
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
            self._bad.merge(each.bad)
        stages = self._setting.judging.stages
        if stages is None:
            return report(self._setting, found, rejections, self._bad, self._look, extent)
        why = hindrances(stages, self._setting, found, rejections)
        runs = [run for run in why if why[run] is None]
        rejections += run_locally(stages, self._setting, self._store, runs, self._traffic, self._doubts)
        made = report(self._setting, found, rejections, self._bad, self._look, extent)
        left_out = {each for each in why.values() if each is not None}
        return stages.conclude(self._setting, made, summaries(self._store, runs), left_out)

    def _between_brokers(self, run: str, found: list[PartResult], extent: Extent) -> list[Rejection]:
        """Links and clients of one run."""
        doubts = {each.broker: doubts_about([each]) for each in found}
        rejections = [r for each in sorted(doubts) if (r := judge_clock(run, each, doubts[each], extent)) is not None]
        doubtful = {broker: each for broker, each in doubts.items() if each}
        width, latest = width_and_latest(found, doubts.values())
        ways, sure = OnTheWay(width), OnTheWay(width) if doubtful else None
        are_wrong = False
        last = {each.broker: last_time(self._setting, doubts[each.broker]) for each in found}
        of_links = Extent()
        ways.add_kept(each.kept for each in found)
        for near, far in self._links_of(run):
            sent, taken = (self._store.blocks((run, "link", near, far, end)) for end in ("sent", "taken"))
            pair = doubtful.get(near, CERTAIN), doubtful.get(far, CERTAIN)
            known, modelled = last.get(near, -1), self._setting.models_sends
            for each in compare(
                run,
                (near, far),
                sent,
                taken,
                pair,
                shared_clock=self._setting.shared_clock,
                until=known,
                is_modelled=modelled,
                skew=self._setting.skew,
            ):
                if isinstance(each, Spans):
                    ways.add(each)
                    if sure is not None:
                        sure.add_sure(each)
                    continue
                rejections += each.rejections
                are_wrong |= each.is_wrong
                ways.left |= each.on_the_way
                count_link(of_links, run, (near, far), each)
        ends, wrong = ends_of(self._setting, found, of_links, last, are_sure=sure is None)
        rejections += wrong
        extent.add(of_links)
        if not {"client", "deliver"} <= self._setting.observes:
            return rejections
        traffic = None
        if why_nothing_is_owed(self._setting, found) is None:
            traffic = traffic_of(self._setting, latest, ways, sure, hindrance(links_are_wrong=are_wrong))
        self._traffic[run], self._doubts[run] = traffic, doubtful
        return [*rejections, *self._of_clients(run, traffic, doubtful, extent, ends)]

    def _links_of(self, run: str) -> list[tuple[str, str]]:
        return sorted({(near, far) for _, _, near, far, _ in self._store.under(run, "link")})

    def _of_clients(
        self, run: str, traffic: Traffic | None, doubts: Mapping[str, Doubts], extent: Extent, ends: Ends
    ) -> Iterator[Rejection]:
        told = partial(operations_said, self._store, run, doubts)
        yield from judge_clients(self._setting, run, told, traffic, self._store, doubts, extent, ends)
