"""`routeproof run` plays two switches on a network of eight brokers while 150 documents are published."""

import json
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest

from routeproof.checker.cli import main
from routeproof.impl.trees.broker import TreeIndex
from tests.attack.instances import to_toml
from tests.trees.protocol_drawn import spanning

BROKERS, CLIENTS, DOCUMENTS = 8, 6, 150


def loaded(seed: int, **readings: str) -> dict[str, Any]:
    """A ring with chords, three strategies of two trees each, subscriptions in one cluster or in both."""
    draw = Random(seed)
    line = [[b, b + 1] for b in range(1, BROKERS)]
    links = [[1, BROKERS], [2, 5], [3, 7]]
    strategies = [[spanning(draw, [*line, *links], BROKERS) for _ in range(2)] for _ in range(3)]
    return {
        "name": "loaded",
        "protocol": "trees",
        "policy": "none",
        "overlay": line,
        "trees": {"links": links, "strategies": strategies, **readings},
        "advertisement": [{"id": f"a{n}", "at": draw.randint(1, BROKERS), "events": [0, 1]} for n in range(3)],
        "subscription": [
            {
                "id": f"s{n}",
                "at": draw.randint(1, BROKERS),
                "events": draw.choice(([0], [0, 1])),
                "clusters": [draw.choice((1, 2, [1, 2])) for _ in strategies],
            }
            for n in range(CLIENTS)
        ],
        "publication": [
            {"id": f"p{n}", "of": f"a{draw.randrange(3)}", "event": draw.choice((0, 0, 1))} for n in range(DOCUMENTS)
        ],
    }


def play(table: dict[str, Any], directory: Path, *more: str) -> list[dict[str, Any]]:
    file = directory / "loaded.toml"
    file.write_text(to_toml(table), encoding="utf-8")
    out = directory / "out"
    assert main(["run", str(file), "--trace", "--latency", "40", "--out", str(out), *more]) == 0
    return [json.loads(line) for line in (out / "trace.jsonl").read_text(encoding="utf-8").splitlines()[1:]]


def owed(table: dict[str, Any], events: list[dict[str, Any]]) -> set[tuple[str, str]]:
    """Documents that were published when the entries of a subscription had come to all brokers."""
    arrived = Counter[str]()
    served, found = set[str](), set[tuple[str, str]]()
    wants = {s["id"]: set(s["events"]) for s in table["subscription"]}
    for event in events:
        message = event.get("message", {})
        if event["event"] == "receive" and message["kind"] == "insert":
            arrived[message["id"]] += 1
            served = {s for s, n in arrived.items() if n == BROKERS}
        if event["event"] == "client" and message["kind"] == "publish":
            found |= {(s, message["id"]) for s in served if message["event"] in wants[s]}
    return found


@pytest.mark.parametrize("seed", [1, 2])
def test_each_subscriber_gets_each_document_once(seed: int, tmp_path: Path) -> None:
    table = loaded(seed)
    events = play(table, tmp_path, "--conform", "--seed", str(seed))
    delivered = Counter((e["message"]["to"], e["message"]["id"]) for e in events if e["event"] == "deliver")
    assert set(delivered.values()) == {1}
    assert owed(table, events) <= set(delivered)
    assert len(owed(table, events)) > DOCUMENTS
    committed = dict[str, int]()
    late = 0
    for event in events:
        message = event.get("message", {})
        if event["event"] == "receive" and message["kind"] == "commit":
            committed[event["broker"]] = message["epoch"]
        if event["event"] == "receive" and message["kind"] == "publish":
            late += message["epoch"] < committed.get(event["broker"], 0)
    assert late, "copies of an old strategy come to brokers that stamp by the new one"
    assert main(["validate", str(tmp_path / "out" / "trace.jsonl")]) == 0


def test_without_markers_documents_are_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TreeIndex, "is_drained", True)
    table = loaded(1)
    events = play(table, tmp_path, "--seed", "1")
    delivered = {(e["message"]["to"], e["message"]["id"]) for e in events if e["event"] == "deliver"}
    assert owed(table, events) - delivered
    assert main(["validate", str(tmp_path / "out" / "trace.jsonl")]) == 1
