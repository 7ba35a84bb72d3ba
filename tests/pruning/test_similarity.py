"""Similarity, recomputed from traces of pruning: what it says of good runs, and what it finds that nothing else does.

Where a trace does not tell what brokers sent, headers are believed: then a broker that writes wrong ones shows only in
what databases came to say. And what was decided is altered behind the back of the replay, which would find it first.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from attrs import evolve

from routeproof.checker.pruning.validate import PruningReport
from routeproof.checker.pruning.validate.model import ALWAYS
from routeproof.checker.pruning.validate.replay import Decided, Notebook, Noted
from routeproof.checker.pruning.validate.shares import Shares
from routeproof.checker.validate import setting_of, validate, validate_each
from routeproof.checker.validate.metrics import measured
from routeproof.model.filters import EventSet
from routeproof.model.messages import Subscribe, Subscription, Unsubscribe
from routeproof.model.pruning.vocabulary import PruningParameters
from tests.checker.validate.corrupt import Row
from tests.checker.validate.walks import rows_of, write
from tests.pruning.runs import (
    FORK,
    FORKED,
    LINE,
    PRUNED,
    READINGS,
    S3,
    SUBSCRIBED,
    S,
    published,
    run_of,
)
from tests.pruning.test_validated import INSTANCES, at, change, farther, of_brokers

APART = 1000
"""Between two operations; a run has settled long before."""


def judged(rows: list[Row], folder: Path) -> PruningReport:
    report = validate(write(rows, folder / "trace.jsonl"))
    assert isinstance(report, PruningReport)
    return report


def rules(report: PruningReport) -> set[tuple[str, str]]:
    return {(rejection.rule, rejection.broker) for rejection in report.rejections}


def without_sends(rows: list[Row]) -> list[Row]:
    """Nobody saw what brokers sent, nor their tables; but it is promised when all has come everywhere."""
    kept = [row for row in rows[1:] if row["event"] not in ("send", "snapshot")]
    time = 0
    for row in kept:
        time += APART if row["event"] == "client" else 1
        row["time"] = time
    return [{**rows[0], "observes": ["client", "receive", "deliver"], "settles": APART // 2}, *kept]


# -- what is well ------------------------------------------------------------------------------------------------------


def test_every_decision_of_a_good_run_is_what_its_database_says(tmp_path: Path) -> None:
    report = judged(run_of("incremental", LINE, PRUNED), tmp_path)
    assert report.verdict == "accepted"
    found = report.similarity
    assert (found.pairs, found.rows, found.exact, found.decisions, found.unjudged) == (4, 12, 10, 3, 0)
    assert found.deviation == 0
    assert found.lines[1] == "10 of 12 rows held against it; 2 not judged: out of scope"


def test_a_database_that_slides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A decision is held against the latest rows: of the last two both have something else at b1."""
    rows = [*SUBSCRIBED, *published(2, 2, 0, 0, 0), (1, Unsubscribe(S))]
    assert judged(run_of("selective", LINE, rows), tmp_path).similarity.decisions == 3
    monkeypatch.setitem(READINGS, "selective", {"window": 2})
    report = judged(run_of("selective", LINE, rows), tmp_path)
    assert report.verdict == "accepted"
    assert report.similarity.decisions == 1


def test_what_comes_in_at_the_publishers_own_broker(tmp_path: Path) -> None:
    """A distance is not reset there, and nothing is counted (STA-1): so says the row, and so it is expected."""
    here = Subscription(0, "z", EventSet.of([4]))
    said = [*SUBSCRIBED, (5, Subscribe(here)), *published(4, 4)]
    report = judged(run_of("selective", LINE, said), tmp_path)
    assert report.verdict == "accepted"
    assert report.similarity.exact == 4


def test_another_reading_of_what_counts_is_out_of_scope(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With entries that came from where p came from, no row has to be true (claim EQ-3-entries)."""
    made = PruningParameters.of
    monkeypatch.setattr(PruningParameters, "of", lambda policy: evolve(made(policy), counts="all"))
    report = judged(run_of("incremental", LINE, PRUNED), tmp_path)
    assert report.verdict == "accepted"
    assert (report.similarity.exact, report.similarity.decisions) == (0, 3)


def test_how_far_a_database_is_from_the_truth(tmp_path: Path) -> None:
    """s3 goes before S: two of five rows still say that something else comes in at b3, where the withdrawal ends."""
    gone = [*SUBSCRIBED, *published(0, 1, 1, 2, 2), (3, Unsubscribe(S3)), (1, Unsubscribe(S))]
    report = judged(run_of("incremental", LINE, gone), tmp_path)
    assert report.verdict == "accepted"
    assert report.similarity.deviation == 4000
    assert report.similarity.lines[0].endswith("the database of one off by 40.0 percent at most")


@pytest.mark.parametrize("name", ["prune3", "fork4", "lazy3", "counts3", "strict3", "back2", "moves3id"])
def test_runs_of_the_model(name: str, tmp_path: Path) -> None:
    """Under all readings, in any order of steps: nothing that similarity could be wrong about."""
    seen = 0
    for policy in INSTANCES[name].policies:
        for seed in range(12):
            rows = rows_of(name, policy, seed)
            for time, row in enumerate(rows[1:]):
                row["time"] = time
            report = judged([{**rows[0], "clock": "shared"}, *rows[1:]], tmp_path)
            assert not of_brokers(report.rejections), report.rejections
            seen += report.similarity.rows
    assert seen


def test_without_a_clock_decisions_are_judged_and_rows_are_not(tmp_path: Path) -> None:
    rows = run_of("incremental", LINE, PRUNED)
    del rows[0]["clock"]
    found = judged(rows, tmp_path).similarity
    assert (found.rows, found.exact, found.decisions) == (12, 0, 3)


def test_what_is_wrong_already_is_not_judged_again(tmp_path: Path) -> None:
    rows = run_of("incremental", LINE, PRUNED)
    change("b4", "send", "publish", farther, nth=1)(rows)
    report = judged(rows, tmp_path)
    assert rules(report) == {("STA-2", "b4"), ("TRC-3", "b3")}
    assert report.similarity.decisions == 0
    [why] = report.similarity.left_out
    assert "a step or a link is wrong" in why


def test_decisions_that_nobody_saw_are_counted(tmp_path: Path) -> None:
    report = judged(without_sends(run_of("incremental", LINE, PRUNED)), tmp_path)
    assert not report.rejections
    assert (report.similarity.decisions, report.similarity.unjudged) == (0, 3)
    assert report.similarity.exact == 10
    assert "3 decisions not judged" in report.similarity.lines[-1]


# -- what only similarity finds ----------------------------------------------------------------------------------------

WRITERS_OF_HEADERS = ("distance-not-reset", "publisher-counts-a-hop", "own-subscription-counts-twice")


@pytest.mark.parametrize("mutant", WRITERS_OF_HEADERS)
def test_a_broker_that_writes_wrong_headers_where_nobody_sees_it(mutant: str, tmp_path: Path) -> None:
    """Every step is as it should be, told what was told; that a database then differs from the truth shows."""
    said = [*SUBSCRIBED, *published(0, 1, 2, 3)]
    assert not judged(without_sends(run_of("selective", LINE, said)), tmp_path).rejections
    report = judged(without_sends(run_of("selective", LINE, said, mutant)), tmp_path)
    assert {rule for rule, _ in rules(report)} == {"CRD-1"}


def lost_on_the_way(rows: list[Row]) -> None:
    """Nobody saw how p0, which two at b1 match, came through b3."""
    del rows[at(rows, "b3", "receive", "publish", id="p0")]


@pytest.mark.parametrize(
    ("spoil", "rule", "broker"),
    [
        (change("b1", "receive", "publish", farther, nth=3), "CRD-1", "b1"),
        (change("b1", "receive", "publish", lambda m: m.update(count=0), nth=3), "CRD-1", "b1"),
        (lost_on_the_way, "SIM-6", "b1"),
    ],
    ids=["a distance", "a count", "a copy"],
)
def test_what_nobody_saw_being_altered(
    spoil: Callable[[list[Row]], object], rule: str, broker: str, tmp_path: Path
) -> None:
    rows = without_sends(run_of("incremental", LINE, PRUNED))
    spoil(rows)
    report = judged(rows, tmp_path)
    assert rules(report) == {(rule, broker)}
    first = report.rejections[0]
    where = rows[at(rows, "b1", "receive", "publish", nth=0 if rule == "SIM-6" else 3)]
    assert first.seq == where["seq"]


# -- decisions, altered where the replay does not look -----------------------------------------------------------------


def goes_on(each: Decided) -> Decided:
    toward = tuple(t._replace(onward=t.onward or (-2, -1)) for t in each.toward)
    return each._replace(toward=toward)


def ends(each: Decided) -> Decided:
    return each._replace(toward=tuple(t._replace(onward=()) for t in each.toward))


def longer(each: Decided) -> Decided:
    toward = tuple(t._replace(onward=tuple(d if d is None else d + 1 for d in t.onward)) for t in each.toward)
    return each._replace(toward=toward)


def by_the_other(each: Decided) -> Decided:
    return each._replace(toward=tuple(t._replace(which=1 - t.which) for t in each.toward))


def by_none(each: Decided) -> Decided:
    return each._replace(toward=tuple(t._replace(which=ALWAYS) for t in each.toward))


@pytest.mark.parametrize(
    ("altered", "rule", "broker"),
    [
        (goes_on, "PRN-4", "b3"),
        (ends, "PRN-4", "b2"),
        (longer, "CRD-2", "b2"),
        (by_the_other, "PRN-4", "b2"),
        (by_none, "PRN-4", "b3"),
    ],
    ids=["it should end", "it should go on", "its list", "its threshold", "its threshold, of none"],
)
def test_a_decision_against_the_database(
    altered: Callable[[Decided], Decided], rule: str, broker: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = run_of("incremental", LINE, PRUNED)
    path = write(rows, tmp_path / "trace.jsonl")
    decided = Notebook.decided

    def alter(notebook: Notebook, each: Decided) -> None:
        decided(notebook, altered(each) if notebook.broker == broker else each)

    monkeypatch.setattr(Notebook, "decided", alter)
    report = validate(path)
    assert isinstance(report, PruningReport)
    assert rules(report) == {(rule, broker)}
    assert report.rejections[0].seq == rows[at(rows, broker, "receive", "unsubscribe", id="S")]["seq"]


@pytest.mark.parametrize(("fewest", "full", "rule"), [(1, True, "STA-8"), (2, False, "STA-8"), (1, False, "")])
def test_a_withdrawal_that_is_worth_a_list(
    fewest: int, full: bool, rule: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Selective: where the rows of S have counts of 1, and what decides is altered."""
    path = write(run_of("selective", LINE, PRUNED), tmp_path / "trace.jsonl")
    decided, made = Notebook.decided, Shares.__init__

    def alter(notebook: Notebook, each: Decided) -> None:
        decided(notebook, each._replace(full=full, toward=() if full else each.toward))

    def init(shares: Shares, *words: Any) -> None:
        made(shares, *words)
        shares._readings = evolve(shares._readings, fewest=fewest)

    monkeypatch.setattr(Notebook, "decided", alter)
    monkeypatch.setattr(Shares, "__init__", init)
    report = validate(path)
    assert isinstance(report, PruningReport)
    assert {r for r, _ in rules(report)} == ({rule} if rule else set())


def test_rows_that_a_database_forgot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The list was written from five rows; from two of them another comes."""
    noted = Notebook.noted

    def forget(notebook: Notebook, each: Noted) -> None:
        if each.id in ("p0", "p1", "p2"):
            noted(notebook, each)

    monkeypatch.setattr(Notebook, "noted", forget)
    report = judged(run_of("incremental", LINE, PRUNED), tmp_path)
    assert {rule for rule, _ in rules(report)} <= {"PRN-4", "CRD-2"}
    assert report.rejections


# -- the artefact ------------------------------------------------------------------------------------------------------


def test_similarities_beside_the_metrics(tmp_path: Path) -> None:
    """Of S, withdrawn at b1, toward a at b5: of five publications others match one at b1, three at b2, all from b3."""
    path = write(run_of("incremental", LINE, PRUNED), tmp_path / "trace.jsonl")
    list(validate_each([(path, measured(path, setting_of(path, "exact"), tmp_path / "out"))]))
    rows = pq.read_table(tmp_path / "out" / "similarity.parquet").to_pylist()
    mine = [row for row in rows if row["subscription"] == "S"]
    assert [(r["broker"], r["hops"], r["came"], r["similar"], r["near"], r["decision"]) for r in mine] == [
        ("b1", 0, 5, 1, 1, "on"),
        ("b2", 1, 5, 3, 3, "on"),
        ("b3", 2, 5, 5, 5, "end"),
        ("b4", 3, 5, 5, 5, ""),
        ("b5", 4, 5, 5, 5, ""),
    ]


def test_one_list_for_two_publishers(tmp_path: Path) -> None:
    """Each end is judged by its own history, and one of them has none (CRD-6)."""
    report = judged(run_of("incremental", FORK, FORKED), tmp_path)
    assert report.verdict == "accepted"
    assert report.similarity.decisions == 3
