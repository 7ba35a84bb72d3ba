"""Ways to spoil a good trace, each with the one event at which that must show, and the one rule.

A corruption changes the rows of one run and says where: at what is there and should not be, or, of what is missing, at
the beginning of the step that should have done it. It gives None where a run has nothing of the kind.
"""

import copy
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any

from attrs import evolve, frozen

from routeproof.checker.validate import Level, Rejection

Row = dict[str, Any]

LINK = "TRC-3"
ADDED = {"advertise": "RTE-4", "unsubscribe": "RTE-6"}
"""By what a broker was told, the rule by which it sends subscriptions; by anything else, RTE-3."""
WITHDRAWN = {"none": "RTE-6", "active": "COV-4", "packing": "COV-4", "lazy": "COV-6"}
"""By policy, the rule by which it withdraws what a subscription or an advertisement makes needless."""
SENT = {"advertise": "RTE-2", "publish": "RTE-5"}


@frozen
class Place:
    """`loosely`: the seq at the level `equivalent`, where it is another."""

    broker: str
    seq: int
    rule: str = ""
    loosely: int | None = None

    def at(self, level: Level) -> tuple[str, int, str]:
        return self.broker, self.seq if level == "exact" or self.loosely is None else self.loosely, self.rule


Spoil = Callable[[list[Row]], Place | None]


@frozen
class Corruption:
    """`behind`: why it cannot be the first rejection of its run."""

    spoil: Spoil
    behind: str = ""

    def assert_shown(self, rejections: Iterable[Rejection], run: str, where: Place, level: Level) -> None:
        """It is the first of its run; where something comes before it, it is among the others. And wanted and seen
        never read alike."""
        mine = [r for r in rejections if r.run == run]
        places = [(r.broker, r.seq, r.rule) for r in mine]
        assert where.at(level) in places, (where, mine)
        assert self.behind or places[0] == where.at(level), (where, mine)
        assert all(r.wanted != r.seen for r in mine), mine


def kind_of(row: Row) -> str:
    """Many in one message are still of their kind."""
    return str(row.get("message", {}).get("kind", "")).removesuffix("-many")


def first(rows: list[Row], event: str, kind: str, after: int = 0) -> int | None:
    """The first event of a kind with a message of a kind; of sends, one after which nothing more goes to that peer in
    the step."""
    return next(
        (
            i
            for i, row in enumerate(rows)
            if i > after and row["event"] == event and kind_of(row) == kind and (event != "send" or is_last(rows, i))
        ),
        None,
    )


def rest_of_step(rows: list[Row], at: int) -> list[int]:
    """What the broker did after this in the same step."""
    found: list[int] = []
    for i in range(at + 1, len(rows)):
        if rows[i]["broker"] == rows[at]["broker"]:
            if rows[i]["event"] not in ("send", "deliver"):
                break
            found.append(i)
    return found


def is_last(rows: list[Row], at: int) -> bool:
    return not any(rows[i]["event"] == "send" and rows[i]["peer"] == rows[at]["peer"] for i in rest_of_step(rows, at))


def place(row: Row, rule: str = "") -> Place:
    return Place(row["broker"], row["seq"], rule)


def rule_of(rows: list[Row], step: int, sent: Row) -> str:
    """By which rule a broker sends this in a step, or should not."""
    kind, told = kind_of(sent), kind_of(rows[step])
    if kind in SENT:
        return SENT[kind]
    if kind == "unsubscribe":
        return WITHDRAWN[rows[0]["policy"]] if told in ("subscribe", "advertise") else "RTE-6"
    return ADDED.get(told, "RTE-3")


def step_of(rows: list[Row], at: int) -> int:
    """Where the step begins to which an event belongs."""
    return next(i for i in range(at - 1, 0, -1) if begins_a_step(rows, i, at))


def begins_a_step(rows: list[Row], i: int, at: int) -> bool:
    return rows[i]["broker"] == rows[at]["broker"] and rows[i]["event"] in ("receive", "client")


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
        step = step_of(rows, at)
        begins = place(rows[step], rule_of(rows, step, rows[at]))
        del rows[at]
        return begins

    return spoil


def lose_a_receive(kind: str) -> Spoil:
    """The step's answer hangs in the air: it belongs to the step before, or to none."""

    def spoil(rows: list[Row]) -> Place | None:
        at = first(rows, "receive", kind)
        while at is not None:
            answer = rest_of_step(rows, at)
            if answer:
                before = [i for i in range(1, at) if begins_a_step(rows, i, at)]
                rule = rule_of(rows, before[-1], rows[answer[0]]) if before else "TRC-5"
                found = place(rows[answer[0]], rule)
                del rows[at]
                return found
            at = first(rows, "receive", kind, at)
        return None

    return spoil


def double(event: str, kind: str) -> Spoil:
    """The same event twice, the second with a seq of its own; of a receive, after the step's answer."""

    def spoil(rows: list[Row]) -> Place | None:
        at = first(rows, event, kind)
        if at is None:
            return None
        after = (rest_of_step(rows, at) or [at])[-1] if event == "receive" else at
        again = copy.deepcopy(rows[at]) | {"seq": rows[after]["seq"] + 1}
        rule = LINK if event == "receive" else rule_of(rows, step_of(rows, at), again)
        shift(rows, again["broker"], after + 1)
        rows.insert(after + 1, again)
        return place(again, rule)

    return spoil


def alter(event: str, kind: str, change: Callable[[Row], None], rule: str = "") -> Spoil:
    def spoil(rows: list[Row]) -> Place | None:
        at = first(rows, event, kind)
        if at is None:
            return None
        broken = rule or (LINK if event == "receive" else rule_of(rows, step_of(rows, at), rows[at]))
        change(rows[at])
        return place(rows[at], broken)

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
    return place(row, "RTE-5")


def withdraw_before_adding(rows: list[Row]) -> Place | None:
    for a, b in pairwise(rows[1:]):
        kinds = [kind_of(r) if r["event"] == "send" else "" for r in (a, b)]
        if kinds == ["subscribe", "unsubscribe"] and a["peer"] == b["peer"]:
            a["message"], b["message"] = b["message"], a["message"]
            return evolve(place(a, "COV-8"), loosely=b["seq"])
    return None


def move_a_receive_to_the_end(rows: list[Row]) -> Place | None:
    """A message is received, but long after its time; the next one that comes over the link is not what was sent."""
    at = first(rows, "receive", "subscribe")
    while at is not None:
        row = rows[at]
        later = [r for r in rows[at + 1 :] if r["broker"] == row["broker"] and r["event"] == "receive"]
        if any(r["peer"] == row["peer"] for r in later):
            found = next(place(r, LINK) for r in later if r["peer"] == row["peer"])
            rows.append({**rows.pop(at), "seq": 1 + max(r["seq"] for r in rows[1:]), "time": rows[-1]["time"] + 1})
            return found
        at = first(rows, "receive", "subscribe", at)
    return None


def two_of_one_seq(rows: list[Row]) -> Place | None:
    mine = [row for row in rows[1:] if row["broker"] == rows[1]["broker"]]
    mine[1]["seq"] = mine[0]["seq"]
    return place(mine[1], "TRC-1")


def a_seq_that_falls(rows: list[Row]) -> Place | None:
    mine = [row for row in rows[1:] if row["broker"] == rows[1]["broker"]]
    mine[-1]["seq"] = 0
    return place(mine[-1], "TRC-1")


def crash_unnoticed(rows: list[Row]) -> Place | None:
    """Its answer comes after it: nobody is handling anything then. What is missing before it, the crash explains."""
    at = first(rows, "receive", "subscribe")
    while at is not None:
        row, answer = rows[at], rest_of_step(rows, at)
        if answer and rows[answer[0]]["event"] == "send":
            shift(rows, row["broker"], at + 1)
            begins = place(rows[answer[0]], "TRC-5")
            rows.insert(at + 1, {"broker": row["broker"], "seq": row["seq"] + 1, "event": "crash", "time": row["time"]})
            return begins
        at = first(rows, "receive", "subscribe", at)
    return None


def send_out_of_the_blue(rows: list[Row]) -> Place | None:
    """Before the broker did anything at all."""
    at = first(rows, "send", "subscribe")
    if at is None:
        return None
    row = copy.deepcopy(rows[at]) | {"seq": 0, "time": 0}
    rows.insert(1, row)
    return place(row, "TRC-5")


def _one(row: Row) -> Row:
    """The message, or the first of many in it."""
    message: Row = row["message"]
    return message["items"][0] if "items" in message else message


def _filter(row: Row) -> None:
    about = _one(row)
    about["filter"] = [["class", "=", "ODD"]] if isinstance(about["filter"][0], list) else [5]


def _id(row: Row) -> None:
    _one(row)["id"] = "someone-else"


def _peer(row: Row) -> None:
    row["peer"] = "b99"


def _broker(row: Row) -> None:
    row["broker"] = "b99"


def _event(row: Row) -> None:
    message = row["message"]
    message |= {"attributes": {"class": "ODD"}} if "attributes" in message else {"event": 7}


def _no_event(row: Row) -> None:
    for key in ("event", "attributes"):
        row["message"].pop(key, None)


def _to(row: Row) -> None:
    row["message"]["to"] = "nobody"


CORRUPTIONS: dict[str, Corruption] = {
    "a forwarded advertisement lost": Corruption(lose("send", "advertise")),
    "a forwarded subscription lost": Corruption(lose("send", "subscribe")),
    "a withdrawal never sent": Corruption(lose("send", "unsubscribe")),
    "a forwarded publication lost": Corruption(lose("send", "publish")),
    "a received subscription lost": Corruption(lose_a_receive("subscribe")),
    "a received publication lost": Corruption(lose_a_receive("publish")),
    "a delivery missing": Corruption(lose("deliver", "publish")),
    "a delivery twice": Corruption(double("deliver", "publish")),
    "a delivery forged": Corruption(forge_a_delivery),
    "a delivery to somebody else": Corruption(alter("deliver", "publish", _to)),
    "a delivery of something else": Corruption(alter("deliver", "publish", _event)),
    "a subscription sent twice": Corruption(double("send", "subscribe")),
    "a publication sent twice": Corruption(double("send", "publish")),
    "a subscription received twice": Corruption(double("receive", "subscribe")),
    "a publication received twice": Corruption(double("receive", "publish")),
    "a filter altered when sent": Corruption(alter("send", "subscribe", _filter)),
    "a filter altered when received": Corruption(alter("receive", "subscribe", _filter)),
    "an id altered when sent": Corruption(alter("send", "subscribe", _id)),
    "an event altered when sent": Corruption(alter("send", "publish", _event)),
    "an event altered when received": Corruption(alter("receive", "publish", _event)),
    "a publication without its event": Corruption(
        alter("receive", "publish", _no_event, "TRC-6"), "that it is not what was sent shows at the same event"
    ),
    "a message over a link that does not exist": Corruption(alter("send", "subscribe", _peer, "TRC-2")),
    "a message from a link that does not exist": Corruption(alter("receive", "subscribe", _peer, "TRC-2")),
    "an event of a broker that does not exist": Corruption(
        alter("send", "subscribe", _broker, "TRC-2"), "the broker whose event it was lacks it at the same moment"
    ),
    "a receive long after its time": Corruption(
        move_a_receive_to_the_end, "its answer is there in time, and steps in between do not know of it"
    ),
    "additions after withdrawals": Corruption(withdraw_before_adding),
    "two events of one seq": Corruption(two_of_one_seq),
    "a seq that falls": Corruption(a_seq_that_falls),
    "a crash in between": Corruption(crash_unnoticed),
    "a send out of the blue": Corruption(send_out_of_the_blue),
}


def as_run(rows: list[Row], run: str) -> list[Row]:
    """The events of a trace under a run's name of their own, so that many stand in one file."""
    return [{**row, "run": run} for row in rows[1:]]
