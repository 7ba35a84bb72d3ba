"""The files of metrics, and their computation in one process."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from routeproof.checker.system.files import note_unwritten
from routeproof.checker.validate.clients import block_of
from routeproof.checker.validate.clients.judge import CLIENTS
from routeproof.checker.validate.findings import PartResult
from routeproof.checker.validate.metrics import KINDS, UNKNOWN, Measured, plain
from routeproof.checker.validate.metrics.series import (
    Numbers,
    Series,
    Windows,
    buckets,
    delays_of,
    gathered,
    windows_of,
)
from routeproof.checker.validate.store import Store
from routeproof.traces.columns import parquet_writer

STEPS = frozenset({"receive", "client"})
SEEN_BY_CLIENTS = frozenset({"client", "deliver"})

WINDOWS = ("delays", "delay_p50", "delay_p90", "delay_p99", "delay_max")
NEEDS: Mapping[str, frozenset[str]] = {
    "queue": STEPS | {"send"},
    "held": frozenset(),
    "table": STEPS,
    "triggered": STEPS | {"send"},
    "uncovered": STEPS | {"send"},
    "false_positives": STEPS | {"send", "deliver"},
    "delivered": frozenset({"deliver"}),
    "busy": STEPS | {"send", "deliver"},
    **dict.fromkeys(KINDS, STEPS),
    **dict.fromkeys(WINDOWS, SEEN_BY_CLIENTS),
}
"""Every column, and the kinds of events that tell it."""

ONE_CLOCK = frozenset({"queue", *WINDOWS})
"""Columns that compare the times of two brokers."""

ROWS = 1 << 17
"""In a row group, about."""

WindowsOf = Mapping[tuple[str, str], Windows]
"""By run and broker, as the files call them."""


def columns_told(setting: Measured) -> set[str]:
    """Columns that a trace with this header can fill. A queue has no bound that a trace would show: `held` is in it."""
    told = {column for column, needed in NEEDS.items() if setting.sees(*needed) and column != "held"}
    if not setting.shared_clock:
        told -= ONE_CLOCK
    return told if setting.replays else told - {"table"}


def tells_delays(setting: Measured) -> bool:
    return "delays" in columns_told(setting)


def write(setting: Measured, runs: Mapping[str, Series], windows: WindowsOf) -> None:
    """Writes both files, each whole or not at all. One that cannot be written is noted: the verdict comes first."""
    try:
        _write(setting, runs, windows)
    except OSError as error:
        note_unwritten(setting.target, error)


def _write(setting: Measured, runs: Mapping[str, Series], windows: WindowsOf) -> None:
    setting.target.mkdir(parents=True, exist_ok=True)
    with _writer(setting.target / "metrics.parquet", _schema()) as samples:
        for run, series in runs.items():
            for table in _samples(setting, run, series, windows):
                samples.write_table(table)
    names = {"run": _word(), **dict.fromkeys(("above", "most", "count"), pa.int64())}
    with _writer(setting.target / "delays.parquet", pa.schema(list(names.items()))) as histograms:
        of_run: dict[str, list[Mapping[int, int]]] = {run: [] for run in runs}
        for run, broker in sorted(windows):
            of_run[run].append(windows[run, broker].histogram)
        for run, histograms_of_run in of_run.items():
            rows = list(buckets(histograms_of_run))
            columns = [[above for above, _, _ in rows], [most for _, most, _ in rows], [count for _, _, count in rows]]
            arrays = [_words([run], np.zeros(len(rows), np.int32)), *(pa.array(c, pa.int64()) for c in columns)]
            histograms.write_table(pa.table(arrays, names=list(names)))


@contextmanager
def _writer(path: Path, schema: Any) -> Iterator[Any]:
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as file, parquet_writer(file, schema) as writer:
            yield writer
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _schema() -> Any:
    numbers = [(_named(column), pa.int64()) for column in NEEDS]
    return pa.schema([("run", _word()), ("time", pa.int64()), ("broker", _word()), *numbers])


def _named(column: str) -> str:
    return column.replace("-", "_")


def _word() -> Any:
    return pa.dictionary(pa.int32(), pa.string())


def _words(words: list[str], which: Numbers) -> Any:
    return pa.DictionaryArray.from_arrays(pa.array(which, pa.int32()), pa.array(words, pa.string()))


def _samples(setting: Measured, run: str, series: Series, windows: WindowsOf) -> Iterator[Any]:
    """All brokers at one moment, then all at the next; some moments at a time."""
    brokers, moments, told = setting.brokers, series.moments, columns_told(setting)
    known = [series.columns(broker) for broker in brokers]
    of_delays = [windows.get((run, broker), Windows({}, {})) for broker in brokers]
    step = max(1, ROWS // len(brokers))
    for begin in range(0, moments.count, step):
        rows = range(begin, min(begin + step, moments.count))
        size = len(rows) * len(brokers)
        arrays = [
            _words([run], np.zeros(size, np.int32)),
            pa.array(np.repeat([moments.time(row) for row in rows], len(brokers)), pa.int64()),
            _words(brokers, np.tile(np.arange(len(brokers), dtype=np.int32), len(rows))),
        ]
        for column in NEEDS:
            if column not in told:
                arrays.append(pa.nulls(size, pa.int64()))
            elif column in WINDOWS:
                arrays.append(_of_windows(of_delays, WINDOWS.index(column), rows))
            else:
                arrays.append(_of_brokers(known, column, rows))
        yield pa.table(arrays, schema=_schema())


def _of_brokers(known: list[dict[str, Numbers]], column: str, rows: range) -> Any:
    """A broker that lacks the column has nulls."""
    nothing = np.full(len(rows), UNKNOWN, np.int64)
    values = [each[column][rows.start : rows.stop] if column in each else nothing for each in known]
    together = np.stack(values, axis=1).reshape(-1)
    return pa.array(together, pa.int64(), mask=together < 0)


def _of_windows(of_delays: list[Windows], which: int, rows: range) -> Any:
    """No deliveries are none; of none there are no quantiles."""
    values: list[int | None] = []
    for row in rows:
        for windows in of_delays:
            told = windows.rows.get(row)
            values.append(told[which] if told else 0 if which == 0 else None)
    return pa.array(values, pa.int64())


# -- the local engine --------------------------------------------------------------------------------------------------


def measure_locally(setting: Measured, store: Store, found: Sequence[PartResult]) -> None:
    """`found`: of each broker, whose events are one part. The store has blocks of clients' rows by run and bucket."""
    runs = gathered(setting, ([each] for each in found))
    for key in store.stored() if tells_delays(setting) else ():
        run, what, *_ = map(plain, key)
        if run in runs and what == CLIENTS:
            for broker, pairs in delays_of(map(block_of, store.blocks(key))):
                store.put((run, "delays", plain(broker)), pairs)
    windows = {}
    for key in store.stored():
        if key[1] == "delays":
            run, _, broker = key
            windows[run, broker] = windows_of(store.blocks(key), runs[run].moments)
    write(setting, runs, windows)
