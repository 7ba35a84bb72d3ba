"""Runs without `send` events, and runs of which one broker was recorded alone."""

from pathlib import Path

import pytest

from tests.checker.validate.corrupt import CORRUPTIONS
from tests.checker.validate.test_ends import without_clock
from tests.checker.validate.walks import POLICIES, Row, judged, rows_of

RUNS = (("line4", 0), ("star4", 2), ("unadv3", 4))
FAULTS = ("a forwarded subscription lost", "a forwarded publication lost", "a withdrawal never sent")


def without_sends(rows: list[Row]) -> list[Row]:
    header = {**rows[0], "observes": ["client", "receive", "deliver"]}
    return [header, *(row for row in rows[1:] if row["event"] != "send")]


def without_reception(rows: list[Row], at: int) -> list[Row]:
    """The rows without a reception and all that came of it: its sender never sent it."""
    broker = rows[at]["broker"]
    mine = [n for n, row in enumerate(rows) if n > at and row["broker"] == broker]
    step = next((k for k, n in enumerate(mine) if rows[n]["event"] in ("receive", "client")), len(mine))
    gone = {at, *mine[:step]}
    return [row for n, row in enumerate(rows) if n not in gone]


@pytest.mark.parametrize("policy", POLICIES)
def test_correct_runs_are_accepted_without_any_clock(policy: str, tmp_path: Path) -> None:
    for name, seed in RUNS:
        for rows in (rows_of(name, policy, seed), without_clock(rows_of(name, policy, seed))):
            report = judged(without_sends(rows), tmp_path, "equivalent")
            assert report.verdict == "accepted", (name, report.rejections, report.unjudged)
            assert report.extent.links


@pytest.mark.parametrize("policy", POLICIES)
def test_what_a_broker_did_not_send_is_found_at_its_neighbour(policy: str, tmp_path: Path) -> None:
    """The sender is named, with the message that it was handling and the one that the model sends."""
    found = 0
    for name, seed in RUNS:
        rows = without_clock(without_sends(rows_of(name, policy, seed)))
        links = [
            (row["peer"], row["broker"]) if n and row["event"] == "receive" else None for n, row in enumerate(rows)
        ]
        for at, link in enumerate(links):
            if link is None or link not in links[at + 1 :]:
                continue  # the last one of a link may be in flight
            report = judged(without_reception(rows, at), tmp_path, "equivalent")
            wrong = [r for r in report.rejections if r.rule == "TRC-3" and r.broker == link[0]]
            assert wrong, (name, rows[at], report.rejections)
            wanted = wrong[0].wanted.split()
            assert " ".join(wanted[1:]) == f"to {link[1]}, which the model of {link[0]} sends in this step"
            assert wanted[0].startswith(f"{rows[at]['message']['kind']}(")
            assert wrong[0].handling
            found += 1
            break
    assert found == len(RUNS)


def test_one_recorded_broker_is_judged(tmp_path: Path) -> None:
    judged_alone = 0
    for name, seed in RUNS:
        for broker in sorted({row["broker"] for row in rows_of(name, "active", seed)[1:]}):
            rows = rows_of(name, "active", seed)
            alone = [rows[0], *(row for row in rows[1:] if row["broker"] == broker)]
            report = judged(alone, tmp_path, "equivalent")
            assert report.verdict == "accepted", (name, broker, report.rejections, report.unjudged)
            for fault in FAULTS:
                rows = rows_of(name, "active", seed)
                where = CORRUPTIONS[fault].spoil(rows)
                if where is None or where.broker != broker:
                    continue
                alone = [rows[0], *(row for row in rows[1:] if row["broker"] == broker)]
                report = judged(alone, tmp_path, "equivalent")
                places = [(r.broker, r.seq, r.rule) for r in report.rejections]
                assert where.at("equivalent") in places or report.extent.open_steps(), (fault, report)
                judged_alone += 1
    assert judged_alone >= 4


def test_sends_that_the_header_does_not_declare_are_named(tmp_path: Path) -> None:
    rows = rows_of("star4", "active", seed=1)
    assert not judged(rows, tmp_path).extent.notes
    rows[0]["observes"] = [kind for kind in rows[0]["observes"] if kind != "send"]
    report = judged(rows, tmp_path)
    assert (report.verdict, report.rejections) == ("accepted", ())
    assert "lacks send" in report.extent.notes[0]
