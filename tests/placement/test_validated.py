"""Recorded runs of POP and GRAPE are judged by the protocol's own handler, from JSON Lines and Parquet alike."""

from pathlib import Path

import pytest

from routeproof.checker.instances import shipped
from routeproof.checker.validate import validate
from routeproof.traces import to_parquet
from tests.kit.runs import run_of, write
from tests.placement.runs import CORRUPTIONS

LARGE = ("order4", "unnamed4", "carried3")
RUNS = [(each.name, each.policies[-1]) for each in shipped() if each.protocol == "placement" and each.name not in LARGE]


@pytest.mark.parametrize(("name", "policy"), RUNS)
def test_runs_of_the_model_are_accepted(name: str, policy: str, tmp_path: Path) -> None:
    path = write(run_of(name, policy, 1), tmp_path / "run.jsonl")
    assert validate(path, "exact").verdict == "accepted"
    assert validate(path, "equivalent").verdict == "accepted"
    to_parquet(path, tmp_path / "run.parquet")
    assert validate(tmp_path / "run.parquet", "exact").verdict == "accepted"


@pytest.mark.parametrize("name", list(CORRUPTIONS))
@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_a_corruption_is_found(name: str, form: str, tmp_path: Path) -> None:
    """In a run that goes on behind the fault: the last step of a recording may have been cut off, and is not judged."""
    instance, spoil, rule = CORRUPTIONS[name]
    for seed in range(90):
        if not spoil(rows := run_of(instance, "active", seed)):
            continue
        path = write(rows, tmp_path / "run.jsonl")
        if form == "parquet":
            to_parquet(path, path := tmp_path / "run.parquet")
        report = validate(path)
        if report.verdict != "unknown":
            break
    assert report.verdict == "rejected"
    assert rule in {each.rule for each in report.rejections}


@pytest.mark.parametrize(
    ("mutant", "name"),
    [
        *(("reports-early", "ways4"), ("forgets-its-own", "pop3"), ("newest-heavy", "order4")),
        *(("bit-shifted", "grape3"), ("passes-answers-on", "grape3"), ("asks-nobody", "grape3")),
    ],
)
def test_a_broken_broker_is_rejected(mutant: str, name: str, tmp_path: Path) -> None:
    runs = (run_of(name, "active", seed, mutant) for seed in range(30))
    assert any(validate(write(run, tmp_path / "run.jsonl")).verdict == "rejected" for run in runs)
