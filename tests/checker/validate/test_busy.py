"""Traces in which brokers are busy with control events: their events are judged one by one, as they are read. The
report is the same as where publications are judged at once."""

import json
import random
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from routeproof.checker.validate import Level, validate
from routeproof.checker.validate.broker import batch, bulk, messages
from routeproof.checker.validate.broker.canonical import canonical_in_trace
from routeproof.traces import BadLine, Event, TraceMessage, lines
from tests.checker.validate.at_once import CHANGES, Change, name_of, recorded, set_aside, with_changes
from tests.checker.validate.churned import Churn
from tests.checker.validate.walks import Row, write


@pytest.fixture(scope="module")
def churn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Churn("active", 1, newcomers=40).record(tmp_path_factory.mktemp("run") / "trace.jsonl")


@pytest.fixture(scope="module")
def rows(churn: Path) -> list[Row]:
    return [json.loads(line) for line in churn.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("level", ["exact", "observable"])
def test_a_line_is_read_once(level: Level, churn: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No event is put into columns and read again, and no publication is read in full for its digest."""
    found = Counter[str]()
    decode, take = lines._decode, batch.Batch.take

    def counted(line: bytes) -> object:
        found["read"] += 1
        return decode(line)

    def in_full(message: TraceMessage) -> object:
        found[f"{message.kind} in full"] += 1
        return canonical_in_trace(message)

    def taken(*given: Any) -> Any:
        found["put into columns"] += 1
        return take(*given)

    monkeypatch.setattr(lines, "_decode", counted)
    monkeypatch.setattr(messages, "canonical_in_trace", in_full)
    monkeypatch.setattr(batch.Batch, "take", taken)
    assert validate(churn, level).verdict == "accepted"
    assert found["read"] == len(churn.read_bytes().splitlines()) - 1
    assert found["put into columns"] == found["publish in full"] == 0
    assert found["subscribe in full"] > 0


def test_where_tables_stand_events_are_judged_at_once_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, took = write(recorded(tmp_path), tmp_path / "trace.jsonl"), Counter[bool]()
    have_most = batch.BusyBrokers.have_most

    def counted(self: batch.BusyBrokers, some: list[Event | BadLine]) -> bool:
        is_busy = have_most(self, some)
        took[is_busy] += len(some)
        return is_busy

    monkeypatch.setattr(batch, "BUSY", 200)
    monkeypatch.setattr(bulk, "EVENTS", 50)
    monkeypatch.setattr(batch.BusyBrokers, "have_most", counted)
    assert validate(path, "exact").verdict == "accepted"
    assert took[False] > took[True] > 0


@contextmanager
def switched(rng: random.Random, share: float) -> Iterator[None]:
    """Blocks of a few events, of which this share, drawn at random, is judged one by one as it is read."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(bulk, "EVENTS", 20)
        patched.setattr(bulk, "WORTH", 1)
        patched.setattr(batch.BusyBrokers, "have_most", lambda *_: rng.random() < share)
        yield


@pytest.mark.parametrize("change", CHANGES, ids=name_of)
def test_whatever_is_wrong_the_report_is_the_same(change: Change, rows: list[Row], tmp_path: Path) -> None:
    rng = random.Random(name_of(change))
    path = write(with_changes(rows, change, rng), tmp_path / "trace.jsonl")
    level: Level = rng.choice(("exact", "observable"))
    reports = []
    for share in (0, 0.5, 1):
        with switched(rng, share):
            reports.append(validate(path, level))
    assert reports[0] == reports[1] == reports[2]


def test_what_is_set_aside_is_the_same(churn: Path) -> None:
    found = []
    for share in (0, 0.5, 1):
        with switched(random.Random(1), share):
            found.append(set_aside(churn))
    assert found[0] == found[1] == found[2]
    assert sum(map(len, found[0].values())) > 1000
