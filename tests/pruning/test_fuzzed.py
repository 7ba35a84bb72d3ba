"""Does the fuzzer find seeded faults of pruning in instances of its own making, and nothing where there is none?

Here some of every kind. Of the 22 faults that need no certain number it finds all but one with seed 0;
`list-for-everybody` takes two publishers on two sides, each with a past, which the explorer meets in `fork4` and the
fuzzer seldom. Faults of thresholds take a certain share as well: they are fuzzed in an instance that has it.

Daily one fault of each policy is hunted, and what is sound is searched for half as long as in a campaign.
The others are played from a pinned example (`pinned/`), which the hunt of a campaign found;
`REWRITE_GOLDEN=1` writes it there.
"""

import os
import shutil
from pathlib import Path

import pytest
from attrs import evolve

from routeproof.checker.counterexamples import replay_file
from routeproof.checker.evaluation import Result
from routeproof.checker.fuzz import fuzz
from routeproof.checker.fuzz.campaign import PROFILES, Campaign
from routeproof.checker.fuzz.strategies import Sizes, worlds
from routeproof.checker.instances import find
from routeproof.checker.pruning.fuzzing import PruningMachine
from routeproof.model.filters import EventSet
from routeproof.model.instance import Instance
from routeproof.model.pruning.vocabulary import PRUNING
from routeproof.model.world import World
from routeproof.spec.properties import PROPERTIES
from tests.campaigns import daily
from tests.shown import recorded, sampled

FOUND: dict[str, tuple[str, set[str]]] = {
    "additions-skipped": ("incremental", {"Agreement", "NoLostDelivery"}),
    "retained-do-not-quench": ("incremental", {"Compact"}),
    "not-remembered": ("incremental", {"Anchored"}),
    "distance-not-reset": ("selective", {"StatisticsExact"}),
    "held-withdrawals-dropped": ("selective", {"Anchored", "Agreement"}),
}

IN_GIVEN = {"threshold-ignored": ("half3", "selective"), "second-distance-always": ("halves3", "incremental")}


HUNTED = ("additions-skipped", "distance-not-reset", "threshold-ignored")
"""Faults that are hunted daily."""

PINNED = Path(__file__).with_name("pinned")


@recorded
@pytest.mark.parametrize("examples", daily((20, 40), (20).__eq__))
@pytest.mark.parametrize("policy", sampled(PRUNING, "selective".__eq__))
def test_nothing_is_found_in_what_is_sound(policy: str, examples: int) -> None:
    result = fuzz(None, policy=policy, mutant=None, examples=examples)
    assert result.protocol == "pruning"
    assert not [f for f in result.findings.values() if f.failed and f.kind == "always"]
    exercised = {f.property for f in result.findings.values() if f.exercised}
    assert exercised >= {"NoLostDelivery", "Similarity", "StatisticsExact", "Anchored", "MonotoneDistances"}
    assert exercised >= {"SomePruning", "SomeRetainedQuenching"}


@recorded
@pytest.mark.parametrize("policy", PRUNING)
def test_statistics_of_predicates_are_exact_too(policy: str) -> None:
    """The explorer's instances of pruning have event sets: Property 3 and equation 3 of predicates are fuzzed."""

    def has_predicates(world: World) -> bool:
        return not isinstance(world.instance.subscriptions[0].filter, EventSet)

    drawn = worlds(Sizes(brokers=6), "pruning", (policy,), None).filter(has_predicates)
    campaign = Campaign(drawn, PruningMachine, evolve(PROFILES["fast"], examples=25), 1)
    campaign.run()
    assert campaign.violation is None
    assert min(campaign.tally.exercised[id] for id in ("Similarity", "StatisticsExact")) > 100


def hunted(mutant: str) -> tuple[Instance | None, str, set[str]]:
    """The instance, if one is given, the policy, and the properties that may catch the fault."""
    if mutant in IN_GIVEN:
        name, policy = IN_GIVEN[mutant]
        return find(name), policy, {"CriticalBroker"}
    policy, expected = FOUND[mutant]
    return None, policy, expected


@recorded
@pytest.mark.parametrize("mutant", sampled(daily((*FOUND, *IN_GIVEN), HUNTED.__contains__), "threshold-ignored".__eq__))
def test_finds_and_shrinks(mutant: str, tmp_path: Path) -> None:
    instance, policy, _ = hunted(mutant)
    result = fuzz(instance, policy=policy, mutant=mutant, traces=tmp_path)
    [path] = tmp_path.iterdir()
    if os.environ.get("REWRITE_GOLDEN") and mutant not in HUNTED:
        shutil.copyfile(path, PINNED / f"{mutant}.jsonl")
    assert_found(mutant, result, path)


@pytest.mark.parametrize("mutant", [mutant for mutant in (*FOUND, *IN_GIVEN) if mutant not in HUNTED])
def test_a_pinned_example_is_found_again(mutant: str, tmp_path: Path) -> None:
    """It is played before anything is drawn, and shows the fault, and nothing where there is no fault."""
    path = tmp_path / "pinned.jsonl"
    path.write_text((PINNED / f"{mutant}.jsonl").read_text(encoding="utf-8"), encoding="utf-8")
    instance, policy, expected = hunted(mutant)
    asked = [PROPERTIES[each] for each in expected]
    result = fuzz(instance, policy=policy, mutant=mutant, properties=asked, traces=tmp_path)
    assert (result.limit, result.transitions) == (f"regression: {path}", 0)
    assert_found(mutant, result, path)
    sound = path.read_text(encoding="utf-8").replace(f'"mutant": "{mutant}"', '"mutant": null')
    path.write_text(sound, encoding="utf-8")
    assert not replay_file(path).reproduces


def assert_found(mutant: str, result: Result, path: Path) -> None:
    instance, _, expected = hunted(mutant)
    [finding] = [f for f in result.findings.values() if f.failed and f.kind == "always"]
    assert finding.property in expected
    replayed = replay_file(path)
    assert replayed.reproduces
    assert instance is not None or len(replayed.counterexample.world.nodes) <= 3


def test_hunted_daily_are_both_policies() -> None:
    assert {policy for _, policy, _ in map(hunted, HUNTED)} == set(PRUNING)
    assert {path.stem for path in PINNED.iterdir()} == {*FOUND, *IN_GIVEN} - set(HUNTED)
