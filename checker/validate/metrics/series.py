"""What parts counted, added up: `Series`, the metrics of one run at each of its moments."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Any, TypeAlias

import numpy as np
from attrs import define, field

from routeproof.checker.validate.metrics.asked import MOST_ROWS, Measured, plain, too_many
from routeproof.checker.validate.metrics.delays import Moments
from routeproof.checker.validate.metrics.meter import COUNTS, UNKNOWN, Stretch, decode, measure
from routeproof.checker.validate.part import Found
from routeproof.traces.fields import INTEGER

Numbers: TypeAlias = Any
"""An array of int64, one for each moment."""


@define(eq=False)
class _Broker:
    """Of all its parts."""

    counts: dict[Stretch, list[int]] = field(factory=dict)
    arrived: dict[Stretch, int] = field(factory=dict)
    """From neighbours."""
    tables: dict[Stretch, tuple[int, int]] = field(factory=dict)
    endless: int = 0


class Series:
    """Of one run. `add` its parts, each broker's in their order."""

    def __init__(self, setting: Measured) -> None:
        self._setting = setting
        self._brokers: dict[str, _Broker] = defaultdict(_Broker)
        self._earliest = self._latest = -1

    def add(self, parts: Iterable[Found]) -> None:
        """Those of one broker."""
        is_lost = False
        for part in parts:
            if part.metered:
                self._add(part, is_lost)
            is_lost = is_lost or part.rejection is not None

    def _add(self, part: Found, is_lost: bool) -> None:
        """`is_lost`: a part before was rejected, and nobody knows the broker's table from there on."""
        counted, broker = decode(part.metered), self._brokers[plain(part.broker)]
        for stretch, row in counted.counts.items():
            known = broker.counts.get(stretch)
            broker.counts[stretch] = row if known is None else [a + b for a, b in zip(known, row, strict=True)]
        for node, arrivals in counted.arrived.items():
            arrived = self._brokers[plain(self._setting.name_of(node))].arrived
            for stretch, count in arrivals.items():
                arrived[stretch] = arrived.get(stretch, 0) + count
        for stretch, (time, table) in counted.tables.items():
            measure(broker.tables, stretch, time, UNKNOWN if is_lost else table)
        broker.endless += counted.endless
        if counted.earliest >= 0:
            if self._earliest < 0 or counted.earliest < self._earliest:
                self._earliest = counted.earliest
            self._latest = max(self._latest, counted.latest)

    @property
    def is_told(self) -> bool:
        """Was anything done?"""
        return self._earliest >= 0

    @property
    def moments(self) -> Moments:
        return Moments.of(self._setting.every, self._earliest, self._latest)

    def columns(self, broker: str) -> dict[str, Numbers]:
        """One broker's, at each moment: those that its trace tells."""
        moments, mine = self.moments, self._brokers[broker]
        ends = moments.first + np.arange(moments.count)
        found = dict(zip(COUNTS, _sampled(_totals(mine.counts), len(COUNTS), ends), strict=True))
        if mine.endless:
            del found["busy"]
        [found["table"]] = _sampled({s: (table,) for s, (_, table) in mine.tables.items()}, 1, ends)
        [came] = _sampled(_totals({s: [count] for s, count in mine.arrived.items()}), 1, ends)
        # Where clocks are not what the header says they are, something may be taken before it was sent.
        found["queue"] = np.maximum(came + found.pop("arrived") - found.pop("taken"), 0)
        return found


def _totals(counts: Mapping[Stretch, Sequence[int]]) -> dict[Stretch, list[int]]:
    """Since the beginning."""
    stretches = sorted(counts)
    rows = accumulate((counts[s] for s in stretches), lambda a, b: [x + y for x, y in zip(a, b, strict=True)])
    return {s: [min(total, INTEGER) for total in row] for s, row in zip(stretches, rows, strict=True)}


def _sampled(known: Mapping[Stretch, Sequence[int]], width: int, ends: Numbers) -> list[Numbers]:
    """Each column as it was at the ends of these stretches: what is known last, and nothing before the first."""
    stretches = sorted(known)
    values = np.array([[0] * width, *(known[s] for s in stretches)], np.int64)
    at = values[np.searchsorted(np.array(stretches, np.int64), ends, side="right")]
    return [at[:, column] for column in range(width)]


def gathered(setting: Measured, brokers: Iterable[Sequence[Found]]) -> dict[str, Series]:
    """By the name of a run, in order. `brokers`: each one's parts, in their order, at least one."""
    found: dict[str, Series] = {}
    for parts in brokers:
        run = plain(parts[0].run)
        if run not in found:
            found[run] = Series(setting)
        found[run].add(parts)
    runs = {run: found[run] for run in sorted(found) if found[run].is_told}
    if sum(series.moments.count for series in runs.values()) * len(setting.names) > MOST_ROWS:
        raise too_many(setting.every)
    return runs
