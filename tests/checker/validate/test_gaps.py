"""Messages that only one end of a link has: told as such, and all else is judged."""

from pathlib import Path

import pytest

from tests.checker.validate.churned import Churn
from tests.checker.validate.test_readiness import rows_in
from tests.checker.validate.test_told import numbered
from tests.checker.validate.test_unsent import without_reception
from tests.checker.validate.walks import Row, judged


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> list[Row]:
    path = tmp_path_factory.mktemp("run") / "trace.jsonl"
    return rows_in(Churn("none", 5, brokers=5, newcomers=15, gap=20_000).record(path, clock=False))


def places(rows: list[Row], event: str, kind: str) -> list[int]:
    found = [n for n, row in enumerate(rows) if n and row["event"] == event and row["message"]["kind"] == kind]
    return found[: len(found) // 2 : 3]


@pytest.mark.parametrize("kind", ["subscribe", "publish"])
def test_messages_that_are_lost_on_the_way(kind: str, rows: list[Row], tmp_path: Path) -> None:
    """The broker does not handle them, nor write `drop`: what is owed is judged, and lost deliveries are found."""
    whole = judged(rows, tmp_path, "equivalent").extent
    lost = 0
    for at in places(rows, "receive", kind)[:5]:
        report = judged(without_reception(rows, at), tmp_path, "equivalent")
        first = report.rejections[0]
        assert (first.rule, first.broker, first.is_consequence) == ("TRC-3", rows[at]["broker"], False)
        assert first.wanted.startswith(f"{kind}({rows[at]['message']['id']}), sent by {rows[at]['peer']} at its seq")
        assert "lost on the way" in first.reason
        assert any("1 of the messages that" in line for line in report.remarks)
        assert report.extent.owed >= whole.owed - 6
        lost += report.extent.lost
    assert lost or kind == "subscribe", "the broker had handled it: only its log lacks it"


def test_messages_that_come_twice_or_were_not_written(rows: list[Row], tmp_path: Path) -> None:
    whole = judged(rows, tmp_path, "equivalent").extent
    at = places(rows, "receive", "publish")[2]
    twice = judged(numbered([*rows[:at], rows[at], *rows[at:]]), tmp_path, "equivalent")
    assert "received the same message before" in next(r for r in twice.rejections if r.rule == "TRC-3").reason
    assert twice.extent.owed == whole.owed
    at = places(rows, "send", "publish")[2]
    unwritten = judged(numbered([*rows[:at], *rows[at + 1 :]]), tmp_path, "equivalent")
    [on_link] = [r for r in unwritten.rejections if r.rule == "TRC-3"]
    assert f"the events of {rows[at]['broker']} lack its `send`" in on_link.reason
    assert on_link.is_consequence
    assert unwritten.extent.owed == whole.owed


def test_several_gaps_on_one_link(rows: list[Row], tmp_path: Path) -> None:
    told = rows
    links = [(row["peer"], row["broker"]) for row in rows[1:] if row["event"] == "receive"]
    link = max(links, key=links.count)
    mine = [n for n, row in enumerate(rows) if n and row["event"] == "receive" and (row["peer"], row["broker"]) == link]
    for at in sorted((mine[2], mine[6], mine[7]), reverse=True):
        told = without_reception(told, at)
    report = judged(told, tmp_path, "equivalent")
    assert any(f"3 of the messages that {link[0]} sent did not come to {link[1]}" in line for line in report.remarks)
    assert report.extent.owed


def test_messages_that_never_come_are_told_with_their_age(tmp_path: Path) -> None:
    """After them nothing comes over the link, so that they may be in flight; a clock says for how long."""
    timed = rows_in(Churn("none", 5, brokers=5, newcomers=15, gap=20_000).record(tmp_path / "t.jsonl"))
    assert not any("it may be lost" in line for line in judged(timed, tmp_path, "equivalent").remarks)
    links = [(row["peer"], row["broker"]) for row in timed[1:] if row["event"] == "receive"]
    near, far = max(links, key=links.count)
    mine = [
        n for n, row in enumerate(timed) if n and (row["peer"], row["broker"], row["event"]) == (near, far, "receive")
    ]
    told = timed
    for at in reversed(mine[len(mine) // 2 :]):
        told = without_reception(told, at)
    [said] = [line for line in judged(told, tmp_path, "observable").remarks if "it may be lost" in line]
    assert said.startswith(f"{far} had not received the message that {near} sent it at seq ")


def test_messages_that_overtake_others_are_named(rows: list[Row], tmp_path: Path) -> None:
    """The receiver handles the later one first."""
    links = [(row["peer"], row["broker"]) for row in rows[1:] if row["event"] == "receive"]
    near, far = max(links, key=links.count)
    mine = [
        n for n, row in enumerate(rows) if n and (row["peer"], row["broker"], row["event"]) == (near, far, "receive")
    ]
    one, other = mine[4:6]
    swapped = [*rows]
    swapped[one] = {**rows[one], "message": rows[other]["message"]}
    swapped[other] = {**rows[other], "message": rows[one]["message"]}
    [on_link] = [r for r in judged(swapped, tmp_path, "equivalent").rejections if r.rule == "TRC-3"]
    assert (on_link.broker, on_link.seq) == (far, rows[one]["seq"])
    assert on_link.reason.startswith(f"{near} sent it later, at seq ")
    assert on_link.reason.endswith("this link does not keep the order of messages")
