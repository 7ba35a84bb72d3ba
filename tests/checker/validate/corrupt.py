"""Ways to spoil a good trace, each with the event at which that must show and the rules that it may break.

A corruption changes the rows of one run and says where: at what is there and should not be, or, of what is missing, at
the beginning of the step that should have done it. It gives None where a run has nothing of the kind.
"""

import copy
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from attrs import frozen

from routeproof.checker.validate import Report

Row = dict[str, Any]


@frozen
class Place:
    broker: str
    seq: int


Spoil = Callable[[list[Row]], Place | None]


@frozen
class Corruption:
    """`later`: how much further on it shows at the level `equivalent`, where order is only that of kinds."""

    spoil: Spoil
    rules: frozenset[str]
    later: int = 0

    def shows_in(self, report: Report, run: str, where: Place) -> bool:
        """Is it found, at the event, for one of the rules?"""
        seq = where.seq + (self.later if report.level == "equivalent" else 0)
        return any(
            (r.run, r.broker, r.seq) == (run, where.broker, seq) and r.rule in self.rules for r in report.rejections
        )


def first(rows: list[Row], event: str, kind: str, after: int = 0) -> int | None:
    """The first event of a kind with a message of a kind."""
    return next(
        (i for i, row in enumerate(rows) if i > after and row["event"] == event and row["message"]["kind"] == kind),
        None,
    )


def place(row: Row) -> Place:
    return Place(row["broker"], row["seq"])


def step_of(rows: list[Row], at: int) -> int:
    """Where the step begins to which an event belongs."""
    return next(
        i
        for i in range(at - 1, 0, -1)
        if rows[i]["broker"] == rows[at]["broker"] and rows[i]["event"] in ("receive", "client")
    )


def shift(rows: list[Row], broker: str, since: int) -> None:
    """Make room for one more event."""
    for row in rows[since:]:
        if row.get("broker") == broker:
            row["seq"] += 1


def lose(event: str, kind: str) -> Spoil:
    """What a broker should have done."""

    def spoil(rows: list[Row]) -> Place | None:
        at = first(rows, event, kind)
        if at is None:
            return None
        begins = place(rows[step_of(rows, at)])
        del rows[at]
        return begins

    return spoil


def lose_a_receive(kind: str) -> Spoil:
    """The step's answer hangs in the air: it belongs to the step before, or to none; or, of a step without an answer,
    the next thing that comes over the link is not what was sent."""

    def spoil(rows: list[Row]) -> Place | None:
        at = first(rows, "receive", kind)
        while at is not None:
            later = [i for i in range(at + 1, len(rows)) if rows[i]["broker"] == rows[at]["broker"]]
            if later and rows[later[0]]["event"] in ("send", "deliver"):
                found = place(rows[later[0]])
                del rows[at]
                return found
            at = first(rows, "receive", kind, at)
        return None

    return spoil


def double(event: str, kind: str) -> Spoil:
    """The same event twice, the second with a seq of its own."""

    def spoil(rows: list[Row]) -> Place | None:
        at = first(rows, event, kind)
        if at is None:
            return None
        again = copy.deepcopy(rows[at])
        shift(rows, again["broker"], at + 1)
        again["seq"] += 1
        rows.insert(at + 1, again)
        return place(again)

    return spoil


def alter(event: str, kind: str, change: Callable[[Row], None]) -> Spoil:
    def spoil(rows: list[Row]) -> Place | None:
        at = first(rows, event, kind)
        if at is None:
            return None
        change(rows[at])
        return place(rows[at])

    return spoil


def forge_a_delivery(rows: list[Row]) -> Place | None:
    at = first(rows, "receive", "publish")
    if at is None:
        return None
    row = copy.deepcopy(rows[at]) | {"event": "deliver", "peer": "client-x"}
    row["message"]["to"] = "nobody"
    shift(rows, row["broker"], at + 1)
    row["seq"] += 1
    rows.insert(at + 1, row)
    return place(row)


def withdraw_before_adding(rows: list[Row]) -> Place | None:
    for a, b in pairwise(rows[1:]):
        kinds = [r["message"]["kind"] if r["event"] == "send" else "" for r in (a, b)]
        if kinds == ["subscribe", "unsubscribe"] and a["peer"] == b["peer"]:
            a["message"], b["message"] = b["message"], a["message"]
            return place(a)
    return None


def move_a_receive_to_the_end(rows: list[Row]) -> Place | None:
    """A message is received, but long after its time."""
    at = first(rows, "receive", "subscribe")
    while at is not None:
        row = rows[at]
        later = [r for r in rows[at + 1 :] if r["broker"] == row["broker"] and r["event"] == "receive"]
        if any(r["peer"] == row["peer"] for r in later):
            found = next(place(r) for r in later if r["peer"] == row["peer"])
            rows.append({**rows.pop(at), "seq": 1 + max(r["seq"] for r in rows[1:]), "time": rows[-1]["time"] + 1})
            return found
        at = first(rows, "receive", "subscribe", at)
    return None


def two_of_one_seq(rows: list[Row]) -> Place | None:
    mine = [row for row in rows[1:] if row["broker"] == rows[1]["broker"]]
    mine[1]["seq"] = mine[0]["seq"]
    return place(mine[1])


def a_seq_that_falls(rows: list[Row]) -> Place | None:
    mine = [row for row in rows[1:] if row["broker"] == rows[1]["broker"]]
    mine[-1]["seq"] = 0
    return place(mine[-1])


def crash_unnoticed(rows: list[Row]) -> Place | None:
    """Its answer comes after it: nobody is handling anything then."""
    at = first(rows, "receive", "subscribe")
    while at is not None:
        row = rows[at]
        later = [r for r in rows[at + 1 :] if r["broker"] == row["broker"]]
        if later and later[0]["event"] == "send":
            begins = place(row)
            shift(rows, row["broker"], at + 1)
            rows.insert(at + 1, {"broker": row["broker"], "seq": row["seq"] + 1, "event": "crash", "time": row["time"]})
            return begins
        at = first(rows, "receive", "subscribe", at)
    return None


def send_out_of_the_blue(rows: list[Row]) -> Place | None:
    """Before the broker did anything at all."""
    at = first(rows, "send", "subscribe")
    if at is None:
        return None
    row = copy.deepcopy(rows[at]) | {"seq": 0}
    rows.insert(1, row)
    return place(row)


def _filter(row: Row) -> None:
    row["message"]["filter"] = [5]


def _id(row: Row) -> None:
    row["message"]["id"] = "someone-else"


def _peer(row: Row) -> None:
    row["peer"] = "b99"


def _broker(row: Row) -> None:
    row["broker"] = "b99"


def _event(row: Row) -> None:
    row["message"]["event"] = 7


def _no_event(row: Row) -> None:
    row["message"].pop("event")


def _to(row: Row) -> None:
    row["message"]["to"] = "nobody"


def _of(spoil: Spoil, *rules: str, later: int = 0) -> Corruption:
    return Corruption(spoil, frozenset(rules), later)


CORRUPTIONS: dict[str, Corruption] = {
    "a forwarded advertisement lost": _of(lose("send", "advertise"), "RTE-2"),
    "a forwarded subscription lost": _of(lose("send", "subscribe"), "RTE-3", "RTE-4"),
    "a withdrawal never sent": _of(lose("send", "unsubscribe"), "RTE-6", "COV-4"),
    "a forwarded publication lost": _of(lose("send", "publish"), "RTE-5"),
    "a received subscription lost": _of(lose_a_receive("subscribe"), "TRC-5", "RTE-2", "RTE-3", "RTE-4"),
    "a received publication lost": _of(lose_a_receive("publish"), "TRC-5", "RTE-2", "RTE-3", "RTE-5", "COV-2"),
    "a delivery missing": _of(lose("deliver", "publish"), "RTE-5"),
    "a delivery twice": _of(double("deliver", "publish"), "RTE-5"),
    "a delivery forged": _of(forge_a_delivery, "RTE-5"),
    "a delivery to somebody else": _of(alter("deliver", "publish", _to), "RTE-5"),
    "a delivery of something else": _of(alter("deliver", "publish", _event), "RTE-5"),
    "a subscription sent twice": _of(double("send", "subscribe"), "RTE-3", "RTE-4", "RTE-6", "COV-2"),
    "a publication sent twice": _of(double("send", "publish"), "RTE-5"),
    "a subscription received twice": _of(double("receive", "subscribe"), "TRC-3"),
    "a publication received twice": _of(double("receive", "publish"), "TRC-3"),
    "a filter altered when sent": _of(alter("send", "subscribe", _filter), "RTE-3", "RTE-4", "COV-2"),
    "a filter altered when received": _of(alter("receive", "subscribe", _filter), "TRC-3"),
    "an id altered when sent": _of(alter("send", "subscribe", _id), "RTE-3", "RTE-4", "COV-2"),
    "an event altered when received": _of(alter("receive", "publish", _event), "TRC-3"),
    "a publication without its event": _of(alter("receive", "publish", _no_event), "TRC-6"),
    "a message over a link that does not exist": _of(alter("send", "subscribe", _peer), "TRC-2"),
    "a message from a link that does not exist": _of(alter("receive", "subscribe", _peer), "TRC-2"),
    "an event of a broker that does not exist": _of(alter("send", "subscribe", _broker), "TRC-2"),
    "a receive long after its time": _of(move_a_receive_to_the_end, "TRC-3"),
    "additions after withdrawals": _of(withdraw_before_adding, "COV-8", later=1),
    "two events of one seq": _of(two_of_one_seq, "TRC-1"),
    "a seq that falls": _of(a_seq_that_falls, "TRC-1"),
    "a crash in between": _of(crash_unnoticed, "RTE-3", "RTE-4"),
    "a send out of the blue": _of(send_out_of_the_blue, "TRC-5"),
}


def as_run(rows: list[Row], run: str) -> list[Row]:
    """The events of a trace under a run's name of their own, so that many stand in one file."""
    return [{**row, "run": run} for row in rows[1:]]
