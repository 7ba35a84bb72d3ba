"""Ids that a broker gives to what it forwards, with the original under `of`; clients of one name, and of none."""

import json
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from routeproof.checker.counterexamples.recorded import shrink_recorded
from routeproof.checker.validate import Level, validate
from routeproof.traces import read_trace, to_json_lines, to_parquet
from tests.checker.validate.corrupt import lose
from tests.checker.validate.walks import POLICIES, Row, judged, rows_of, write

LEVELS: tuple[Level, ...] = ("exact", "equivalent", "safe")
RUNS = (("line4", 0), ("star4", 2), ("unadv3", 4))


def renamed(rows: list[Row]) -> list[Row]:
    """Every broker forwards subscriptions under ids of its own."""
    found = [rows[0]]
    for row in rows[1:]:
        message = row["message"]
        if row["event"] not in ("send", "receive") or "subscribe" not in message["kind"]:
            found.append(row)
            continue
        sender = row["broker"] if row["event"] == "send" else row["peer"]
        own = {"id": f"{sender}-{message['id']}", "of": message["id"]} if "id" in message else {}
        items = [{**item, "id": f"{sender}-{item['id']}", "of": item["id"]} for item in message.get("items", ())]
        found.append({**row, "message": {**message, **own, **({"items": items} if items else {})}})
    return found


@pytest.mark.parametrize("policy", POLICIES)
def test_ids_of_their_own_for_each_hop(policy: str, tmp_path: Path) -> None:
    for name, seed in RUNS:
        rows = rows_of(name, policy, seed)
        report = judged(renamed(rows), tmp_path)
        assert report.verdict == "accepted", (name, report.rejections)
        where = lose("send", "subscribe")(rows)
        if where is not None:
            wrong = judged(renamed(rows), tmp_path)
            assert wrong.verdict == "rejected"
            assert [r.rule for r in wrong.rejections[:1]] == [where.rule]


def chained(rows: list[Row], *, bare: bool) -> list[Row]:
    """Every broker forwards subscriptions under ids of its own, and names the id under which it received them. `bare`:
    a withdrawal has its own id only."""
    found, received = [rows[0]], dict[tuple[str, str], str]()
    for row in rows[1:]:
        message = row["message"]
        if row["event"] not in ("send", "receive") or message["kind"] not in ("subscribe", "unsubscribe"):
            found.append(row)
            continue
        id, is_sent = message["id"], row["event"] == "send"
        sender = row["broker"] if is_sent else row["peer"]
        before = received.get((sender, id), id)
        own = f"{sender}-{before}"
        if not is_sent:
            received[row["broker"], id] = own
        more = {} if bare and message["kind"] == "unsubscribe" else {"of": before}
        found.append({**row, "message": {**message, "id": own, **more}})
    return found


@pytest.mark.parametrize("bare", [True, False])
@pytest.mark.parametrize("policy", ["none", "active", "lazy"])
def test_ids_of_ids_of_ids(policy: str, bare: bool, tmp_path: Path) -> None:
    """A chain: each broker knows only the id that its neighbour gave."""
    for name, seed in RUNS:
        rows = rows_of(name, policy, seed)
        told = chained(rows, bare=bare)
        assert any(row.get("message", {}).get("id", "").count("-") >= 2 for row in told)
        for level in LEVELS:
            report = judged(told, tmp_path, level)
            assert report.verdict == "accepted", (name, level, report.rejections)
        where = lose("send", "subscribe")(rows)
        if where is not None:
            wrong = judged(chained(rows, bare=bare), tmp_path)
            assert (where.broker, where.rule) in {(r.broker, r.rule) for r in wrong.rejections}


def merged(*, of: list[str] | None = None, leaves: bool = False, lacks: bool = False, then: str = "both") -> list[Row]:
    """Two subscriptions of one broker's clients, for which it forwards one entry, as its neighbour does. `of`: names
    them; `leaves`: the entry is never withdrawn; `lacks`: it does not cover both; `then`: which of the two leave, and
    `early` if the entry is withdrawn with the first."""
    header = {"routeproof": 1, "run": "r", "protocol": "routing", "policy": "none", "dialect": "events"}
    own = {} if of is None else {"of": of}
    wide = {"kind": "subscribe", "id": "m", "filter": [1] if lacks else [1, 2], **own}
    far = {**wide, "id": "n", **({} if of is None else {"of": ["m"] if "s" in of else of})}
    s, t = ({"kind": "subscribe", "id": id, "filter": [number]} for number, id in enumerate("st", 1))
    gone = {id: {"kind": "unsubscribe", "id": id} for id in "stmn"}
    a, p = {"kind": "advertise", "id": "a", "filter": [1, 2, 3]}, {"kind": "publish", "id": "p", "of": "a", "event": 2}
    ends = [
        ("y", "send", "x", gone["m"]),
        *(("x", *rest) for rest in (("receive", "y", gone["m"]), ("send", "w", gone["n"]))),
    ]
    ends.append(("w", "receive", "x", gone["n"]))
    told: list[tuple[str, str, str, Row]] = [
        ("w", "client", "c", a),
        ("w", "send", "x", a),
        ("x", "receive", "w", a),
        ("x", "send", "y", a),
        ("y", "receive", "x", a),
        ("y", "client", "d", s),
        ("y", "send", "x", s),
        ("y", "client", "e", t),
        ("y", "send", "x", wide),
        ("y", "send", "x", gone["s"]),
        ("x", "receive", "y", s),
        ("x", "send", "w", s),
        ("x", "receive", "y", wide),
        ("x", "send", "w", far),
        ("x", "receive", "y", gone["s"]),
        ("x", "send", "w", gone["s"]),
        *(("w", "receive", "x", each) for each in (s, far, gone["s"])),
        ("w", "client", "c", p),
        ("w", "send", "x", p),
        ("x", "receive", "w", p),
        ("x", "send", "y", p),
        ("y", "receive", "x", p),
        ("y", "deliver", "e", {**p, "to": "t"}),
        *([("y", "client", "d", gone["s"])] if then != "neither" else []),
        *(ends if then == "early" else []),
        *([("y", "client", "e", gone["t"])] if then == "both" else []),
        *([] if leaves or then != "both" else ends),
    ]
    snapshots = [{"broker": broker, "seq": len(told), "event": "snapshot", "tables": {}} for broker in "wxy"]
    rows = [{"broker": b, "seq": n, "event": e, "peer": p, "message": m} for n, (b, e, p, m) in enumerate(told)]
    return [{**header, "overlay": [["w", "x"], ["x", "y"]]}, *rows, *snapshots]


NAMED = (None, ["s", "t"])
"""An entry without the subscriptions for which it stands, and with them."""


@pytest.mark.parametrize("of", NAMED, ids=["unnamed", "named"])
def test_an_entry_that_stands_for_several(of: list[str] | None, tmp_path: Path) -> None:
    for then in ("neither", "one", "both"):
        report = judged(merged(of=of, then=then), tmp_path, "safe")
        assert report.verdict == "accepted", (then, report.rejections)
        assert any("deviated from the reference" in line for line in report.remarks)
    [first, *_] = judged(merged(of=of), tmp_path, "equivalent").rejections
    assert ("only the level safe judges entries that stand for others" in first.reason) == (of is not None)
    [lost] = judged(merged(of=of, then="early"), tmp_path, "safe").rejections[:1]
    assert (lost.broker, lost.wanted.split(" ")[0]) == ("y", "subscribe(t)")
    [left] = judged(merged(of=of, leaves=True), tmp_path, "safe").rejections
    assert (left.broker, left.wanted) == ("y", "unsubscribe(m) to x")


def test_the_names_of_what_an_entry_stands_for_are_judged(tmp_path: Path) -> None:
    [lost] = judged(merged(lacks=True), tmp_path, "safe").rejections[:1]
    assert (lost.broker, lost.wanted.split(" ")[0]) == ("y", "subscribe(t)")
    for rows, reason in (
        (merged(of=["s", "t"], lacks=True), "m ({1}) is said to stand for t ({2}), and does not cover it"),
        (merged(of=["s", "u"]), "m is said to stand for u, which came from no client and no other neighbour"),
    ):
        [first, *_] = judged(rows, tmp_path, "safe").rejections
        assert (first.broker, first.seq, first.seen, first.reason) == ("y", 8, "subscribe(m) to x", reason)
    relayed = [
        {**row, "message": {**m, "of": ["s", "t"]}} if (m := row.get("message", {})).get("of") == ["m"] else row
        for row in merged(of=["s", "t"])
    ]
    assert relayed != merged(of=["s", "t"])
    assert judged(relayed, tmp_path, "safe").verdict == "accepted", "a relay may keep the names that it received"


@pytest.mark.parametrize("of", [[], ["s", "s"], [1], [""]])
def test_lists_that_are_none(of: list[Any], tmp_path: Path) -> None:
    report = judged(merged(of=of), tmp_path, "safe")
    assert (report.verdict, report.bad_lines) == ("unknown", 2 if "s" in of else 4)
    assert report.bad[0].reason.startswith('"of": found ')


def test_lists_in_parquet(tmp_path: Path) -> None:
    runs = [merged(of=["s", "t"], **more) for more in ({}, {"then": "one"}, {"leaves": True})]
    runs.append([*runs[0][:5], {**runs[0][5], "message": {**runs[0][5]["message"], "of": ["s"]}}, *runs[0][6:]])
    for rows in runs:
        lines = judged(rows, tmp_path, "safe")
        source, columns, again = (tmp_path / name for name in ("trace.jsonl", "t.parquet", "again.jsonl"))
        to_parquet(source, columns)
        assert evolve(validate(columns, "safe"), trace=lines.trace, seconds=lines.seconds) == lines
        to_json_lines(columns, again)
        by_place = [sorted(read_trace(path).events, key=lambda e: (e.broker, e.seq)) for path in (source, again)]
        assert by_place[0] == by_place[1]


def test_lists_in_a_run_that_is_shrunk(tmp_path: Path) -> None:
    rows = merged(of=["s", "t"], leaves=True)
    source = write(rows, tmp_path / "long.jsonl")
    assert shrink_recorded(source, tmp_path / "short.jsonl", "safe").startswith("RTE-6 at broker y")
    short = [json.loads(line) for line in (tmp_path / "short.jsonl").read_text().splitlines()]
    assert [row["message"].get("of") for row in short[1:-1]] == [None, ["t"], None]


def test_clients_may_have_no_name(tmp_path: Path) -> None:
    for name, seed in RUNS:
        rows = rows_of(name, "active", seed)
        nameless = [{k: v for k, v in row.items() if k != "peer" or row["event"] != "client"} for row in rows]
        for level in ("equivalent", "observable"):
            report, whole = judged(nameless, tmp_path, level), judged(rows, tmp_path, level)
            assert report.verdict == whole.verdict == "accepted", (name, report.rejections)
            assert report.extent.owed == whole.extent.owed


def of_one_name() -> list[Row]:
    """Two clients of the same name at two brokers; deliveries name clients, and not their subscriptions."""
    header = {"routeproof": 1, "run": "r", "protocol": "routing", "policy": "none", "overlay": [["x", "y"]]}
    a, s, t = (
        {"kind": kind, "id": id, "filter": [1]}
        for kind, id in (("advertise", "a"), ("subscribe", "s"), ("subscribe", "t"))
    )
    p = {"kind": "publish", "id": "p", "of": "a", "event": 1}
    rows: list[Row] = [
        {"broker": "x", "event": "client", "peer": "feed", "message": a},
        {"broker": "x", "event": "send", "peer": "y", "message": a},
        {"broker": "y", "event": "receive", "peer": "x", "message": a},
        {"broker": "x", "event": "client", "peer": "desk", "message": s},
        {"broker": "y", "event": "client", "peer": "desk", "message": t},
        {"broker": "y", "event": "send", "peer": "x", "message": t},
        {"broker": "x", "event": "receive", "peer": "y", "message": t},
        {"broker": "x", "event": "client", "peer": "feed", "message": p},
        {"broker": "x", "event": "send", "peer": "y", "message": p},
        {"broker": "x", "event": "deliver", "peer": "desk", "message": p},
        {"broker": "y", "event": "receive", "peer": "x", "message": p},
        {"broker": "y", "event": "deliver", "peer": "desk", "message": p},
        {"broker": "x", "event": "client", "peer": "e", "message": {"kind": "subscribe", "id": "u", "filter": [2]}},
    ]
    timed = [{**row, "time": time, "seq": time} for time, row in enumerate(rows)]
    return [{**header, "dialect": "events", "clock": "shared"}, *timed]


def test_the_name_of_a_client_is_unique_at_its_broker_only(tmp_path: Path) -> None:
    rows = of_one_name()
    for level in ("equivalent", "observable"):
        assert judged(rows, tmp_path, level).verdict == "accepted"
    lost = [row for row in rows if (row.get("broker"), row.get("event")) != ("y", "deliver")]
    assert [r.rule for r in judged(lost, tmp_path, "observable").rejections] == ["TRC-7"]
    twice = [*rows, {**rows[12], "seq": 99, "time": 99}]
    assert rows[12]["event"] == "deliver"
    assert [r.rule for r in judged(twice, tmp_path, "observable").rejections] == ["TRC-8"]
