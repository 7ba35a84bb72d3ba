"""Brokers of somebody else, each with one mistake: who reads the first five lines of the report knows it."""

import json
from itertools import product
from pathlib import Path
from random import Random

import pytest
from attrs import frozen

from routeproof.checker.cli.validate import render
from routeproof.checker.validate import Report, validate
from tests.campaigns import drawn
from tests.checker.validate.foreign import FAULTS, FORGETS, LINKS, SCRIPT, Lost, Row, network

KINDS = ["client", "receive", "send", "deliver"]


def judged(fault: str, folder: Path, lost: Lost | None = None) -> Report:
    path = folder / "theirs.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in network(SCRIPT, fault, lost)))
    return validate(path)


@frozen
class Told:
    """What the first five lines say, and the lines after them that explain it."""

    rule: str
    handling: str
    wanted: str
    seen: str
    because: str
    lost: str = ""


TOLD = {
    "forgets to re-forward": Told(
        "RTE-6, a withdrawal follows its subscription and removes it",
        "unsubscribe(wide) from r2",
        "subscribe(mid) to r4",
        "no message",
        "wide (price > 10), which covered mid (price > 30 and price < 40), is withdrawn; mid came from r2",
        "2 deliveries after that: p3 to mid, p3 to narrow; of p3, the last copy was at broker r4, which handled it",
    ),
    "compares one attribute only": Told(
        "COV-4, active: a newly covered subscription is withdrawn where it was forwarded",
        "subscribe(narrow) (price > 20 and volume > 5) from r2",
        "no further message to r4",
        "unsubscribe(cheap) to r4",
        "nothing that r4 knows covers it; without it, r4 does not send a publication with price = 1, volume = 101 here",
    ),
    "ignores late advertisements": Told(
        "RTE-4, a late advertisement fetches the subscriptions that waited for it",
        "advertise(more) (price > 0) from r5",
        "subscribe(mid) to r5",
        "no message",
        "mid (price > 30 and price < 40) came from r2 and overlaps advertisement more (price > 0) from r5",
        "4 deliveries after that: p5 to mid, p5 to narrow, p6 to mid, ...; of p5, the last copy was at broker r5",
    ),
    "sends publications back": Told(
        "RTE-5, a publication follows matching subscriptions, once per hop, and never back",
        "publish(p5) (event price = 36, volume = 300) from r5",
        "no further message to r5",
        "publish(p5) to r5",
        "p5 came from r5",
    ),
    "keeps withdrawn subscriptions": Told(
        "RTE-6, a withdrawal follows its subscription and removes it",
        "unsubscribe(wide) from r2",
        "unsubscribe(wide) to r4",
        "no message",
        "wide is withdrawn, and r4 knows it",
    ),
    "takes > for >=": Told(
        "RTE-5, a publication follows matching subscriptions, once per hop, and never back",
        "publish(p2) (event price = 10, volume = 200) from r4",
        "no further message to r2",
        "publish(p2) to r2",
        "wide (price > 10) does not match p2: price = 10 does not satisfy price > 10",
    ),
    "drops a message and does not say so": Told(
        "TRC-3, a message that is received over a link was sent over it, once and in order",
        "",
        "subscribe(narrow), sent by r2 at its seq 12",
        "unsubscribe(wide)",
        "it did not come to r3, and later messages did: lost on the way, or dropped without a `drop` event",
    ),
    "sends a publication for each subscription": Told(
        "RTE-5, a publication follows matching subscriptions, once per hop, and never back",
        "publish(p3) (event price = 35, volume = 7) from r4",
        "no further message to r2",
        "publish(p3) to r2",
        "r2 was sent it before in this step: once, however many subscriptions from there match",
    ),
    "withdraws at another neighbour": Told(
        "RTE-6, a withdrawal follows its subscription and removes it",
        "unsubscribe(wide) from r2",
        "no further message to r2",
        "unsubscribe(wide) to r2",
        "it is missing to r4",
    ),
}


def test_without_a_mistake_it_is_accepted(tmp_path: Path) -> None:
    report = judged("", tmp_path)
    assert report.verdict == "accepted"
    assert (report.extent.owed, report.extent.obligations) == (16, 16)


@pytest.mark.parametrize("fault", FAULTS)
def test_the_first_five_lines_name_the_cause(fault: str, tmp_path: Path) -> None:
    report, told = judged(fault, tmp_path), TOLD[fault]
    head, *lines = render(report).splitlines()
    assert head.endswith("rejected at level equivalent")
    place, handling, wanted, because = lines[:4] if told.handling else (lines[0], "", *lines[1:3])
    assert place.startswith("  first rejection: run theirs, broker r3, seq ")
    assert " (line " in place
    assert place.endswith(f": {told.rule}")
    assert handling.split(maxsplit=1) == (["handling", told.handling] if told.handling else [])
    assert wanted.split(maxsplit=1) == ["wanted", told.wanted]
    assert because.split(maxsplit=1)[0] == "because"
    first = report.rejections[0]
    assert first.seen == told.seen
    assert told.because in first.reason
    assert told.lost in first.losses
    assert bool(told.lost) == bool(first.losses)
    assert not first.cause


@pytest.mark.parametrize("fault", FAULTS)
def test_what_clients_saw_is_a_consequence(fault: str, tmp_path: Path) -> None:
    report = judged(fault, tmp_path)
    words = render(report)
    consequences = [r for r in report.rejections if r.rule in ("TRC-7", "TRC-8", "TRC-9")]
    assert words.count("  consequence: ") == len({r.rule for r in consequences})
    assert all(r.broker == "r3" for r in report.rejections if r not in consequences)
    assert all("matches" in r.reason for r in consequences if r.rule == "TRC-7")


def test_a_broker_that_forgets_its_tables_is_named(tmp_path: Path) -> None:
    """Whatever its empty tables lack first: from there on it does what follows from what came since."""
    report = judged(FORGETS, tmp_path)
    _, place, *lines = render(report).splitlines()
    assert place.startswith("  first rejection: run theirs, broker r3, seq ")
    seq = report.rejections[0].cause.split()[2]
    assert " ".join("".join(lines[:2]).split()) == (
        f"cause from seq {seq} on it does only what follows from messages since then, as if it had forgotten its tables"
        " in a restart that is not in the trace"
    )
    assert "handling  unsubscribe(wide) from r2" in render(report)
    handled = [row for row in network(SCRIPT, FORGETS) if row.get("broker") == "r3" and row["seq"] == int(seq)]
    assert [row["message"]["id"] for row in handled] == ["wide"]


def test_one_wrong_step_shows_no_forgotten_tables(tmp_path: Path) -> None:
    rows = network(SCRIPT, FORGETS)
    end = next(n for n, row in enumerate(rows) if row.get("broker") == "r3" and row["message"]["id"] == "p3")
    path = tmp_path / "short.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows[: end + 1]))
    first = validate(path).rejections[0]
    assert (first.broker, first.rule, first.cause) == ("r3", "RTE-6", "")


@pytest.mark.parametrize("left", [[], ["narrow"]])
def test_a_snapshot_of_empty_tables_shows_that_they_are_forgotten(left: list[str], tmp_path: Path) -> None:
    def told(row: Row) -> Row:
        return {**row, "seq": 2 * row["seq"]} if "seq" in row else {**row, "observes": [*KINDS, "snapshot"]}

    rows = [told(row) for row in network(SCRIPT)]
    at = next(n for n, row in enumerate(rows) if row.get("broker") == "r3" and row["message"]["id"] == "p3")
    tables = {"advs": [], "subs": [{"id": id, "from": "r2"} for id in left]}
    snapshot = {
        "broker": "r3",
        "seq": rows[at]["seq"] - 1,
        "event": "snapshot",
        "tables": tables,
        "time": rows[at]["time"],
    }
    path = tmp_path / "told.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in (*rows[:at], snapshot, *rows[at:])))
    first = validate(path).rejections[0]
    assert (first.broker, first.rule) == ("r3", "TRC-4")
    assert first.cause.startswith("the tables are empty: this broker has forgotten its tables") == (not left)


def test_a_broker_that_delivers_nothing_is_named(tmp_path: Path) -> None:
    rows = [r for r in network(SCRIPT) if (r.get("broker"), r.get("event")) != ("r5", "deliver")]
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    cause = validate(tmp_path / "t.jsonl").rejections[0].cause
    assert cause.startswith("from seq 4 on it delivers nothing to its clients; all else is right")


def losses() -> list[Lost]:
    """Everything that a broker of the network can lose, at any moment."""
    last = {row["broker"]: row["seq"] for row in network(SCRIPT)[1:]}
    sides = [("", broker) for broker in last] + [pair for a, b in LINKS for pair in ((a, b), (b, a))]
    return [
        Lost(broker, seq, side, *parts)
        for side, broker in sides
        for seq in range(1, last[broker])
        for parts in product((False, True), repeat=2)
    ]


@drawn(0.2)
def test_a_broker_that_forgets_what_came_from_one_side_is_named(share: float, tmp_path: Path) -> None:
    """Where several things that it may have forgotten explain all that it does, each of them is named."""
    right, named, rejected = network(SCRIPT), 0, 0
    every = losses()
    for lost in Random(13).sample(every, round(share * len(every))):
        if network(SCRIPT, lost=lost) == right:
            continue
        report = judged("", tmp_path, lost)
        cause = report.rejections[0].cause
        assert report.rejections[0].broker == lost.broker
        assert not cause or f" of {lost.side or 'its clients'}" in cause, (lost, cause)
        assert all(r.cause == cause or not r.cause for r in report.rejections)
        rejected += 1
        named += bool(cause)
    assert named > 0.35 * rejected, "the others show it in fewer than three steps"
