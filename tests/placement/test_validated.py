"""Recorded runs of POP and GRAPE are judged by the protocol's own handler, from JSON Lines and Parquet alike."""

from pathlib import Path

import pytest

from routeproof.checker.instances import shipped
from tests.kit.runs import assert_accepted, assert_found, assert_rejected, run_of
from tests.placement.runs import CORRUPTIONS

LARGE = ("order4", "unnamed4", "carried3")
RUNS = [(each.name, each.policies[-1]) for each in shipped() if each.protocol == "placement" and each.name not in LARGE]


@pytest.mark.parametrize(("name", "policy"), RUNS)
def test_runs_of_the_model_are_accepted(name: str, policy: str, tmp_path: Path) -> None:
    assert_accepted(run_of(name, policy, 1), tmp_path)


@pytest.mark.parametrize("name", list(CORRUPTIONS))
@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_a_corruption_is_found(name: str, form: str, tmp_path: Path) -> None:
    instance, spoil, rule = CORRUPTIONS[name]
    assert_found(instance, "active", spoil, rule, tmp_path, form)


@pytest.mark.parametrize(
    ("mutant", "name"),
    [
        *(("reports-early", "ways4"), ("forgets-its-own", "pop3"), ("newest-heavy", "order4")),
        *(("bit-shifted", "grape3"), ("passes-answers-on", "grape3"), ("asks-nobody", "grape3")),
    ],
)
def test_a_broken_broker_is_rejected(mutant: str, name: str, tmp_path: Path) -> None:
    assert_rejected(name, "active", mutant, tmp_path, 30)
