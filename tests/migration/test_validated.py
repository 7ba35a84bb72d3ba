"""Recorded runs of moves are judged by the protocol's own handler, from JSON Lines and Parquet alike."""

from pathlib import Path

import pytest

from routeproof.checker.instances import find
from tests.campaigns import daily
from tests.kit.runs import assert_accepted, assert_found, assert_rejected, run_of
from tests.migration.runs import CORRUPTIONS

INSTANCES = ("move3", "refused3", "stays3", "swap3", "branch4")
RUNS = [(name, policy) for name in INSTANCES for policy in find(name).policies]


@pytest.mark.parametrize(("name", "policy"), daily(RUNS, lambda case: case[0] == "move3" or case[1] == "active"))
def test_runs_of_the_model_are_accepted(name: str, policy: str, tmp_path: Path) -> None:
    for seed in range(3):
        assert_accepted(run_of(name, policy, seed), tmp_path)


@pytest.mark.parametrize("name", list(CORRUPTIONS))
@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_a_corruption_is_found(name: str, form: str, tmp_path: Path) -> None:
    spoil, rule = CORRUPTIONS[name]
    assert_found("move3", "active", spoil, rule, tmp_path, form)


@pytest.mark.parametrize("mutant", ["buffer-to-both", "removes-on-the-way", "never-withdrawn", "speaks-on-arrival"])
def test_a_broken_implementation_is_rejected(mutant: str, tmp_path: Path) -> None:
    assert_rejected("move3", "active", mutant, tmp_path, 12)
