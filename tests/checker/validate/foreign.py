"""A broker network of somebody else: one function, dictionaries, ranges of prices, and a log in this format.

It follows docs/howto/emit-traces.md only, and shares no code with routeproof. `FAULTS` are mistakes that such a broker
may have; the router `r3` of a network makes one, all others are right.
"""

from collections import deque
from typing import Any, NamedTuple

FAULTS = (
    "forgets to re-forward",
    "compares one attribute only",
    "ignores late advertisements",
    "sends publications back",
    "keeps withdrawn subscriptions",
    "takes > for >=",
    "drops a message and does not say so",
    "sends a publication for each subscription",
    "withdraws at another neighbour",
)
FORGETS = "forgets its tables and does not say so"
"""Not one of `FAULTS`: the first difference does not show the cause."""
FORGOTTEN = ("r3", "wide", "unsubscribe")
"""Before this message."""
DROPPED = ("r3", "narrow", "subscribe")
LINKS = (("r1", "r2"), ("r2", "r3"), ("r3", "r4"), ("r3", "r5"))
Row = dict[str, Any]
Box = dict[str, tuple[float, float]]
"""By attribute, an open range."""


def box(conditions: list[list[Any]]) -> Box:
    found: Box = {}
    for name, operator, constant in conditions:
        low, high = found.get(name, (float("-inf"), float("inf")))
        found[name] = (max(low, constant), high) if operator == ">" else (low, min(high, constant))
    return found


def inside(outer: Box, inner: Box, sloppy: bool = False) -> bool:
    tests = [n in inner and outer[n][0] <= inner[n][0] and inner[n][1] <= outer[n][1] for n in outer]
    return any(tests) if sloppy and tests else all(tests)


def touching(one: Box, other: Box) -> bool:
    return all(max(one[n][0], other[n][0]) < min(one[n][1], other[n][1]) for n in one if n in other)


def hits(wanted: Box, event: dict[str, Any], closed: bool = False) -> bool:
    for n, (low, high) in wanted.items():
        if n not in event or not (low <= event[n] < high if closed else low < event[n] < high):
            return False
    return True


class Lost(NamedTuple):
    """What a broker loses after its event `seq`: what came from one side, a neighbour or with "" its clients."""

    broker: str
    seq: int
    side: str
    advertisements: bool
    sent: bool
    """Of what it has sent, too."""


def network(script: list[tuple[str, str, Row]], fault: str = "", lost: Lost | None = None) -> list[Row]:
    """The log of a run: operations (broker, client, message), each carried through before the next begins."""
    near = {r: [b if a == r else a for a, b in LINKS if r in (a, b)] for r in ["r1", "r2", "r3", "r4", "r5"]}
    ads: dict[str, dict[str, tuple[str, Box]]] = {r: {} for r in near}
    subs: dict[str, dict[str, tuple[str, Box, Row]]] = {r: {} for r in near}
    sent: dict[tuple[str, str], list[str]] = {(a, b): [] for a in near for b in near[a]}
    count = dict.fromkeys(near, 0)
    queue: deque[tuple[str, str, Row]] = deque()
    header = {"routeproof": 1, "run": "theirs", "protocol": "routing", "policy": "active", "clock": "shared"}
    clients: dict[str, str] = {}
    log: list[Row] = [{**header, "overlay": [list(link) for link in LINKS]}]
    tick = 0

    def write(r: str, event: str, peer: str, message: Row) -> None:
        count[r] += 1
        log.append({"broker": r, "seq": count[r], "event": event, "peer": peer, "message": message, "time": tick})

    def out(r: str, to: str, message: Row) -> None:
        write(r, "send", to, message)
        queue.append((r, to, message))

    def settle(r: str, late: bool) -> None:
        """Bring every neighbour up to date with what it has to know."""
        wrong = fault if r == "r3" else ""
        for n in near[r]:
            promised = [b for came, b in ads[r].values() if came == n]
            could = {i: s for i, s in subs[r].items() if s[0] != n and any(touching(s[1], p) for p in promised)}
            sloppy = wrong == "compares one attribute only"
            want = [
                i
                for i, s in could.items()
                if not any(
                    j != i and inside(t[1], s[1], sloppy) and (not inside(s[1], t[1], sloppy) or j < i)
                    for j, t in could.items()
                )
            ]
            new = [i for i in want if i not in sent[r, n]]
            if (late and wrong == "ignores late advertisements") or (not late and wrong == "forgets to re-forward"):
                new = [i for i in new if i == fresh]
            old = [i for i in sent[r, n] if i not in want]
            if wrong == "keeps withdrawn subscriptions":
                old = [i for i in old if i in subs[r]]
            for i in sorted(new):
                out(r, n, subs[r][i][2])
            for i in sorted(old):
                other = next(x for x in near[r] if x != n) if wrong == "withdraws at another neighbour" else n
                out(r, other, {"kind": "unsubscribe", "id": i})
            sent[r, n] = [i for i in sent[r, n] if i not in old] + new

    for at, client, operation in script:
        queue.append((client, at, operation))
        while queue:
            came, r, m = queue.popleft()
            tick += 1
            if fault == "drops a message and does not say so" and (r, m["id"], m["kind"]) == (
                "r3",
                "narrow",
                "subscribe",
            ):
                continue
            local = came not in near
            if fault == FORGETS and (r, m["id"], m["kind"]) == FORGOTTEN:
                ads[r], subs[r] = {}, {}
                sent |= {(r, n): [] for n in near[r]}
            if lost is not None and (r, count[r]) == (lost.broker, lost.seq):
                gone = [i for i, (hop, _, _) in subs[r].items() if hop == lost.side]
                subs[r] = {i: s for i, s in subs[r].items() if i not in gone}
                if lost.advertisements:
                    ads[r] = {i: a for i, a in ads[r].items() if a[0] != lost.side}
                if lost.sent:
                    sent |= {(r, n): [i for i in sent[r, n] if i not in gone] for n in near[r]}
            write(r, "client" if local else "receive", came, m)
            kind, fresh = m["kind"], m["id"]
            hop = "" if local else came
            if kind == "advertise":
                ads[r][m["id"]] = (hop, box(m["filter"]))
            elif kind == "subscribe":
                subs[r][m["id"]] = (hop, box(m["filter"]), m)
            elif kind == "unsubscribe":
                subs[r].pop(m["id"], None)
            if kind == "advertise":
                for n in near[r]:
                    if n != hop:
                        out(r, n, m)
            if kind == "publish":
                closed = fault == "takes > for >=" and r == "r3"
                towards = [s[0] for s in subs[r].values() if hits(s[1], m["attributes"], closed)]
                each = fault == "sends a publication for each subscription" and r == "r3"
                for n in [x for x in near[r] for _ in range(towards.count(x) if each else 1)]:
                    if n in towards and (n != hop or (fault == "sends publications back" and r == "r3")):
                        out(r, n, m)
                for i, s in subs[r].items():
                    if s[0] == "" and hits(s[1], m["attributes"], closed):
                        write(r, "deliver", clients[i], {**m, "to": i})
            else:
                settle(r, kind == "advertise")
            if local and kind == "subscribe":
                clients[m["id"]] = client
    return log


def subscribe(id: str, *conditions: list[Any]) -> Row:
    return {"kind": "subscribe", "id": id, "filter": list(conditions)}


def publish(id: str, of: str, **attributes: Any) -> Row:
    return {"kind": "publish", "id": id, "of": of, "attributes": attributes}


SCRIPT: list[tuple[str, str, Row]] = [
    ("r4", "feed", {"kind": "advertise", "id": "prices", "filter": [["price", ">", 0]]}),
    ("r1", "alice", subscribe("wide", ["price", ">", 10])),
    ("r2", "bob", subscribe("narrow", ["price", ">", 20], ["volume", ">", 5])),
    ("r5", "carol", subscribe("cheap", ["price", "<", 50], ["volume", ">", 100])),
    ("r1", "alice", subscribe("mid", ["price", ">", 30], ["price", "<", 40])),
    ("r4", "feed", publish("p1", "prices", price=35, volume=7)),
    ("r4", "feed", publish("p2", "prices", price=10, volume=200)),
    ("r1", "alice", {"kind": "unsubscribe", "id": "wide"}),
    ("r4", "feed", publish("p3", "prices", price=35, volume=7)),
    ("r4", "feed", publish("p4", "prices", price=36, volume=300)),
    ("r5", "late", {"kind": "advertise", "id": "more", "filter": [["price", ">", 0]]}),
    ("r5", "late", publish("p5", "more", price=36, volume=300)),
    ("r5", "late", publish("p6", "more", price=38, volume=300)),
    ("r1", "alice", {"kind": "unsubscribe", "id": "mid"}),
    ("r2", "bob", {"kind": "unsubscribe", "id": "narrow"}),
    ("r4", "feed", publish("p7", "prices", price=36, volume=300)),
    *((f"r{n}", "end", {"kind": "advertise", "id": f"end{n}", "filter": [["end", ">", n]]}) for n in range(1, 6)),
]
