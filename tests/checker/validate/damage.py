"""Ways to damage an accepted trace: what an event tells of its time, of what it is about, or of whom it is for.

A damage changes copies of some rows and says how the trace must be judged then. `with_loss` adds a lost delivery far
from it, which must be found all the same.
"""

import copy
import random
from collections import Counter
from collections.abc import Callable
from typing import Any

from attrs import frozen

Row = dict[str, Any]

Change = Callable[[list[Row], int, random.Random], None]


@frozen
class Damage:
    """`event` and `kind`: which events may be damaged, and `change`, which gets all rows and the place of one. `rules`:
    by level, those of the rejections, of
    which the first must be there and others are consequences; none where the damage is told only. `remark`: what the
    report says of it."""

    event: str
    kind: str
    change: Change
    exact: tuple[str, ...] = ()
    observable: tuple[str, ...] = ()
    remark: str = ""
    unknown: bool = False
    """Is the verdict at `observable` unknown?"""

    def places(self, rows: list[Row]) -> list[int]:
        """Returns the events that can be damaged."""
        found = [n for n, row in enumerate(rows) if n and row["event"] == self.event]
        return [n for n in found if rows[n]["message"]["kind"] == self.kind]

    def damaged(self, rows: list[Row], rng: random.Random, at: int | None = None) -> list[Row]:
        """Returns the trace with one event damaged; the rows given stay as they are."""
        at = rng.choice(self.places(rows)) if at is None else at
        found = list(rows)
        found[at] = copy.deepcopy(found[at])
        self.change(found, at, rng)
        return found


def with_loss(rows: list[Row], rng: random.Random, spare: frozenset[str] = frozenset()) -> tuple[list[Row], str]:
    """Returns the trace without one delivery of its second half, and the publication that is lost; none of `spare`, and
    none of a broker's last step, which may go on after the end of its recording."""
    last = {row["broker"]: n for n, row in enumerate(rows) if row.get("event") in ("receive", "client")}
    places = [
        n
        for n, row in enumerate(rows)
        if n > len(rows) // 2
        and row["event"] == "deliver"
        and n < last[row["broker"]]
        and row["message"]["id"] not in spare
    ]
    at = rng.choice(places)
    return [*rows[:at], *rows[at + 1 :]], rows[at]["message"]["id"]


def _time(time: int | None) -> Change:
    def change(rows: list[Row], at: int, rng: random.Random) -> None:
        if time is None:
            rows[at].pop("time")
        else:
            rows[at]["time"] = time

    return change


def _received_before_it_was_sent(rows: list[Row], at: int, rng: random.Random) -> None:
    """All of the receiving broker's clock stands at the beginning: its own order does not fall."""
    broker = rows[at]["broker"]
    for n, row in enumerate(rows):
        if n and row["broker"] == broker and n <= at:
            rows[n] = {**row, "time": 0}


def _of_nothing(rows: list[Row], at: int, rng: random.Random) -> None:
    """Everywhere: nothing was altered on the way."""
    id = rows[at]["message"]["id"]
    for n, row in enumerate(rows):
        if n and row.get("message", {}).get("id") == id:
            rows[n] = {**row, "message": {**row["message"], "of": "nothing"}}


def _to_a_stranger(rows: list[Row], at: int, rng: random.Random) -> None:
    rows[at]["peer"] = "client-x"


def _to_nothing(rows: list[Row], at: int, rng: random.Random) -> None:
    rows[at]["message"]["to"] = "nobody"


def _other_content(rows: list[Row], at: int, rng: random.Random) -> None:
    rows[at]["message"]["attributes"]["volume"] = 1


def _other_of(rows: list[Row], at: int, rng: random.Random) -> None:
    rows[at]["message"]["of"] = "another"


def _other_kind(rows: list[Row], at: int, rng: random.Random) -> None:
    rows[at]["message"]["kind"] = "gossip"


def _other_kind_without_content(rows: list[Row], at: int, rng: random.Random) -> None:
    rows[at]["message"] = {key: rows[at]["message"][key] for key in ("id", "to")} | {"kind": "gossip"}


HUGE = 1 << 61

DAMAGES: dict[str, Damage] = {
    "a subscription received at no time": Damage("receive", "subscribe", _time(None), remark="no time"),
    "a subscription made at no time": Damage("client", "subscribe", _time(None), remark="no time"),
    "a publication made at no time": Damage("client", "publish", _time(None), remark="no time"),
    "a publication received at no time": Damage("receive", "publish", _time(None), remark="no time"),
    "a subscription received at time 0": Damage("receive", "subscribe", _time(0), ("TRC-10",), ("TRC-10",)),
    "a subscription received in the far future": Damage("receive", "subscribe", _time(HUGE), ("TRC-10",), ("TRC-10",)),
    "a publication made at time 0": Damage("client", "publish", _time(0), ("TRC-10",), ("TRC-10",)),
    "a publication made in the far future": Damage("client", "publish", _time(HUGE), ("TRC-10",), ("TRC-10",)),
    "a publication sent in the far future": Damage("send", "publish", _time(HUGE), ("TRC-10",), ("TRC-10",)),
    "a delivery at time 0": Damage("deliver", "publish", _time(0), ("TRC-10",), ("TRC-10",)),
    "a delivery in the far future": Damage("deliver", "publish", _time(HUGE), ("TRC-10",), ("TRC-10",)),
    "received before it was sent": Damage(
        "receive", "subscribe", _received_before_it_was_sent, ("TRC-10",), ("TRC-10",)
    ),
    "a delivery to a client that never asked": Damage("deliver", "publish", _to_a_stranger, ("TRC-9",), ("TRC-9",)),
    "a delivery for a subscription that nobody made": Damage(
        "deliver", "publish", _to_nothing, ("RTE-5", "TRC-7", "TRC-9"), ("TRC-9", "TRC-7")
    ),
    "a delivery of something else": Damage("deliver", "publish", _other_content, ("RTE-5", "TRC-9"), ("TRC-9",)),
    "a delivery under another advertisement": Damage("deliver", "publish", _other_of, ("RTE-5", "TRC-9"), ("TRC-9",)),
    "a delivery of an unknown kind": Damage("deliver", "publish", _other_kind, ("TRC-6", "TRC-7"), ("TRC-6", "TRC-7")),
    "a delivery of an unknown kind that says nothing": Damage(
        "deliver", "publish", _other_kind_without_content, ("TRC-6", "TRC-7"), ("TRC-6", "TRC-7")
    ),
    "a client's message of an unknown kind": Damage("client", "subscribe", _other_kind, ("TRC-6",), ("TRC-6",)),
    "published under an unknown advertisement": Damage(
        "client", "publish", _of_nothing, remark="under an advertisement that no client made", unknown=True
    ),
}


# -- mishaps: several events -------------------------------------------------------------------------------------------

Mishap = Callable[[list[Row]], list[Row]]


def _altered(count: int) -> Mishap:
    """Returns the change of what so many publications of one link are published under, between send and receive."""

    def change(rows: list[Row]) -> list[Row]:
        links = Counter(
            (row["peer"], row["broker"]) for row in rows[1:] if _is(row, "receive", "publish") and row["message"]["of"]
        )
        near, far = links.most_common(1)[0][0]
        taken = [n for n, row in enumerate(rows) if n and _is(row, "receive", "publish") and _link(row) == (near, far)]
        found = list(rows)
        for at in taken[len(taken) // 2 :][:count]:
            found[at] = {**rows[at], "message": {**rows[at]["message"], "of": "another"}}
        return found

    return change


def dropped(rows: list[Row]) -> list[Row]:
    """Returns the trace with a publication dropped where it would have been delivered, and sent no further."""
    steps: dict[int, list[int]] = {}
    began: dict[str, int] = {}
    for n, row in enumerate(rows[1:], 1):
        if row["event"] in ("receive", "client"):
            began[row["broker"]] = n
            steps[n] = []
        else:
            steps[began[row["broker"]]].append(n)
    places = [
        at
        for at, those in steps.items()
        if at > len(rows) // 2
        and _is(rows[at], "receive", "publish")
        and those
        and all(rows[n]["event"] == "deliver" for n in those)
    ]
    at = places[0]
    gone = set(steps[at])
    return [{**row, "event": "drop"} if n == at else row for n, row in enumerate(rows) if n not in gone]


def _faulty(*events: str) -> Mishap:
    """Returns the appending of these events to those of the last broker."""

    def change(rows: list[Row]) -> list[Row]:
        last = rows[-1]
        own = max(row["seq"] for row in rows[1:] if row["broker"] == last["broker"])
        more = [
            {"broker": last["broker"], "seq": own + n, "event": event, "time": last["time"]}
            for n, event in enumerate(events, 1)
        ]
        return [*rows, *more]

    return change


def cut_short(rows: list[Row]) -> list[Row]:
    """Returns the steps that began before a moment at which messages are on links."""
    began: dict[str, int] = {}
    begins = [-1]
    for row in rows[1:]:
        if row["event"] in ("receive", "client"):
            began[row["broker"]] = row["time"]
        begins.append(began[row["broker"]])
    for moment in sorted(set(begins))[2 * len(set(begins)) // 3 :]:
        found = [row for row, begin in zip(rows, begins, strict=True) if begin < moment]
        if left_on_links(found) > 1:
            return found
    raise AssertionError("nothing is ever on a link")


def left_on_links(rows: list[Row]) -> int:
    """Returns how many messages were sent and not received."""
    events = Counter(str(row["event"]) for row in rows[1:])
    return events["send"] - events["receive"]


def _is(row: Row, event: str, kind: str) -> bool:
    return bool(row["event"] == event and row["message"]["kind"] == kind)


def _link(row: Row) -> tuple[str, str]:
    return row["peer"], row["broker"]


MISHAPS: dict[str, Mishap] = {
    "one advertisement altered": _altered(1),
    "three advertisements altered": _altered(3),
    "five advertisements altered": _altered(5),
    "dropped": dropped,
    "restarted": _faulty("restart"),
    "crashed": _faulty("crash", "restart"),
    "cut short": cut_short,
}
