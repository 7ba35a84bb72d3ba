"""Recorded runs of moves are judged by the protocol's own handler, from JSON Lines and Parquet alike."""

from pathlib import Path

import pytest

from routeproof.checker.instances import find
from routeproof.checker.validate import validate
from routeproof.traces import to_parquet
from tests.campaigns import daily
from tests.kit.runs import run_of, write
from tests.migration.runs import CORRUPTIONS

INSTANCES = ("move3", "refused3", "stays3", "swap3", "branch4")
RUNS = [(name, policy) for name in INSTANCES for policy in find(name).policies]


@pytest.mark.parametrize(("name", "policy"), daily(RUNS, lambda case: case[0] == "move3" or case[1] == "active"))
def test_runs_of_the_model_are_accepted(name: str, policy: str, tmp_path: Path) -> None:
    for seed in range(3):
        path = write(run_of(name, policy, seed), tmp_path / "run.jsonl")
        assert validate(path, "exact").verdict == "accepted"
        assert validate(path, "equivalent").verdict == "accepted"
        to_parquet(path, tmp_path / "run.parquet")
        assert validate(tmp_path / "run.parquet", "exact").verdict == "accepted"


@pytest.mark.parametrize("name", list(CORRUPTIONS))
@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_a_corruption_is_found(name: str, form: str, tmp_path: Path) -> None:
    """In a run that goes on behind the fault: the last step of a recording may have been cut off, and is not judged."""
    spoil, rule = CORRUPTIONS[name]
    for seed in range(60):
        if not spoil(rows := run_of("move3", "active", seed)):
            continue
        path = write(rows, tmp_path / "run.jsonl")
        if form == "parquet":
            to_parquet(path, path := tmp_path / "run.parquet")
        report = validate(path)
        if report.verdict != "unknown":
            break
    assert report.verdict == "rejected"
    assert rule in {each.rule for each in report.rejections}


@pytest.mark.parametrize("mutant", ["buffer-to-both", "removes-on-the-way", "never-withdrawn", "speaks-on-arrival"])
def test_a_broken_implementation_is_rejected(mutant: str, tmp_path: Path) -> None:
    verdicts = {
        validate(write(run_of("move3", "active", seed, mutant), tmp_path / "run.jsonl")).verdict for seed in range(12)
    }
    assert "rejected" in verdicts
