"""Traces of the pruning protocol: good ones are accepted, and what is wrong with others is found, with its rule."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen
from hypothesis import HealthCheck, given, settings

from routeproof.checker.instances import shipped
from routeproof.checker.pruning.validate.model import JudgingPruning
from routeproof.checker.system.errors import UsageError
from routeproof.checker.validate import Level, setting_of, validate
from routeproof.checker.validate.broker.judge import Judge
from routeproof.checker.validate.metrics import part_of
from routeproof.model.protocols import MUTANTS
from routeproof.model.pruning.definition import readings
from routeproof.model.pruning.handler import Pruning
from routeproof.model.pruning.vocabulary import PRUNING, PruningTables
from routeproof.traces import Event, open_trace, to_parquet
from tests.checker.validate.corrupt import Place, Row
from tests.checker.validate.walks import judged, rows_of, write
from tests.pruning.runs import LINE, PRUNED, RUNS, run_of
from tests.pruning.talk import HUB, Talk, talks

LEVELS: tuple[Level, ...] = ("exact", "equivalent", "observable")
SHIPPED = {instance.name: instance for instance in shipped() if instance.protocol == "pruning"}
INSTANCES = {name: instance for name, instance in SHIPPED.items() if ("rows", "arrived") not in readings(instance)}
"""The instances under readings whose traces are judged."""


# -- what is well ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", PRUNING)
@pytest.mark.parametrize("run", RUNS)
def test_runs_of_the_reference_brokers_are_accepted(run: str, policy: str, tmp_path: Path) -> None:
    rows = run_of(policy, *RUNS[run])
    for level in LEVELS:
        report = judged(rows, tmp_path, level)
        assert report.verdict == "accepted", report.rejections
        assert report.events == len(rows) - 1


@pytest.mark.parametrize("name", INSTANCES)
def test_runs_of_the_model_are_accepted(name: str, tmp_path: Path) -> None:
    """Readings and all: the header of such a trace has them in its instance."""
    for policy in INSTANCES[name].policies:
        for seed in range(4):
            rows = rows_of(name, policy, seed)
            for level in LEVELS[:2]:
                report = judged(rows, tmp_path, level)
                assert not report.rejections or not of_brokers(report.rejections), report.rejections


def of_brokers(rejections: Sequence[Any]) -> list[Any]:
    """Not those of clients: some instances are there to show what clients lose."""
    return [each for each in rejections if each.rule not in ("TRC-7", "TRC-8", "TRC-9")]


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_parts_that_begin_with_a_snapshot(form: str, tmp_path: Path) -> None:
    """Each part by itself, from the tables that the snapshot before it tells: the whole is the sum."""
    path = write(run_of("incremental", *RUNS["pruned"]), tmp_path / "trace.jsonl")
    if form == "parquet":
        to_parquet(path, tmp_path / "trace.parquet", cut_at_snapshots=True)
        path = tmp_path / "trace.parquet"
        assert validate(path).verdict == "accepted"
    setting = setting_of(path, "exact")
    with open_trace(path) as (_, lines):
        events = [line for line in lines if isinstance(line, Event)]
    for broker in ("b1", "b3", "b4"):
        mine = [event for event in events if event.broker == broker]
        starts = [at for at, event in enumerate(mine) if event.event == "snapshot"]
        assert len(starts) >= 10
        for begin, end in zip(starts, [*starts[1:], len(mine) - 1], strict=True):
            part = part_of(Judge(setting), "r", broker, mine[begin])
            for event in mine[begin + 1 : end]:
                part.look(event)
            if mine[end].event == "snapshot" and end > begin:
                part.end_with(mine[end])
            assert part.finish().rejection is None


def test_the_judge_answers_as_the_model_does() -> None:
    """What it remembers makes no difference, whatever a broker is told; but for what is noted of the core's rules."""

    @settings(
        derandomize=True,
        deadline=None,
        max_examples=400,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
    )
    @given(talks(PRUNING))
    def run(talk: Talk) -> None:
        model = Pruning(talk.overlay, talk.policy, talk.parameters)
        judge = JudgingPruning(talk.overlay, talk.policy, talk.parameters).at_another()
        tables = PruningTables()
        for sender, message in filter(None, talk.said):
            ours, theirs = (each.handle(HUB, tables, sender, message) for each in (judge, model))
            assert (ours.local, ours.sends) == (theirs.local, theirs.sends)
            assert {rule for rule in ours.rules if rule[:3] == "PRN"} == {r for r in theirs.rules if r[:3] == "PRN"}
            assert isinstance(ours.local, PruningTables)
            tables = ours.local

    run()


# -- what is not -------------------------------------------------------------------------------------------------------

Spoil = Callable[[list[Row]], Place]


@frozen
class Corruption:
    run: str
    spoil: Spoil
    rules: frozenset[str]


def at(rows: list[Row], broker: str, event: str, kind: str = "", nth: int = 0, **message: object) -> int:
    """Where the n-th event of this sort stands; from the end where n is negative."""
    found = [
        i
        for i, row in enumerate(rows)
        if (row.get("broker"), row.get("event")) == (broker, event)
        and (not kind or row["message"]["kind"] == kind)
        and all(row["message"].get(key) == value for key, value in message.items())
    ]
    return found[nth]


def place(row: Row) -> Place:
    return Place(row["broker"], row["seq"])


def begin_of(rows: list[Row], i: int) -> Place:
    """The beginning of the step that an event belongs to."""
    begins = ("client", "receive")
    return place(next(r for r in reversed(rows[:i]) if r["broker"] == rows[i]["broker"] and r["event"] in begins))


def change(broker: str, event: str, kind: str, changed: Callable[[Any], None], **which: Any) -> Spoil:
    def spoil(rows: list[Row]) -> Place:
        row = rows[at(rows, broker, event, kind, **which)]
        changed(row["message"])
        return place(row)

    return spoil


def lose(broker: str, kind: str, **which: Any) -> Spoil:
    def spoil(rows: list[Row]) -> Place:
        i = at(rows, broker, "send", kind, **which)
        where = begin_of(rows, i)
        del rows[i]
        return where

    return spoil


def insert(rows: list[Row], after: int, *rows_more: Row) -> Place:
    """More events of a broker, whose later ones are numbered anew."""
    broker, seq = rows[after]["broker"], rows[after]["seq"]
    for row in rows[after + 1 :]:
        if row["broker"] == broker:
            row["seq"] += len(rows_more)
    more = [{"broker": broker, "seq": seq + n, **row} for n, row in enumerate(rows_more, 1)]
    rows[after + 1 : after + 1] = more
    return place(more[0])


def goes_one_hop_further(rows: list[Row]) -> Place:
    """Broker 3 passes on what it should retain, with what it held back before it."""
    i = at(rows, "b3", "receive", "unsubscribe", id="S")
    sent = [{"kind": "subscribe", "id": id, "filter": [e]} for e, id in enumerate(("s1", "s2", "s3"))]
    sent.append({"kind": "unsubscribe", "id": "S", "cuts": [["a", [-2, -1]]]})
    return insert(rows, i, *({"event": "send", "peer": "b4", "message": message} for message in sent))


def stops_one_hop_early(rows: list[Row]) -> Place:
    """Broker 2 sends nothing on."""
    begin = at(rows, "b2", "receive", "unsubscribe", id="S")
    where = place(rows[begin])
    while rows[begin + 1]["event"] == "send":
        del rows[begin + 1]
    return where


def what_is_covered_is_sent(rows: list[Row]) -> Place:
    """Broker 3 sends on what the retained S covers."""
    i = at(rows, "b3", "client", "subscribe", id="t")
    return insert(rows, i, {"event": "send", "peer": "b4", "message": {"kind": "subscribe", "id": "t", "filter": [3]}})


def passed_on_though_congested(rows: list[Row]) -> Place:
    i = at(rows, "b2", "receive", "unsubscribe", id="S")
    message = {"kind": "unsubscribe", "id": "S", "cuts": [["a", [-1, 0]]]}
    return insert(rows, i, {"event": "send", "peer": "b3", "message": message})


def additions_after_the_removal(rows: list[Row]) -> Place:
    """Broker 2 withdraws S before it sends what goes in its place."""
    i = at(rows, "b2", "send", "unsubscribe", id="S")
    first = at(rows, "b2", "receive", "unsubscribe", id="S") + 1
    assert first < i
    messages = [row["message"] for row in rows[first : i + 1]]
    for row, message in zip(rows[first : i + 1], messages[-1:] + messages[:-1], strict=True):
        row["message"] = message
    return place(rows[first])


def a_hold_that_nobody_asked_for(rows: list[Row]) -> Place:
    """Broker 2 holds the withdrawal without having been told that it is congested."""
    del rows[at(rows, "b2", "client", "congest")]
    del rows[at(rows, "b2", "client", "relieve")]
    for row in rows[1:]:
        if row["broker"] == "b2" and row["event"] == "snapshot":
            row["tables"].pop("congested")
            row["tables"].pop("held")
    return place(rows[at(rows, "b2", "receive", "unsubscribe", id="S")])


def relieved_by_a_neighbour(rows: list[Row]) -> Place:
    i = at(rows, "b2", "client", "congest")
    return insert(rows, i, {"event": "receive", "peer": "b1", "message": {"kind": "relieve"}})


def in_snapshot(broker: str, having: str, changed: Callable[[Any], None]) -> Spoil:
    """The first snapshot in which something is there."""

    def spoil(rows: list[Row]) -> Place:
        row = next(r for r in rows[1:] if (r["broker"], r["event"]) == (broker, "snapshot") and r["tables"][having])
        changed(row["tables"])
        return place(row)

    return spoil


def header(rows: list[Row]) -> Place:
    """The run of brokers with other readings: where the first withdrawal is written, it shows."""
    rows[0]["pruning"] = {"cuts": [1, 3], "thresholds": [20, 30]}
    return place(rows[at(rows, "b1", "send", "unsubscribe")])


def sooner(message: Any) -> None:
    message["cuts"][0][1][0] -= 1


def farther(message: Any) -> None:
    message["distance"] = message.get("distance", 0) + 1


def counted(message: Any) -> None:
    message["count"] = message.get("count", 0) + 1


def _of(run: str, spoil: Spoil, *rules: str) -> Corruption:
    return Corruption(run, spoil, frozenset(rules))


CORRUPTIONS: dict[str, Corruption] = {
    "a cut altered where it is written": _of("pruned", change("b1", "send", "unsubscribe", sooner), "PRN-1"),
    "a cut altered on its way": _of("pruned", change("b2", "send", "unsubscribe", sooner), "PRN-4"),
    "a cut altered by a link": _of("pruned", change("b3", "receive", "unsubscribe", sooner), "TRC-3"),
    "a list forgotten": _of("pruned", change("b2", "send", "unsubscribe", lambda m: m.pop("cuts")), "PRN-4"),
    "a list emptied": _of("pruned", change("b1", "send", "unsubscribe", lambda m: m.update(cuts=[])), "PRN-1"),
    "a cut of two thresholds with one": _of(
        "pruned", change("b2", "receive", "unsubscribe", lambda m: m["cuts"][0][1].pop()), "TRC-6", "TRC-3"
    ),
    "a distance altered": _of("pruned", change("b4", "send", "publish", farther, nth=1), "STA-2"),
    "a count altered": _of("pruned", change("b4", "send", "publish", counted, nth=1), "STA-2"),
    "a distance at the publisher's broker": _of("pruned", change("b5", "send", "publish", farther), "STA-1"),
    "a header altered by a link": _of("pruned", change("b1", "receive", "publish", farther), "TRC-3"),
    "a withdrawal that should have stopped": _of("pruned", goes_one_hop_further, "PRN-4"),
    "a withdrawal that should have gone on": _of("pruned", stops_one_hop_early, "PRN-4", "PRN-5"),
    "its last message lost": _of("pruned", lose("b2", "unsubscribe"), "PRN-4"),
    "what goes in its place lost": _of("pruned", lose("b2", "subscribe", id="s1"), "PRN-5"),
    "what a retained one covers sent": _of("pruned", what_is_covered_is_sent, "PRN-9"),
    "one that is replaced not withdrawn": _of("pruned", lose("b3", "unsubscribe"), "PRN-10"),
    "one that nothing draws not withdrawn": _of("unadvertised", lose("b3", "unsubscribe"), "PRN-11"),
    "a retained one missing in a snapshot": _of(
        "pruned", in_snapshot("b3", "retained", lambda t: t["retained"].clear()), "TRC-4"
    ),
    "a retained one with another filter": _of(
        "pruned", in_snapshot("b3", "retained", lambda t: t["retained"]["b4"][0].update(filter=[1])), "TRC-4"
    ),
    "a row altered": _of("pruned", in_snapshot("b1", "rows", lambda t: t["rows"][0][2][0].__setitem__(1, 9)), "TRC-4"),
    "rows of one that is withdrawn": _of(
        "pruned", in_snapshot("b1", "rows", lambda t: t["rows"].append(["Z", "a", [["p0", 0, 0]]])), "TRC-4"
    ),
    "a held withdrawal missing": _of("held", in_snapshot("b2", "held", lambda t: t["held"].clear()), "TRC-4"),
    "a broker that is not congested": _of(
        "held", in_snapshot("b2", "congested", lambda t: t.update(congested=False)), "TRC-4"
    ),
    "additions after the removal": _of("pruned", additions_after_the_removal, "COV-8", "PRN-4", "PRN-5"),
    "a hold that nobody asked for": _of("held", a_hold_that_nobody_asked_for, "PRN-4", "PRN-5"),
    "passed on though congested": _of("held", passed_on_though_congested, "PRN-6"),
    "relieved by a neighbour": _of("held", relieved_by_a_neighbour, "TRC-6"),
    "nothing done when relieved": _of("held", lose("b2", "unsubscribe"), "PRN-4", "PRN-6"),
    "other readings": _of("pruned", header, "PRN-1"),
}


@pytest.mark.parametrize("name", CORRUPTIONS)
def test_a_corruption_is_found(name: str, tmp_path: Path) -> None:
    corruption = CORRUPTIONS[name]
    rows = copy.deepcopy(run_of("incremental", *RUNS[corruption.run]))
    where = corruption.spoil(rows)
    for level in LEVELS[:2]:
        report = judged(rows, tmp_path, level)
        # What is missing from a step shows at its beginning or, in order, where the next of its messages stands.
        found = {r.rule for r in report.rejections if r.broker == where.broker and 0 <= r.seq - where.seq <= 2}
        assert found & corruption.rules, (where, report.rejections)
        for rejection in report.rejections:
            assert rejection.wanted
            assert rejection.seen
            assert "\n" not in str(rejection)


@pytest.mark.parametrize("mutant", sorted(m for m in MUTANTS if MUTANTS[m].protocol == "pruning"))
def test_a_broken_broker_is_rejected(mutant: str, tmp_path: Path) -> None:
    """The trace does not say that a mutant wrote it; that it breaks a rule is found from what it did."""
    policies = MUTANTS[mutant].policies
    runs = [run_of(policy, *run, mutant) for policy in policies for run in RUNS.values()]
    for level in LEVELS[:2]:
        assert any(of_brokers(judged(rows, tmp_path, level).rejections) for rows in runs)


# -- headers -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"policy": "active"}, "the header has the policy 'active'; expected one of incremental, selective"),
        ({"policy": ""}, "the header has no policy; expected one of incremental, selective"),
        ({"protocol": "routing"}, "expected one of none, active, lazy, packing"),
        ({"protocol": "prunning"}, "prunning"),
        ({"pruning": []}, "the header: pruning: found"),
        ({"pruning": {"widow": 3}}, "did you mean window"),
        ({"pruning": {"window": 0}}, "the header: pruning.window: found 0; expected a whole number from 1"),
        ({"pruning": {"thresholds": [90]}}, "expected 2 of them under incremental"),
        ({"pruning": {"cuts": [3, 1]}}, "expected numbers of subscriptions that do not descend"),
    ],
    ids=str,
)
def test_headers_that_cannot_be_used(changed: Row, reason: str, tmp_path: Path) -> None:
    rows = run_of("incremental", LINE, PRUNED[:3])
    rows[0] |= changed
    with pytest.raises(UsageError) as refused:
        judged(rows, tmp_path)
    assert reason in str(refused.value)
    assert "\n" not in str(refused.value)


def test_rows_as_headers_arrived_are_refused(tmp_path: Path) -> None:
    """A reading whose traces are not judged, in the header and in the instance of a recorded run."""
    own = run_of("incremental", LINE, PRUNED[:3])
    own[0] |= {"pruning": {"rows": "arrived"}}
    unjudged = SHIPPED.keys() - INSTANCES.keys()
    assert unjudged == {"arrived3"}
    for rows in (own, *(rows_of(name, "selective", 0) for name in unjudged)):
        with pytest.raises(
            UsageError, match=r'^\S+: the header: pruning\.rows: found "arrived"; [^\n]* expected "updated"$'
        ):
            judged(rows, tmp_path)


def test_a_header_that_no_setting_can_be_made_of_is_no_crash(tmp_path: Path) -> None:
    """Whatever stands under `pruning`."""
    rows = run_of("incremental", LINE, PRUNED[:3])
    strange: list[object] = [
        None,
        True,
        1,
        "x",
        [1],
        {"cuts": None},
        {"cuts": {}},
        {"base": 1},
        {"window": True},
        {"": 1},
    ]
    for each in strange:
        rows[0]["pruning"] = each
        with pytest.raises(UsageError):
            judged(json.loads(json.dumps(rows)), tmp_path)
