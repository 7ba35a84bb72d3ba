"""Memory does not grow with what is read: measured of one process each, at two lengths of a trace."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from routeproof.checker.experiments.bench import afresh, peak_megabytes
from routeproof.checker.validate import Level, Report, validate

SPARE = 5
"""Megabytes by which two runs of the same may differ."""

HEADER = {
    "routeproof": 1,
    "run": "r",
    "protocol": "routing",
    "policy": "active",
    "overlay": [["b1", "b2"]],
    "observes": ["client", "receive", "deliver"],
    "clock": "shared",
    "settles": 1,
}


def bad_lines(count: int) -> Iterator[str]:
    yield json.dumps(HEADER)
    for number in range(count):
        yield "{ not json " + str(number)


def churn(count: int) -> Iterator[str]:
    """Ever new ids; of subscriptions two stand at a time, and a publication comes to both."""
    yield json.dumps(HEADER)
    seq, ahead = 0, [client(0, "advertise", "a", filter=[1, 2, 3]), client(1, "subscribe", "s0", filter=[1])]
    yield from ahead
    for seq in range(2, count - 5, 5):
        number = seq // 5
        yield client(seq, "subscribe", f"s{number + 1}", filter=[1, 2 + number % 2])
        yield client(seq + 1, "publish", f"p{number}", of="a", event=1)
        for place in (0, 1):
            told = {"kind": "publish", "id": f"p{number}", "to": f"s{number + place}"}
            came = {**at(seq + 2 + place), "time": 1000 * (seq + 1)}
            yield json.dumps({**came, "event": "deliver", "peer": "c", "message": told})
        yield client(seq + 4, "unsubscribe", f"s{number}")


def client(seq: int, kind: str, id: str, **more: object) -> str:
    return json.dumps({**at(seq), "event": "client", "peer": "c", "message": {"kind": kind, "id": id, **more}})


def at(seq: int) -> dict[str, object]:
    return {"broker": "b1", "seq": seq, "time": 1000 * seq}


def judged(path: Path, level: Level) -> tuple[Report, int]:
    return validate(path, level), peak_megabytes()


@pytest.mark.parametrize(
    ("made", "short", "level", "verdict"),
    [(bad_lines, 10_000, "exact", "unknown"), (churn, 20_000, "observable", "accepted")],
)
def test_memory_does_not_grow(
    made: Callable[[int], Iterator[str]], short: int, level: Level, verdict: str, tmp_path: Path
) -> None:
    peaks = []
    for count in (short, 5 * short):
        path = tmp_path / f"{count}.jsonl"
        path.write_text("".join(line + "\n" for line in made(count)))
        report, megabytes = afresh(judged, path, level)
        assert report.verdict == verdict
        assert report.events + report.bad_lines > 0.9 * count
        peaks.append(megabytes)
    assert peaks[1] - peaks[0] <= SPARE, peaks
