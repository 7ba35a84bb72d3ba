"""Does the fuzzer find seeded faults of pruning in instances of its own making, and nothing where there is none?

Here some of every kind. Of the 22 faults that need no certain number it finds all but one with seed 0;
`list-for-everybody` takes two publishers on two sides, each with a past, which the explorer meets in `fork4` and the
fuzzer seldom. Faults of thresholds take a certain share as well: they are fuzzed in an instance that has it.
"""

from pathlib import Path

import pytest
from attrs import evolve

from routeproof.checker.fuzz import fuzz
from routeproof.checker.fuzz.campaign import Campaign
from routeproof.checker.fuzz.machine import PruningMachine
from routeproof.checker.fuzz.profiles import PROFILES
from routeproof.checker.fuzz.strategies import Sizes, worlds
from routeproof.checker.instances import find
from routeproof.checker.replay import replay_file
from routeproof.model.filters import EventSet
from routeproof.model.pruning_parameters import PRUNING
from routeproof.model.world import World

FOUND: dict[str, tuple[str, set[str]]] = {
    "additions-skipped": ("incremental", {"Agreement", "NoLostDelivery"}),
    "retained-do-not-quench": ("incremental", {"Compact"}),
    "not-remembered": ("incremental", {"Anchored"}),
    "distance-not-reset": ("selective", {"StatisticsExact"}),
    "held-withdrawals-dropped": ("selective", {"Anchored", "Agreement"}),
}

IN_GIVEN = {"threshold-ignored": ("half3", "selective"), "second-distance-always": ("halves3", "incremental")}


@pytest.mark.parametrize("policy", PRUNING)
def test_nothing_is_found_in_what_is_sound(policy: str) -> None:
    result = fuzz(None, policy=policy, mutant=None, examples=40)
    assert result.protocol == "pruning"
    assert not [f for f in result.findings.values() if f.failed and f.kind == "always"]
    exercised = {f.property for f in result.findings.values() if f.exercised}
    assert exercised >= {"NoLostDelivery", "Similarity", "StatisticsExact", "Anchored", "MonotoneDistances"}
    assert exercised >= {"SomePruning", "SomeRetainedQuenching"}


@pytest.mark.parametrize("policy", PRUNING)
def test_statistics_of_predicates_are_exact_too(policy: str) -> None:
    """The explorer's instances of pruning have event sets: Property 3 and equation 3 of predicates are fuzzed."""

    def has_predicates(world: World) -> bool:
        return not isinstance(world.instance.subscriptions[0].filter, EventSet)

    drawn = worlds(Sizes(brokers=6), (policy,), None).filter(has_predicates)
    campaign = Campaign(drawn, PruningMachine, evolve(PROFILES["fast"], examples=25), 1)
    campaign.run()
    assert campaign.violation is None
    assert min(campaign.tally.exercised[id] for id in ("Similarity", "StatisticsExact")) > 100


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


@pytest.mark.parametrize("mutant", IN_GIVEN)
def test_finds_what_ignores_thresholds_in_an_instance_where_they_decide(mutant: str, tmp_path: Path) -> None:
    name, policy = IN_GIVEN[mutant]
    result = fuzz(find(name), policy=policy, mutant=mutant, traces=tmp_path)
    [finding] = [f for f in result.findings.values() if f.failed and f.kind == "always"]
    assert finding.property == "CriticalBroker"
    [path] = tmp_path.iterdir()
    assert replay_file(path).reproduces
