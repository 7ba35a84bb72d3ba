"""Validation: is a recorded run one that the protocol allows?

`validate` judges a trace of any length on one core, in memory that does not grow with it. Each broker's events are
replayed through the model (`steps`), and what was received is held against what was sent, link by link (`channels`).
The rules of traces, TRC-*, are in `spec/traces.md`.
"""

from __future__ import annotations

import time
from pathlib import Path

from routeproof.checker.errors import UsageError
from routeproof.checker.validate.channels import Spool, compare
from routeproof.checker.validate.report import Report
from routeproof.checker.validate.said import digest, said_in_trace
from routeproof.checker.validate.setting import LEVELS, Level, Setting
from routeproof.checker.validate.steps import BrokerReplay, Rejection
from routeproof.traces import BadLine, Event, TraceError, open_trace

__all__ = ["LEVELS", "Level", "Rejection", "Report", "validate"]

BAD_LINES_KEPT = 20


def validate(path: Path, level: Level = "exact", protocol: str | None = None) -> Report:
    """Judge a trace; `UsageError` where its header cannot be used."""
    began = time.perf_counter()
    try:
        with open_trace(path) as (header, lines):
            judge = _Judge(Setting.of(header, level, protocol))
            for line in lines:
                judge.look(line)
            return judge.report(str(path), time.perf_counter() - began)
    except TraceError as error:
        raise UsageError(str(error)) from None


class _Judge:
    """All brokers and links of one trace."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.events = self.bad_lines = self._first_bad = 0
        self.bad: list[BadLine] = []
        self._replays: dict[tuple[str, str], BrokerReplay] = {}
        self._links: dict[tuple[str, str, str], tuple[Spool, Spool]] = {}
        self._replayable = {"receive", "client"} <= setting.observes
        self._paired = {"receive", "send"} <= setting.observes

    def look(self, line: Event | BadLine) -> None:
        if isinstance(line, BadLine):
            self.bad_lines += 1
            self._first_bad = self._first_bad or line.number
            if len(self.bad) < BAD_LINES_KEPT:
                self.bad.append(line)
            return
        self.events += 1
        run = line.run or self.setting.run
        if self._replayable:
            key = run, line.broker
            replay = self._replays.get(key)
            if replay is None:
                replay = self._replays[key] = BrokerReplay(self.setting, run, line.broker)
            replay.feed(line)
        if self._paired and line.event in ("send", "receive", "drop"):
            self._on_link(run, line)

    def report(self, trace: str, seconds: float) -> Report:
        found = [r for replay in self._replays.values() if (r := replay.finish())]
        for (run, near, far), (sent, taken) in self._links.items():
            if (r := compare(run, (near, far), iter(sent), iter(taken))) is not None:
                found.append(r)
            sent.close()
            taken.close()
        certain = [r for r in found if not self._first_bad or 0 < r.line < self._first_bad]
        return Report(
            trace=trace,
            level=self.setting.level,
            events=self.events,
            brokers=len({broker for _, broker in self._replays}),
            rejections=tuple(sorted(certain)),
            bad_lines=self.bad_lines,
            bad=tuple(self.bad),
            doubtful=tuple(sorted(r for r in found if r not in certain)),
            unjudged=self._unjudged(),
            seconds=seconds,
        )

    def _on_link(self, run: str, event: Event) -> None:
        assert event.message is not None, "the reader wants one"
        there = (event.broker, event.peer) if event.event == "send" else (event.peer, event.broker)
        spools = self._links.get((run, *there))
        if spools is None:
            spools = self._links[run, *there] = Spool(), Spool()
        try:
            spools[event.event != "send"].append(digest(said_in_trace(event.message)), event.seq)
        except TraceError as error:
            self.look(BadLine(event.line, str(error)))

    def _unjudged(self) -> tuple[str, ...]:
        observes = self.setting.observes
        lacks = [kind for kind in ("receive", "client") if kind not in observes]
        if lacks:
            return (f"the brokers' steps: {' and '.join(lacks)} events are not observed",)
        return tuple(f"{kind} events are not observed" for kind in ("send", "deliver") if kind not in observes)
