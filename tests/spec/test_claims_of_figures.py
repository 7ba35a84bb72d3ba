"""Verdicts on the papers' figures follow from the measured rows: other rows, other verdicts."""

from __future__ import annotations

import pytest

from routeproof.spec.figures import FigureComparison, Rows, judged
from routeproof.spec.mesh import claims_of_figures as of_mesh
from routeproof.spec.migration import claims as of_migration
from routeproof.spec.pruning import claims_of_figures as of_pruning
from routeproof.spec.specification import Claim
from routeproof.spec.trees import claims_of_figures as of_trees
from tests.spec.measured import documented

FIGURE_CLAIMS = (
    *of_pruning.FIGURE_CLAIMS,
    *of_migration.FIGURE_CLAIMS,
    *of_trees.TREE_FIGURE_CLAIMS,
    *of_mesh.MESH_FIGURE_CLAIMS,
)
MEASURED = {**of_pruning.MEASURED, **of_migration.MEASURED, **of_trees.MEASURED, **of_mesh.MEASURED}
MEASURED_CLAIMS = [claim for claim in FIGURE_CLAIMS if claim.criterion]
TWO = (
    FigureComparison(("delay", "active"), "at least", 10, ("delay", "new")),
    FigureComparison(("queue", "new"), "at most", 100),
)


@pytest.mark.parametrize(
    ("delay", "queue", "verdict"),
    [
        (10.0, 100.0, "comes out"),
        (9.9, 100.0, "comes out in part"),
        (10.0, 100.1, "comes out in part"),
        (9.9, 100.1, "does not come out"),
    ],
)
def test_a_verdict_counts_the_parts_that_hold(delay: float, queue: float, verdict: str) -> None:
    rows = {("delay", "active"): delay, ("delay", "new"): 1.0, ("queue", "new"): queue}
    assert judged(TWO, rows) == verdict


def test_without_a_row_or_a_criterion_nothing_is_measured() -> None:
    assert judged(TWO, {("delay", "active"): 10.0, ("queue", "new"): 1.0}) == "not measured"
    assert judged((), {}) == "not measured"


@pytest.mark.parametrize("claim", MEASURED_CLAIMS, ids=lambda claim: claim.id)
def test_the_verdict_is_that_of_the_documented_rows(claim: Claim) -> None:
    rows = documented()[claim.property]
    assert claim.verdict == judged(claim.criterion, rows)
    for part in claim.criterion:
        for place in (part.row, part.of):
            assert place is None or MEASURED[claim.property].get(place) == rows.get(place)


@pytest.mark.parametrize("claim", MEASURED_CLAIMS, ids=lambda claim: claim.id)
def test_a_claim_can_come_out_and_can_fail_to(claim: Claim) -> None:
    """With every compared row turned to the other side of its bound, each part says the opposite."""
    for part in claim.criterion:
        rows = dict.fromkeys((place for place in (part.row, part.of) if place), 1.0)
        above, below = turned(part, rows, 1.1), turned(part, rows, 0.9)
        assert part.holds(above) is (part.relation == "at least")
        assert part.holds(below) is (part.relation == "at most")
    assert judged(claim.criterion, far(claim, holds=True)) == "comes out"
    assert judged(claim.criterion, far(claim, holds=False)) != "comes out"
    failed = {part.row for part in claim.criterion if not part.holds(far(claim, holds=False))}
    assert len(failed) >= len({part.row for part in claim.criterion}) / 2


def turned(part: FigureComparison, rows: Rows, times: float) -> Rows:
    bound = part.bound(rows)
    assert bound is not None
    return {**rows, part.row: times * bound if bound else times - 1}


def far(claim: Claim, *, holds: bool) -> Rows:
    """Rows under which the parts hold, or do not: each is moved until its own part is satisfied."""
    rows = {place: 1.0 for part in claim.criterion for place in (part.row, part.of) if place}
    for _ in range(len(claim.criterion) + 1):
        for part in claim.criterion:
            bound = part.bound(rows)
            assert bound is not None
            if part.holds(rows) is not holds:
                is_up = (part.relation == "at least") == holds
                rows[part.row] = bound * (1.01 if is_up else 0.99) if bound else float(is_up)
    return rows


def test_every_claim_about_figures_is_measured() -> None:
    assert [claim.id for claim in FIGURE_CLAIMS if claim.verdict == "not measured"] == []
