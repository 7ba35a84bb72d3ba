"""Publications judged at many brokers at once, against the same trace judged event by event: the same report, whatever
is wrong, and however many events are taken at a time."""

import copy
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from routeproof.checker.validate import validate
from routeproof.checker.validate.broker import batch, bulk, columns
from routeproof.checker.validate.broker.columns import Column
from routeproof.checker.validate.broker.part import Part
from routeproof.traces import BadLine, Event
from tests.campaigns import drawn
from tests.checker.validate.at_once import (
    CHANGES,
    MANY,
    Change,
    name_of,
    of_numbers,
    one_by_one,
    recorded,
    set_aside,
    with_changes,
)
from tests.checker.validate.walks import Row, write

Judged = Counter[str]
"""Events that were judged `at once`, or looked at one by one."""


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> list[Row]:
    return recorded(tmp_path_factory.mktemp("run"))


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> Judged:
    """A few are worth it too, and no broker is ever busy."""
    found, passed, look = Judged(), Part.passed_many, Part.look

    def counted(part: Part, seqs: Column, times: Column, begins: Column) -> None:
        found["at once"] += len(seqs)
        passed(part, seqs, times, begins)

    def looked(part: Part, event: Event) -> bool:
        found["looked at"] += 1
        return look(part, event)

    monkeypatch.setattr(Part, "passed_many", counted)
    monkeypatch.setattr(Part, "look", looked)
    monkeypatch.setattr(bulk, "WORTH", 1)
    monkeypatch.setattr(batch.BusyBrokers, "have_most", lambda *_: False)
    return found


@pytest.fixture(params=[7, 200, 5000])
def some(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many events are taken at a time; of which, at times, a few steps are compared at a time."""
    number: int = request.param
    monkeypatch.setattr(bulk, "EVENTS", number)
    if number == 200:
        monkeypatch.setattr(columns, "PAIRS", 20)
    return number


def controls(rows: list[Row]) -> int:
    return sum(row["message"]["kind"] != "publish" for row in rows[1:])


def test_a_good_trace_is_nearly_all_judged_at_once(rows: list[Row], tmp_path: Path, judged: Judged, some: int) -> None:
    path = write(rows, tmp_path / "trace.jsonl")
    assert validate(path, "exact").verdict == "accepted"
    assert sum(judged.values()) == len(rows) - 1
    # What is left are the events among which a broker was told what changes its tables, and its last steps.
    assert judged["looked at"] < {7: 3, 200: 4, 5000: 6}[some] * controls(rows)
    assert validate(path, "exact") == one_by_one(path)


def test_what_is_set_aside_is_the_same(rows: list[Row], tmp_path: Path, judged: Judged, some: int) -> None:
    """Also that of clients who spoke before their broker took it."""
    told = [{**row, "issued": max(0, row["time"] - 5)} if row.get("event") == "client" else row for row in rows]
    path = write(told, tmp_path / "trace.jsonl")
    at_once = set_aside(path)
    assert judged["at once"] > 1000
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(bulk, "WORTH", MANY)
        assert at_once == set_aside(path)
    assert sum(len(those) for those in at_once.values()) > 5000


def ordered(rows: list[Row]) -> list[Row]:
    """One broker after the other."""
    return [rows[0], *sorted(rows[1:], key=lambda row: str(row["broker"]))]


def twice(rows: list[Row]) -> list[Row]:
    """A second run, beside the first or after it, in which publications say something else."""
    other = [{**copy.deepcopy(row), "run": "other"} for row in rows[1:]]
    for row in other:
        if "attributes" in row["message"]:
            row["message"]["attributes"]["date"] = "tomorrow"
    return [rows[0], *(each for pair in zip(rows[1:], other, strict=True) for each in pair)]


@drawn(0.25)
@pytest.mark.parametrize("change", CHANGES, ids=name_of)
def test_whatever_is_wrong_the_report_is_the_same(
    change: Change, share: float, rows: list[Row], tmp_path: Path, judged: Judged, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Daily each change is made in one of three arrangements: as recorded, where one broker comes after the other, or
    where there is a second run."""
    rng, verdicts = random.Random(name_of(change)), Counter[str]()
    arranged_rows = [rows, rows, ordered(rows), twice(rows)]
    for arranged in arranged_rows if share == 1 else [arranged_rows[CHANGES.index(change) % 3 + 1]]:
        monkeypatch.setattr(bulk, "EVENTS", rng.choice((50, 400, 3000)))
        monkeypatch.setattr(columns, "PAIRS", rng.choice((20, 1 << 18)))
        path = write(with_changes(arranged, change, rng), tmp_path / "trace.jsonl")
        report = validate(path, "exact")
        assert report == one_by_one(path)
        verdicts[report.verdict] += 1
    assert judged["at once"] > 1000
    assert verdicts["accepted"] < verdicts.total() or name_of(change) in ("retimed", "bare")


def test_where_tables_are_too_large_nothing_is_judged_at_once(
    rows: list[Row], tmp_path: Path, judged: Judged, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk, "CELLS", 100)
    assert validate(write(rows, tmp_path / "trace.jsonl"), "exact").verdict == "accepted"
    assert judged == {"looked at": len(rows) - 1}


def test_a_publication_that_says_something_else_the_second_time(
    rows: list[Row], tmp_path: Path, judged: Judged
) -> None:
    """The first and the last: nothing is known of the second by what was found of the first."""
    path = tmp_path / "trace.jsonl"
    again = copy.deepcopy(rows)
    told = next(row for row in reversed(again) if row["event"] == "client" and row["message"]["kind"] == "publish")
    first = next(row for row in again[1:] if row["message"]["kind"] == "publish")["message"]
    for row in again[1:]:
        if row["message"]["id"] == told["message"]["id"]:
            row["message"] = {**row["message"], "id": first["id"]}
    report = validate(write(again, path), "exact")
    assert report.verdict == "rejected"
    assert report == one_by_one(path)


# -- a broker with a publisher and a subscriber, and its neighbour with the same; publications are numbers -------------


def rules(rows: list[Row], path: Path) -> list[str]:
    """What is wrong with the broker's steps: nobody saw what its neighbour published and sent."""
    report = validate(write(rows, path), "exact")
    assert report == one_by_one(path)
    return [r.rule for r in report.rejections if r.rule not in ("TRC-3", "TRC-9")]


def test_nothing_goes_back(tmp_path: Path, judged: Judged) -> None:
    """Under a tree there are subscriptions on either side of a publisher."""
    rows = of_numbers()
    assert not rules(rows, tmp_path / "trace.jsonl")
    assert judged["at once"] > 150
    at = next(n for n, row in enumerate(rows) if n > 50 and row["event"] == "receive" and row["message"]["event"] < 2)
    back = {**rows[at], "event": "send", "seq": 10**6}
    assert rules(numbered([*rows[: at + 1], back, *rows[at + 1 :]]), tmp_path / "trace.jsonl") == ["RTE-5"]


def numbered(rows: list[Row]) -> list[Row]:
    return [rows[0], *({**row, "seq": seq} for seq, row in enumerate(rows[1:]))]


@pytest.mark.parametrize("known", [True, False])
def test_after_a_withdrawal_tables_are_others(known: bool, tmp_path: Path, judged: Judged, some: int) -> None:
    """Of its own subscription, which goes on to be served; or of its neighbour's, which is not any more."""
    rows = of_numbers()
    gone = {"kind": "unsubscribe", "id": "s" if known else "t"}
    told: list[Row] = [{"broker": "b1", "event": "client" if known else "receive", "message": gone}]
    told[0]["peer"] = "c" if known else "b2"
    if known:
        told.append({"broker": "b1", "event": "send", "peer": "b2", "message": gone})
    left = [row for row in rows[150:] if known or row["event"] != "send"]
    found = rules(numbered([*rows[:150], *told, *left]), tmp_path / "trace.jsonl")
    assert found == (["RTE-5"] if known else [])
    assert known or judged["at once"] > 20


def test_a_step_without_end_is_not_held(tmp_path: Path, judged: Judged, monkeypatch: pytest.MonkeyPatch) -> None:
    """A publication sent over and over: what waits does not grow with it."""
    held = 0
    monkeypatch.setattr(bulk, "EVENTS", 100)
    monkeypatch.setattr(bulk, "LONGEST", 150)
    took = bulk.BulkReplay._judge_some

    def watched(self: bulk.BulkReplay, some: batch.Batch) -> Iterator[Part | BadLine]:
        nonlocal held
        yield from took(self, some)
        held = max(held, *(len(broker.waiting) for broker in self._brokers))

    monkeypatch.setattr(bulk.BulkReplay, "_judge_some", watched)
    rows = of_numbers()
    sent = next(row for row in reversed(rows) if row["event"] == "send")
    assert rules(numbered([*rows, *([sent] * 3000)]), tmp_path / "trace.jsonl") == ["RTE-5"]
    assert judged["at once"] > 150
    assert 0 < held <= 150


def test_what_nobody_can_read_is_not_passed_on_at_once(rows: list[Row], tmp_path: Path, judged: Judged) -> None:
    """By whoever published it, and had nobody to pass it on to."""
    told = next(row for row in rows[1:] if row["event"] == "client" and row["message"]["kind"] == "publish")
    last = max(row["seq"] for row in rows[1:] if row["broker"] == told["broker"])
    broken = {**told["message"], "id": "broken", "attributes": {"volume": {"of": "what"}}}
    more = [{**told, "seq": last + 1, "message": broken}, {**told, "seq": last + 2, "message": broken}]
    path = write([*rows, *more], tmp_path / "trace.jsonl")
    report = validate(path, "exact")
    assert report == one_by_one(path)
    assert report.verdict == "unknown"
    assert judged["at once"] > 1000
