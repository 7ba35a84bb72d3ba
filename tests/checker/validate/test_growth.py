"""CPU time of validation grows in proportion to the trace: four times the runs, neighbours or subscriptions take less
than eight times as long, where a square would take sixteen times."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import count
from math import inf
from pathlib import Path
from typing import Any

import pytest

from routeproof.checker.validate import setting_of, validate_each
from routeproof.traces import event_row, header_row, to_parquet

Row = dict[str, Any]

TIMES = 8
"""Bound of the growth of CPU time for four times the size."""

LEAST = 0.08
"""Seconds of CPU time that the smaller trace counts for at least, so that noise decides nothing."""

OBSERVES = ("client", "receive", "send", "deliver")
ADVERTISE: Row = {"kind": "advertise", "id": "a", "filter": [1, 2]}
PUBLISH: Row = {"kind": "publish", "id": "p", "of": "a", "event": 1}


def _header(neighbours: int, protocol: str = "routing", policy: str = "active", **more: object) -> Row:
    edges = [(1, leaf) for leaf in range(2, neighbours + 2)]
    return header_row("r", protocol, policy, edges, "strict", OBSERVES, clock="shared", **more)


def _subscribe(number: int, wants: object = (1,)) -> Row:
    return {"kind": "subscribe", "id": f"s{number}", "filter": wants}


def _runs(size: int) -> Iterator[Row]:
    """Two brokers in each run: an advertisement, which the other broker receives, and a subscription."""
    yield _header(1)
    yield from _two_brokers(size)


def _pruned_runs(size: int) -> Iterator[Row]:
    yield _header(1, "pruning", "incremental")
    yield from _two_brokers(size)


def _two_brokers(runs: int) -> Iterator[Row]:
    for number in range(runs):
        run = f"r{number}"
        yield event_row("b1", 1, "client", "c", message=ADVERTISE, run=run, time=1)
        yield event_row("b1", 2, "send", "b2", message=ADVERTISE, run=run, time=1)
        yield event_row("b2", 3, "receive", "b1", message=ADVERTISE, run=run, time=2)


def _wrong_runs(size: int) -> Iterator[Row]:
    """Every run has a rejection of its own, which is looked up again."""
    header, *rows = _runs(size)
    yield header
    for row in rows:
        message = row["message"]
        assert isinstance(message, dict)
        yield {**row, "message": {**message, "id": "other"}} if row["event"] == "send" else row


def _star(size: int) -> Iterator[Row]:
    """Every leaf subscribes at the hub, and receives a publication."""
    yield _header(size)
    leaves = [(f"b{leaf}", _subscribe(leaf)) for leaf in range(2, size + 2)]
    numbers = count(1)
    yield _event(numbers, "b1", "client", "c", ADVERTISE)
    for leaf, wanted in leaves:
        yield _event(numbers, "b1", "send", leaf, ADVERTISE)
        yield _event(numbers, leaf, "receive", "b1", ADVERTISE)
        yield _event(numbers, leaf, "client", "d", wanted)
        yield _event(numbers, leaf, "send", "b1", wanted)
    for leaf, wanted in leaves:
        yield _event(numbers, "b1", "receive", leaf, wanted)
    yield _event(numbers, "b1", "client", "c", PUBLISH)
    for leaf, _ in leaves:
        yield _event(numbers, "b1", "send", leaf, PUBLISH)
    for leaf, wanted in leaves:
        yield _event(numbers, leaf, "receive", "b1", PUBLISH)
        yield _event(numbers, leaf, "deliver", "d", {"kind": "publish", "id": "p", "to": wanted["id"]})


def _one_client(size: int) -> Iterator[Row]:
    """One client subscribes to filters of which none covers another; the broker sends each of them on."""
    yield _header(1)
    everything: Row = {"kind": "advertise", "id": "a", "filter": []}
    numbers = count(1)
    yield _event(numbers, "b2", "client", "e", everything)
    yield _event(numbers, "b2", "send", "b1", everything)
    yield _event(numbers, "b1", "receive", "b2", everything)
    for number in range(size):
        wanted = _subscribe(number, [["x", ">", number], ["y", ">", -number]])
        yield _event(numbers, "b1", "client", "c", wanted)
        yield _event(numbers, "b1", "send", "b2", wanted)
        yield _event(numbers, "b2", "receive", "b1", wanted)


def _event(numbers: Iterator[int], broker: str, event: str, peer: str, message: Row) -> Row:
    number = next(numbers)
    return event_row(broker, number, event, peer, message=message, time=number)


def _assert_grows_slowly(small: Path, large: Path, verdict: str) -> None:
    """Measures both, the best of up to three: the first measurements that are within the bound will do."""
    before, after = inf, inf
    for _ in range(3):
        before, after = min(before, _seconds(small, verdict)), min(after, _seconds(large, verdict))
        if after < TIMES * before:
            return
    raise AssertionError(f"{small.stem}: {before:.3f} s, {large.stem}: {after:.3f} s")


def _seconds(path: Path, verdict: str) -> float:
    """CPU time of judging the trace."""
    begun = time.process_time()
    [report] = validate_each([(path, setting_of(path, "exact", None))], "local", None)
    found = time.process_time() - begun
    assert report.verdict == verdict, report
    return max(found, LEAST)


def _written(path: Path, rows: Iterable[Row]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


GROWING: dict[str, tuple[Callable[[int], Iterator[Row]], int, str]] = {
    "runs": (_runs, 500, "accepted"),
    "runs that are wrong": (_wrong_runs, 500, "rejected"),
    "runs of pruning": (_pruned_runs, 500, "accepted"),
    "neighbours": (_star, 250, "accepted"),
    "subscriptions of a client": (_one_client, 250, "accepted"),
}


@pytest.mark.parametrize("what", GROWING)
def test_time_grows_with_the_size(what: str, tmp_path: Path) -> None:
    rows, size, verdict = GROWING[what]
    small, large = (_written(tmp_path / f"{many}.jsonl", rows(many)) for many in (size, 4 * size))
    _assert_grows_slowly(small, large, verdict)


@pytest.mark.parametrize("what", ["runs", "neighbours"])
def test_time_grows_with_the_size_of_a_parquet_file(what: str, tmp_path: Path) -> None:
    rows, size, verdict = GROWING[what]
    size = min(size, 250)
    paths = []
    for many in (size, 4 * size):
        plain = _written(tmp_path / f"{many}.jsonl", rows(many))
        paths.append(tmp_path / f"{many}.parquet")
        to_parquet(plain, paths[-1])
    _assert_grows_slowly(paths[0], paths[1], verdict)
