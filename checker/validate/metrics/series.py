"""What parts counted, added up: `Series`, the metrics of one run at each of its moments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Any, TypeAlias

import numpy as np
from attrs import define, field

from routeproof.checker.validate.metrics.asked import MOST_ROWS, Measured, too_many
from routeproof.checker.validate.metrics.delays import Moments
from routeproof.checker.validate.metrics.meter import ARRIVED, BUSY, COUNTS, TAKEN, UNKNOWN, Stretch, decode, measure
from routeproof.checker.validate.part import Found
from routeproof.traces.fields import INTEGER

Numbers: TypeAlias = Any
"""An array of int64, one for each moment; less than nothing is null."""

NULL = -1


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
        self._brokers = {name: _Broker() for name in setting.names}
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
        counted, broker = decode(part.metered), self._brokers[part.broker]
        for stretch, row in counted.counts.items():
            known = broker.counts.get(stretch)
            broker.counts[stretch] = row if known is None else [a + b for a, b in zip(known, row, strict=True)]
        for node, arrivals in counted.arrived.items():
            arrived = self._brokers[self._setting.name_of(node)].arrived
            for stretch, count in arrivals.items():
                arrived[stretch] = arrived.get(stretch, 0) + count
        for stretch, (time, table) in counted.tables.items():
            measure(broker.tables, stretch, time, UNKNOWN if is_lost else table)
        broker.endless += counted.endless
        if counted.earliest >= 0:
            known = self._earliest
            self._earliest = counted.earliest if known < 0 else min(known, counted.earliest)
            self._latest = max(self._latest, counted.latest)

    @property
    def moments(self) -> Moments | None:
        """None where nothing was done."""
        if self._earliest < 0:
            return None
        return Moments.of(self._setting.every, self._earliest, self._latest)

    def columns(self, broker: str) -> dict[str, Numbers]:
        """One broker's, at each moment: those that its trace tells."""
        moments, mine = self.moments, self._brokers[broker]
        assert moments is not None, "asked before"
        ends = moments.first + np.arange(moments.count)
        stretches = sorted(mine.counts)
        rows = np.array([mine.counts[s][:BUSY] + mine.counts[s][BUSY + 1 :] for s in stretches], np.int64)
        totals = np.cumsum(rows.reshape(len(stretches), len(COUNTS) - 1), axis=0)
        found = dict(zip((c for c in COUNTS if c != "busy"), _sampled(stretches, totals, ends), strict=True))
        if not mine.endless:
            busy = accumulate(mine.counts[s][BUSY] for s in stretches)
            found["busy"] = _sampled(stretches, np.array([[min(b, INTEGER)] for b in busy], np.int64), ends)[0]
        sizes = sorted(mine.tables)
        found["table"] = _sampled(sizes, np.array([[mine.tables[s][1]] for s in sizes], np.int64), ends)[0]
        arrivals = sorted(mine.arrived)
        came = np.cumsum(np.array([[mine.arrived[s]] for s in arrivals], np.int64), axis=0)
        found["queue"] = _sampled(arrivals, came, ends)[0] + found.pop(COUNTS[ARRIVED]) - found.pop(COUNTS[TAKEN])
        return found


def _sampled(stretches: Sequence[Stretch], values: Numbers, ends: Numbers) -> list[Numbers]:
    """Each column as it was at the ends of these stretches; nothing before the first."""
    columns = values.shape[1] if len(stretches) else max(1, values.shape[-1])
    whole = np.concatenate([np.zeros((1, columns), np.int64), values.reshape(len(stretches), columns)])
    at = whole[np.searchsorted(np.array(stretches, np.int64), ends, side="right")]
    return [at[:, column] for column in range(columns)]


def gathered(setting: Measured, brokers: Iterable[Sequence[Found]]) -> dict[str, Series]:
    """By run, in order. `brokers`: each one's parts, in their order."""
    found: dict[str, Series] = {}
    for parts in brokers:
        if parts:
            found.setdefault(parts[0].run, Series(setting)).add(parts)
    runs = {run: found[run] for run in sorted(found) if found[run].moments is not None}
    if sum(m.count for m in _moments(runs).values()) * len(setting.names) > MOST_ROWS:
        raise too_many(setting.every)
    return runs


def _moments(runs: Mapping[str, Series]) -> dict[str, Moments]:
    return {run: moments for run, series in runs.items() if (moments := series.moments) is not None}
