"""Each experiment at a tiny scale: it runs, compares what it says it does, and is the same again with the same seed."""

import math
from functools import cache
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from routeproof.checker.experiments import Findings, experiments, run_all
from routeproof.checker.pruning.experiments import controlled_000, costs_000, mobile
from routeproof.impl.workloads import parameters
from routeproof.spec.catalogues import CLAIMS
from routeproof.spec.specification import Claim
from tests.shown import recorded, sampled

TINY = 1e-4
WITHOUT_NUMBERS = {"002-fig13b"}
"""The paper's text compares curves, and its figure has no numbers that can be read."""


HEAVY = {
    *("000-fig6", "000-fig7", "000-fig10", "001-fig9", "001-fig12"),
    *("003-fig4", "003-fig6", "003-fig8", "003-networks"),
}
"""Experiments that take seconds even so. What they simulate has a clock of its own, so their outcome is recorded."""


def is_quick(name: str) -> bool:
    return name not in HEAVY


@cache
def findings(name: str) -> Findings:
    experiment = experiments()[name]
    return experiment.conclude({job.name: job.run() for job in experiment.plan(TINY, 0)})


@recorded
@pytest.mark.parametrize("name", sampled(experiments(), is_quick))
def test_an_experiment_gives_rows_and_charts(name: str) -> None:
    found = findings(name)
    assert found.rows
    assert len({(r.quantity, r.algorithm) for r in found.rows}) == len(found.rows), "no row twice"
    assert any(r.paper is not None and r.ours is not None for r in found.rows) is (name not in WITHOUT_NUMBERS)
    for each in found.rows:
        assert each.ours is None or (math.isfinite(each.ours) and each.ours >= 0), each
    assert found.charts
    for chart in found.charts.values():
        assert ET.fromstring(chart.svg()).tag.endswith("svg")
        assert any(series.points for series in chart.series)


COMPARED = [claim for claim in CLAIMS.values() if claim.criterion and claim.property in experiments()]


@recorded
@pytest.mark.parametrize("claim", sampled(COMPARED, lambda claim: is_quick(claim.property)), ids=lambda claim: claim.id)
def test_what_a_criterion_compares_is_in_the_report(claim: Claim) -> None:
    rows = {(row.quantity, row.algorithm) for row in findings(claim.property).rows}
    assert {place for part in claim.criterion for place in (part.row, part.of) if place} <= rows


@pytest.mark.parametrize("name", experiments())
def test_what_is_assumed_is_said(name: str) -> None:
    experiment = experiments()[name]
    assert experiment.assumptions
    assert experiment.conflicts
    assert all("\n" not in text for text in (*experiment.assumptions, *experiment.conflicts))
    jobs = experiment.plan(TINY, 0)
    assert len({job.name for job in jobs}) == len(jobs)
    assert all(parameter.source for job in jobs for parameter in parameters(job.recipe))


@recorded
@pytest.mark.parametrize("name", sampled([name for name in experiments() if name != "000-table2"], is_quick))
def test_the_seed_decides(name: str) -> None:
    if name in ("000-fig9", "000-fig10", "001-fig10"):
        again = experiments()[name].plan(TINY, 0)
        assert experiments()[name].conclude({job.name: job.run() for job in again}).rows == findings(name).rows
    recipes = [experiments()[name].plan(TINY, seed)[0] for seed in (0, 0, 1)]
    assert recipes[0] == recipes[1] != recipes[2]


def test_nothing_depends_on_the_number_of_workers() -> None:
    some = [experiments()[name] for name in ("001-fig10", "000-fig9")]
    plans = [experiment.plan(TINY, 4) for experiment in some]
    alone, together = ([*run_all(plans, workers)] for workers in (1, 2))
    assert [list(each) for each in alone] == [list(each) for each in together]
    rows = [
        [experiment.conclude(results).rows for experiment, results in zip(some, each, strict=True)]
        for each in (alone, together)
    ]
    assert rows[0] == rows[1]


def test_a_run_that_fails_says_so_from_another_process() -> None:
    class Failing:
        name = "failing"
        recipe: Any = None

        def run(self) -> None:
            raise ValueError("on purpose")

    with pytest.raises(ValueError, match="on purpose"):
        list(run_all([[Failing()]], 1))


def drawn_at_full_scale(name: str) -> list[dict[str, Any]]:
    """The parameters of each run."""
    return [{p.name: p.value for p in parameters(job.recipe)} for job in experiments()[name].plan(1.0, 0)]


def test_full_scale_is_the_papers() -> None:
    assert drawn_at_full_scale("000-fig6")[0]["subscriptions"] == 80_000
    covered = [run["covered"] for run in drawn_at_full_scale("000-fig7")]
    assert covered == [5, 5, 333, 333, 667, 667, 1_000, 1_000]
    withdrawals = [(run["withdrawals"], run["withdrawal_interval_ms"]) for run in drawn_at_full_scale("001-fig8")]
    assert withdrawals[::2] == [(100, 1_500), (200, 750), (300, 500)]
    (measured,) = drawn_at_full_scale("000-table2")
    assert (measured["subscriptions"], measured["withdrawals"]) == (42_000, 0)
    publishing = measured["lead_ms"] + measured["watch_ms"]
    assert publishing / measured["publication_interval_ms"] == pytest.approx(200_000, abs=60)


# -- what must come out ------------------------------------------------------------------------------------------------


@recorded
def test_pruning_holds_back_what_active_covering_sends() -> None:
    """At a scale at which something piles up. No other run is needed: none of these rows is of one."""
    plan = controlled_000.plan_6(0.01, 0)
    ran = {job.name: job.run() for job in plan if job.name in ("active", "incremental")}
    rows = controlled_000.conclude_6({job.name: ran.get(job.name, ran["active"]) for job in plan}).rows
    ours = {(row.quantity, row.algorithm): row.ours or 0 for row in rows}
    assert ours["mean delay", "active / incremental"] > 3
    assert ours["longest core queue", "active / incremental"] > 3
    active, pruned = ([ours[f"triggered at {b}", algorithm] for b in "AE"] for algorithm in ("active", "incremental"))
    assert active[1] > 3 * active[0]
    assert pruned[1] <= pruned[0] <= active[0]


def test_the_name_says_what_the_run_assumes() -> None:
    plan = {job.name: job for job in controlled_000.plan_6(TINY, 0)}
    assert [job.policy for job in plan.values()][:4] == list(controlled_000.ALGORITHMS_6)
    assert not plan["incremental, no hold"].holds
    assert plan["incremental"].holds
    assert [job.recipe for job in plan.values()][:3] == [plan["incremental"].recipe] * 3, "equal terms"


def test_roots_are_those_that_nothing_covers() -> None:
    (counting,) = [job for job in mobile.plan_rush_hour(0.001, 2) if isinstance(job, mobile.Counting)]
    counted = counting.run()
    _, every = counting._roots()
    roots = [s for s in every if not any(t.filter.covers(s.filter) for t in every if t.filter != s.filter)]
    filters = {s.filter for s in roots}
    assert counted.many == len(filters)
    covered = sum(root.covers(s.filter) for root in filters for s in every) - len(filters)
    assert counted.cover == pytest.approx(covered / len(filters))


def test_what_is_measured_adds_up() -> None:
    (measuring,) = costs_000.plan(0.002, 0)
    spent = measuring.run()
    assert list(spent) == list(costs_000.POLICIES)
    for policy, each in spent.items():
        matching, covering, unsubscription, publication = each.mean
        assert matching > 0
        assert covering > 0
        assert publication > 0
        assert each.many[0] == each.many[1] > 0
        assert (unsubscription > 0) == (each.many[2] > 0) == (policy == "active"), "retractions, and nothing else"
    assert spent["none"].many[0] > spent["active"].many[0], "covering keeps subscriptions from core brokers"
