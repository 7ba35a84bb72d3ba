"""Does the fuzzer find seeded faults of pruning in instances of its own making, and nothing where there is none?

Faults of tables and of congestion. Those of statistics need publications at rest, which the explorer meets in every
shipped instance and the fuzzer seldom: `test_pruning_mutants`.
"""

from pathlib import Path

import pytest

from routeproof.checker.fuzz import fuzz
from routeproof.checker.replay import replay_file
from routeproof.model.pruning_parameters import PRUNING

FOUND: dict[str, tuple[str, set[str]]] = {
    "retained-do-not-quench": ("incremental", {"Compact"}),
    "not-remembered": ("incremental", {"Anchored"}),
    "held-withdrawals-dropped": ("selective", {"Anchored", "Agreement"}),
    "additions-skipped": ("incremental", {"Agreement", "NoLostDelivery"}),
}


@pytest.mark.parametrize("policy", PRUNING)
def test_nothing_is_found_in_what_is_sound(policy: str) -> None:
    result = fuzz(None, policy=policy, mutant=None, examples=120)
    assert result.protocol == "pruning"
    assert not [f for f in result.findings.values() if f.failed and f.kind == "always"]
    exercised = {f.property for f in result.findings.values() if f.exercised}
    assert exercised >= {"NoLostDelivery", "Similarity", "Anchored", "MonotoneDistances", "SomeRetainedQuenching"}


@pytest.mark.parametrize("mutant", FOUND)
def test_finds_and_shrinks(mutant: str, tmp_path: Path) -> None:
    policy, expected = FOUND[mutant]
    result = fuzz(None, policy=policy, mutant=mutant, traces=tmp_path)

    [finding] = [f for f in result.findings.values() if f.failed]
    assert finding.property in expected
    [path] = tmp_path.iterdir()
    replayed = replay_file(path)
    assert replayed.reproduces
    assert len(replayed.counterexample.world.nodes) <= 3
