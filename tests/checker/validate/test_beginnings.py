"""Recordings that begin amid a run: each broker with a snapshot of its own moment, and with messages on the links."""

import json
import random
from pathlib import Path

import pytest

from routeproof.checker.validate import Level
from tests.checker.validate.churned import Churn
from tests.checker.validate.test_ends import begins_of
from tests.checker.validate.test_readiness import rows_in
from tests.checker.validate.walks import POLICIES, Row, judged

LEVELS: tuple[Level, ...] = ("equivalent", "observable")


def recorded(policy: str, seed: int, folder: Path, *, clock: bool = True) -> list[Row]:
    churn = Churn(policy, seed, brokers=5, newcomers=40, gap=4_000, snapshots=20)
    return rows_in(churn.record(folder / "whole.jsonl", clock=clock))


def cut(rows: list[Row], number: int = 1) -> list[Row]:
    """The rows from the snapshot of this number on, at each broker."""
    seen: dict[str, int] = {}
    kept = [rows[0]]
    for row in rows[1:]:
        seen[row["broker"]] = seen.get(row["broker"], 0) + (row["event"] == "snapshot")
        if seen[row["broker"]] >= number:
            kept.append(row)
    return kept


@pytest.mark.parametrize("policy", POLICIES)
def test_a_correct_run_is_accepted_from_its_snapshots_on(policy: str, tmp_path: Path) -> None:
    for clock in (True, False):
        rows = recorded(policy, 1, tmp_path, clock=clock)
        for number in (1, 2):
            late = cut(rows, number)
            assert len({row["broker"] for row in late[1:]}) == 5
            for level in LEVELS:
                report = judged(late, tmp_path, level)
                assert report.verdict == "accepted", (clock, number, level, report.rejections, report.unjudged)
                assert report.extent.owed
                assert any("judged from the snapshots" in line for line in report.remarks)


def test_faults_after_the_beginning_are_found(tmp_path: Path) -> None:
    """A send or a delivery that is missing, each in a run of its own."""
    rows = cut(recorded("active", 2, tmp_path))
    draw = random.Random(3)
    cases: list[tuple[str, Level]] = [("send", "equivalent"), ("deliver", "equivalent"), ("deliver", "observable")]
    for event, level in cases:
        last = {broker: begins_of(rows, broker)[-1] for broker in {row["broker"] for row in rows[1:]}}
        places = [n for n, row in enumerate(rows) if n and row["event"] == event and n < last[row["broker"]]]
        found = 0
        for at in draw.sample(places, 6):
            report = judged([*rows[:at], *rows[at + 1 :]], tmp_path, level)
            found += any(r.broker == rows[at]["broker"] or r.rule == "TRC-7" for r in report.rejections)
        assert found >= (5 if level == "equivalent" else 3), event


def test_what_the_snapshot_tells_is_what_the_broker_must_have(tmp_path: Path) -> None:
    """Without one of the subscriptions with which it begins, the broker does too much."""
    rows = cut(recorded("none", 2, tmp_path))
    at = max((n for n, row in enumerate(rows) if n and row["event"] == "snapshot"), key=lambda n: _subs(rows[n]))
    tables = json.loads(json.dumps(rows[at]["tables"]))
    gone = tables["subs"].pop(0)["id"]
    tables["sent"] = {to: [id for id in ids if id != gone] for to, ids in tables["sent"].items()}
    assert judged([*rows[:at], {**rows[at], "tables": tables}, *rows[at + 1 :]], tmp_path).verdict == "rejected"


def _subs(row: Row) -> int:
    return len(row["tables"]["subs"])


def test_a_snapshot_that_tells_too_little_is_no_beginning(tmp_path: Path) -> None:
    """The broker is not judged, and nothing is rejected for it."""
    rows = cut(recorded("active", 2, tmp_path))
    at = next(n for n, row in enumerate(rows) if n and row["event"] == "snapshot")
    for lacking in ("sent", "filter"):
        tables = json.loads(json.dumps(rows[at]["tables"]))
        if lacking == "sent":
            del tables["sent"]
        else:
            tables["subs"] = [{k: v for k, v in each.items() if k != "filter"} for each in tables["subs"]]
        report = judged([*rows[:at], {**rows[at], "tables": tables}, *rows[at + 1 :]], tmp_path, "equivalent")
        assert (report.verdict, report.rejections) == ("unknown", ()), lacking
        assert report.unjudged[0].startswith(f"broker {rows[at]['broker']} and its clients")


def test_clients_without_names_may_be_given_what_their_subscriptions_match(tmp_path: Path) -> None:
    """A snapshot does not name clients, and neither need `client` events; then deliveries may name clients only."""
    rows = cut(recorded("active", 1, tmp_path))
    for row in rows[1:]:
        if row["event"] == "deliver":
            row["message"] = {key: value for key, value in row["message"].items() if key != "to"}
        elif row["event"] == "client":
            del row["peer"]
    for level in LEVELS:
        report = judged(rows, tmp_path, level)
        assert (report.verdict, report.extent.doubled) == ("accepted", 0), (level, report.rejections)
    steps = [n for n, row in enumerate(rows) if n and row["event"] == "deliver"]
    lost = [judged([*rows[:at], *rows[at + 1 :]], tmp_path, "equivalent") for at in steps[:6]]
    assert [report.verdict for report in lost].count("rejected") >= 2, "a step without any delivery lacks one"
