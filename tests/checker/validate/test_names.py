"""Ids that a broker gives to what it forwards, with the original under `of`; clients of one name, and of none."""

from pathlib import Path

import pytest

from tests.checker.validate.corrupt import lose
from tests.checker.validate.walks import POLICIES, Row, judged, rows_of

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
