"""Common mistakes of recorders are recognised and named."""

from pathlib import Path

import pytest

from tests.checker.validate.foreign import SCRIPT, network
from tests.checker.validate.test_ends import begins_of
from tests.checker.validate.walks import Row, judged, rows_of


def receives_after_sends(rows: list[Row]) -> list[Row]:
    """The rows of a recorder that writes down what it handles when the broker is done with it."""
    found = list(rows)
    for broker in sorted({row["broker"] for row in rows[1:]}):
        begins = begins_of(rows, broker)
        mine = [n for n, row in enumerate(rows) if n and row["broker"] == broker]
        order: list[int] = []
        for at, begin in enumerate(begins):
            until = begins[at + 1] if at + 1 < len(begins) else len(rows)
            answer = [n for n in mine if begin < n < until]
            order += [*answer, begin]
        for place, n in zip(mine, order, strict=True):
            found[place] = {**rows[n], "seq": rows[place]["seq"]}
    return found


@pytest.mark.parametrize(("name", "seed"), [("line4", 0), ("star4", 2)])
def test_receptions_that_are_written_after_their_sends(name: str, seed: int, tmp_path: Path) -> None:
    report = judged(receives_after_sends(rows_of(name, "none", seed)), tmp_path, "equivalent")
    for event in ("receive", "client"):
        hint = f"seems to write `{event}` after the sends that it causes"
        assert any(hint in r.cause for r in report.rejections), event


def test_a_kind_that_is_declared_and_never_written(tmp_path: Path) -> None:
    rows = rows_of("star4", "active", 2)
    report = judged([row for n, row in enumerate(rows) if not n or row["event"] != "send"], tmp_path)
    assert report.verdict == "rejected"
    assert any('"observes" has send, and the trace has no send event' in line for line in report.extent.faults())
    assert not judged(rows, tmp_path).extent.faults()


def test_an_unknown_id_that_is_withdrawn(tmp_path: Path) -> None:
    rows = rows_of("star4", "active", 2)
    message = {"kind": "unsubscribe", "id": "nothing"}
    last = rows[-1]
    odd = {**last, "event": "client", "peer": "c", "seq": last["seq"] + 1, "message": message}
    report = judged([*rows, odd], tmp_path)
    assert report.verdict == "accepted"
    assert any(
        "withdrew an id that it does not know once; first unsubscribe(nothing)" in line for line in report.remarks
    )


def test_withdrawals_with_ids_of_their_own(tmp_path: Path) -> None:
    """The broker withdraws what was meant, and writes an id that it has made for the withdrawal."""
    rows = [{**row, "message": {**row["message"]}} if "message" in row else row for row in network(SCRIPT)]
    for row in rows[1:]:
        if (row["event"], row["message"]["kind"]) == ("client", "unsubscribe"):
            row["message"]["id"] += "-w"
    first = judged(rows, tmp_path, "equivalent").rejections[0]
    assert first.cause.startswith("unsubscribe(wide-w) has an id that r1 does not know; ")
    for row in rows[1:]:
        if row["message"]["id"].endswith("-w"):
            row["message"]["of"] = row["message"]["id"].removesuffix("-w")
    assert judged(rows, tmp_path, "equivalent").verdict == "accepted"


def test_a_key_of_the_header_that_is_misspelt(tmp_path: Path) -> None:
    rows = rows_of("star4", "active", 2)
    [said] = judged([{**rows[0], "observe": ["client"]}, *rows[1:]], tmp_path).extent.faults()
    assert said == 'the header has the key "observe", which is not read: is observes meant?'
    report = judged([{**rows[0], "comment": "mine", "host": "x"}, *rows[1:]], tmp_path)
    assert not report.extent.faults()
    assert "not read in the header: comment, host" in report.remarks
    assert not any("not read" in line for line in judged(rows, tmp_path).remarks)


@pytest.mark.parametrize("kind", ["client", "receive"])
def test_a_kind_without_which_nothing_begins(kind: str, tmp_path: Path) -> None:
    """It is declared and never written, although brokers send."""
    rows = rows_of("line4", "active", 2)
    report = judged([row for n, row in enumerate(rows) if not n or row["event"] != kind], tmp_path)
    assert any(f'"observes" has {kind}, and the trace has no {kind} event' in line for line in report.extent.faults())


def test_names_that_are_in_no_overlay(tmp_path: Path) -> None:
    """Of a broker, and of the other end of a link; another name that looks like it is offered."""
    rows = rows_of("line4", "active", 2)
    at = next(n for n, row in enumerate(rows) if n and row["event"] == "send")
    odd = judged([*rows[:at], {**rows[at], "peer": "B2x"}, *rows[at + 1 :]], tmp_path).rejections
    [wrong] = [r for r in odd if r.rule == "TRC-2"]
    assert wrong.reason == 'B2x is in no link of the header\'s "overlay": is b2 meant, or is a link missing?'
    [strange] = [
        r for r in judged([*rows, {**rows[-1], "broker": "gateway"}], tmp_path).rejections if r.rule == "TRC-2"
    ]
    assert strange.reason == 'gateway is in no link of the header\'s "overlay": is a link missing there?'
