"""What a counterexample's trace says, and where it is written."""

from __future__ import annotations

import json
from collections import defaultdict, deque
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from routeproof.checker.counterexamples.record import record, write_counterexample
from routeproof.checker.evaluation import Finding
from routeproof.checker.instances import find
from routeproof.model.instance_file import parse_instance
from routeproof.model.protocols import world
from routeproof.traces import read_trace
from tests.checker.hunt import ALL, Prey, hunt

REMOVALS_FIRST = Prey("line3", "active", "removals-first", "NoLostDelivery")


def _rows(prey: Prey) -> list[dict[str, Any]]:
    hunted, finding = hunt(prey)
    assert finding.run is not None
    return json.loads(json.dumps(record(hunted, finding.run, finding)))  # type: ignore[no-any-return]


def test_header() -> None:
    hunted, finding = hunt(REMOVALS_FIRST)
    header = _rows(REMOVALS_FIRST)[0]
    assert parse_instance(header.pop("instance"), "header") == hunted.instance
    assert header == {
        "routeproof": 1,
        "run": "routing-line3-active-NoLostDelivery-removals-first",
        "protocol": "routing",
        "policy": "active",
        "overlay": [["b1", "b2"], ["b2", "b3"]],
        "dialect": "strict",
        "observes": ["client", "receive", "send", "deliver", "drop", "crash", "restart"],
        "clock": "shared",
        "mutant": "removals-first",
        "violation": {"property": "NoLostDelivery", "why": finding.why},
        "actions": list(finding.run or ()),
    }


def test_a_run_that_shows_nothing_has_neither_violation_nor_witness() -> None:
    header, *events = record(world(find("tiny"), "active"), ["advertise(a)"], None)
    assert not {"violation", "witness"} & set(header)
    assert header["run"] == "routing-tiny-active"
    assert [e["event"] for e in events] == ["client", "send"]


def test_a_witness_is_no_violation() -> None:
    header = _rows(Prey("line3", "active", None, "SomeQuenching"))[0]
    assert header["witness"] == {"property": "SomeQuenching"}
    assert header["mutant"] is None
    assert "violation" not in header


def test_a_cycle_says_where_it_begins() -> None:
    header = _rows(Prey("line3", "active", "publication-sent-back", "Drains"))[0]
    assert header["violation"]["cycle"] == len(header["actions"]) - 2


def test_events_of_a_whole_run() -> None:
    tiny = world(find("tiny"), "active")
    run = ["advertise(a)", "deliver 2>1", "subscribe(s)", "deliver 1>2", "publish(p)", "deliver 2>1"]
    p = {"kind": "publish", "id": "p", "of": "a", "event": 0}
    sub = {"kind": "subscribe", "id": "s", "filter": [0]}
    adv = {"kind": "advertise", "id": "a", "filter": [0, 1]}
    assert [tuple(e.values()) for e in record(tiny, run, None)[1:]] == [
        ("b2", 1, "client", "client-a", adv, 1),
        ("b2", 2, "send", "b1", adv, 1),
        ("b1", 3, "receive", "b2", adv, 2),
        ("b1", 4, "client", "client-s", sub, 3),
        ("b1", 5, "send", "b2", sub, 3),
        ("b2", 6, "receive", "b1", sub, 4),
        ("b2", 7, "client", "client-a", p, 5),
        ("b2", 8, "send", "b1", p, 5),
        ("b1", 9, "receive", "b2", p, 6),
        ("b1", 10, "deliver", "client-s", {**p, "to": "s"}, 6),
    ]


@pytest.mark.parametrize("prey", ALL, ids=str)
def test_what_is_received_was_sent_and_clocks_rise(prey: Prey) -> None:
    _, *events = _rows(prey)
    clock: dict[str, int] = defaultdict(int)
    links: dict[tuple[str, str], deque[Any]] = defaultdict(deque)
    for e in events:
        assert e["seq"] > clock[e["broker"]]
        clock[e["broker"]] = e["seq"]
        if e["event"] == "send":
            links[e["broker"], e["peer"]].append(e["message"])
        elif e["event"] in ("receive", "drop"):
            assert e["message"] == links[e["peer"], e["broker"]].popleft()
        elif e["event"] == "note":
            queue = links[e["peer"], e["broker"]]
            if "copied" in e["text"]:
                queue.append(queue[0])
            else:
                queue[0], queue[1] = queue[1], queue[0]


def test_faults_are_written_down() -> None:
    kinds = {
        prey: [e["event"] for e in _rows(Prey(prey, "active", None, property))[1:]]
        for prey, property in (("loss2", "NoLostDelivery"), ("crash3", "NoLostDelivery"), ("reorder3", "Agreement"))
    }
    assert kinds["loss2"].count("drop") == 1
    assert kinds["crash3"].index("restart") == kinds["crash3"].index("crash") + 1
    assert kinds["reorder3"].count("note") == 1


# -- files -------------------------------------------------------------------------------------------------------------


def test_file_name_says_what_it_is_about(tmp_path: Path) -> None:
    hunted, finding = hunt(REMOVALS_FIRST)
    directory = tmp_path / "new" / "traces"
    path = write_counterexample(hunted, finding, directory)
    assert path == directory / "routing-line3-active-NoLostDelivery-removals-first.jsonl"
    assert list(directory.iterdir()) == [path], "nothing else is left behind"
    trace = read_trace(path)
    assert not trace.bad
    assert trace.header.run == path.stem


def test_never_overwrites_a_different_counterexample(tmp_path: Path) -> None:
    hunted, finding = hunt(REMOVALS_FIRST)
    other = evolve(finding, why="for another reason")
    first = write_counterexample(hunted, finding, tmp_path)
    text = first.read_text()
    second = write_counterexample(hunted, other, tmp_path)
    assert second.stem == f"{first.stem}-2"
    assert first.read_text() == text
    assert write_counterexample(hunted, finding, tmp_path) == first, "an equal one is there already"
    assert write_counterexample(hunted, other, tmp_path) == second
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("name", ["../../etc/passwd", "/", "..", "a b\n", "ü" * 300, "CON:"])
def test_no_name_leads_out_of_the_directory(tmp_path: Path, name: str) -> None:
    tiny = world(evolve(find("tiny"), name=name), "active")
    path = write_counterexample(tiny, Finding("NoResidue", "always", "fails", 1, (), "made up"), tmp_path)
    assert path.resolve().parent == tmp_path.resolve()
    assert path.exists()
