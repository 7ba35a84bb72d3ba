"""The engine for one core: it reads a trace once, event by event, in memory that does not grow with it.

All brokers are replayed side by side, in whatever order the file has them. What links and clients need is set aside in
a temporary file (`store`), and judged when the whole trace has been read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

from routeproof.checker.errors import UsageError
from routeproof.checker.memory import collecting_rarely
from routeproof.checker.validate.again import look
from routeproof.checker.validate.ahead import subscriptions
from routeproof.checker.validate.bad import BadLines
from routeproof.checker.validate.clients import OPERATIONS
from routeproof.checker.validate.conclude import of_broker, report, why_nothing_is_owed
from routeproof.checker.validate.links import Comparison, compare
from routeproof.checker.validate.metrics.asked import Measured
from routeproof.checker.validate.metrics.metered import part_of
from routeproof.checker.validate.mixed import Mixed
from routeproof.checker.validate.packing import HALF, is_whole
from routeproof.checker.validate.part import Found, Judge, Part
from routeproof.checker.validate.pruning.noted import NOTED
from routeproof.checker.validate.quiet import Busy, slot_width
from routeproof.checker.validate.rejection import Rejection
from routeproof.checker.validate.report import Report
from routeproof.checker.validate.rows import handed_out, looks_at_once
from routeproof.checker.validate.seen import CLIENTS, SAID, judge_clients, operations_said
from routeproof.checker.validate.setting import Setting
from routeproof.checker.validate.store import Store
from routeproof.checker.validate.traffic import Traffic
from routeproof.traces import BadLine, Event, TraceError, open_trace
from routeproof.traces.parquet_reader import Rows, is_parquet
from routeproof.traces.reader import open_rows


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
        self._look = partial(look, path, setting)
        self._setting = setting
        self._store = store
        self.judge = Judge(setting)
        self._parts: dict[tuple[str, str], Part] = {}
        self._bad = BadLines()
        self._traffic: dict[str, Traffic | None] = {}
        """Of each run that was concluded."""

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
        """The same, publications at many brokers at once."""
        for each in Mixed(self.judge, self._new_part).take(lines):
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
        for place, block in part.noted_blocks(all_of_them=all_of_it):
            self._store.put((part.run, NOTED, place), block)

    def conclude(self) -> Report:
        found = []
        for part in self._parts.values():
            found.append(part.finish())
            self._put(part, all_of_it=True)
        rejections = [r for each in found if (r := of_broker([each])) is not None]
        for run in sorted({run for run, _ in self._parts}):
            rejections += self._between_brokers(run, [each for each in found if each.run == run])
        if isinstance(self._setting, Measured):
            from routeproof.checker.validate.metrics.apart import measure_locally

            measure_locally(self._setting, self._store, found)
        for each in found:
            self._bad.merge(each.bad)
        if self._setting.prunes:
            from routeproof.checker.validate.pruning.apart import report_with_similarity

            return report_with_similarity(
                self._setting, self._store, found, rejections, self._bad, self._look, self._traffic
            )
        return report(self._setting, found, rejections, self._bad, self._look)

    def _between_brokers(self, run: str, found: list[Found]) -> list[Rejection]:
        """Links and clients of one run."""
        times = [t for each in found for t in (each.earliest, each.latest) if t >= 0]
        width = slot_width(min(times, default=0), max(times, default=0))
        control, publications, on_the_way = Busy(width), Busy(width), set[int]()
        rejections: list[Rejection] = []
        for near, far in self._links_of(run):
            ends = [self._store.blocks((run, "link", near, far, end)) for end in ("sent", "taken")]
            for each in compare(run, (near, far), *ends):
                if isinstance(each, Comparison):
                    rejections += [each.rejection] if each.rejection else []
                    on_the_way |= each.on_the_way
                else:
                    begins, until, is_control = each
                    publications.add(begins[~is_control], until[~is_control])
                    control.add(begins[is_control], until[is_control])
        if not {"client", "deliver"} <= self._setting.observes:
            return rejections
        traffic = None
        if why_nothing_is_owed(self._setting, found, bool(rejections)) is None:
            pairs = self._setting.pairs
            traffic = Traffic(
                control if pairs else None,
                publications if pairs else None,
                self._setting.settles,
                max(times, default=0),
                frozenset(on_the_way),
            )
        self._traffic[run] = traffic
        return [*rejections, *self._of_clients(run, traffic)]

    def _links_of(self, run: str) -> list[tuple[str, str]]:
        found = {key[2:4] for key in self._store.stored() if key[:2] == (run, "link")}
        return sorted((near, far) for near, far in found)

    def _of_clients(self, run: str, traffic: Traffic | None) -> Iterator[Rejection]:
        yield from judge_clients(self._setting, run, partial(operations_said, self._store, run), traffic, self._store)
