"""Does the fuzzer find every seeded fault in instances of its own making, and shrink what it finds?

The table says for each mutant the policy under which it is fuzzed, the properties that may catch it, and for each of
them the most steps that the shrunk run may have: measured with six seeds, of which the fast profile's own is used here.

Daily some faults are hunted, at least one under each policy and for each property that catches any. The others are
played from a pinned example (`pinned/`), which the hunt of a campaign found; `REWRITE_GOLDEN=1` writes it there.
"""

import os
import shutil
from pathlib import Path

import pytest

from routeproof.checker.counterexamples import replay_file
from routeproof.checker.evaluation import Result
from routeproof.checker.fuzz import fuzz
from routeproof.model.instance import POLICIES
from routeproof.model.routing_mutants import MUTANTS
from routeproof.spec.properties import PROPERTIES
from tests.campaigns import daily
from tests.shown import recorded, sampled

PINNED = Path(__file__).with_name("pinned")

FOUND: dict[str, tuple[str, dict[str, int]]] = {
    "removals-first": ("active", {"NoLostDelivery": 8}),
    "no-settle-after-unsubscribe": ("none", {"NoResidue": 5}),
    "no-settle-after-advertise": ("active", {"NoLostDelivery": 4}),
    "no-settle-after-unadvertise": ("lazy", {"NoStray": 6}),
    "settle-first-neighbour-only": ("packing", {"NoLostDelivery": 5, "NoResidue": 6}),
    "withdrawal-not-sent": ("none", {"NoResidue": 5, "PropagationTree": 6}),
    "sent-not-recorded": ("active", {"Agreement": 4, "NoResidue": 5}),
    "quench-from-same-neighbour": ("active", {"NoLostDelivery": 8, "Drains": 10}),
    "covering-swapped": ("lazy", {"NoLostDelivery": 8}),
    "overlap-taken-for-cover": ("active", {"NoLostDelivery": 6, "PropagationPath": 11}),
    "equal-filters-quench-each-other": ("packing", {"NoLostDelivery": 5}),
    "cover-for-intersection": ("lazy", {"NoLostDelivery": 4}),
    "candidates-come-back": ("packing", {"NoLostDelivery": 9, "Drains": 10, "Agreement": 11}),
    "none-forwards-once": ("none", {"PropagationTree": 8}),
    "active-keeps-covered": ("active", {"Compact": 6}),
    "lazy-keeps-withdrawn": ("lazy", {"NoResidue": 5, "NoStray": 6}),
    "lazy-never-uncovers": ("lazy", {"NoLostDelivery": 8}),
    "packing-first-only": ("packing", {"Agreement": 5}),
    "packing-withdrawals-first": ("packing", {"NoLostDelivery": 8}),
    "unsubscribe-by-filter": ("none", {"PropagationTree": 3}),
    "unadvertise-not-flooded": ("active", {"NoResidue": 3}),
    "advertise-one-way": ("lazy", {"NoLostDelivery": 4}),
    "waits-for-advertisement": ("lazy", {"Drains": 5}),
    "publication-sent-back": ("packing", {"NoDuplicate": 8, "Drains": 10}),
    "publication-per-entry": ("none", {"NoDuplicate": 9}),
    "publication-one-way": ("active", {"NoLostDelivery": 9}),
    "delivers-unmatched": ("lazy", {"Precise": 4}),
    "delivers-to-first": ("packing", {"NoLostDelivery": 4}),
    "delivers-or-forwards": ("none", {"NoLostDelivery": 6}),
}


HUNTED = (
    "delivers-to-first",  # packing, NoLostDelivery
    "delivers-unmatched",  # lazy, Precise
    "sent-not-recorded",  # active, Agreement or NoResidue
    "unadvertise-not-flooded",  # active, NoResidue
    "no-settle-after-unadvertise",  # lazy, NoStray
    "none-forwards-once",  # none, PropagationTree
    "waits-for-advertisement",  # lazy, Drains
    "publication-per-entry",  # none, NoDuplicate
    "active-keeps-covered",  # active, Compact
    "overlap-taken-for-cover",  # active, NoLostDelivery or PropagationPath
)
"""Faults that are hunted daily."""


QUICK = ("delivers-to-first", "overlap-taken-for-cover", "unadvertise-not-flooded")
"""Faults that are hunted every day, whatever is recorded."""


@recorded
@pytest.mark.parametrize("mutant", sampled(daily(MUTANTS, HUNTED.__contains__), QUICK.__contains__))
def test_finds_and_shrinks(mutant: str, tmp_path: Path) -> None:
    result = fuzz(None, policy=FOUND[mutant][0], mutant=mutant, traces=tmp_path)
    [path] = tmp_path.iterdir()
    if os.environ.get("REWRITE_GOLDEN") and mutant not in HUNTED:
        shutil.copyfile(path, PINNED / f"{mutant}.jsonl")
    assert_found(mutant, result, path)


@pytest.mark.parametrize("mutant", [mutant for mutant in MUTANTS if mutant not in HUNTED])
def test_a_pinned_example_is_found_again(mutant: str, tmp_path: Path) -> None:
    """It is played before anything is drawn, and shows the fault, and nothing where there is no fault."""
    path = tmp_path / "pinned.jsonl"
    path.write_text((PINNED / f"{mutant}.jsonl").read_text(encoding="utf-8"), encoding="utf-8")
    policy, expected = FOUND[mutant]
    result = fuzz(None, policy=policy, mutant=mutant, properties=[PROPERTIES[p] for p in expected], traces=tmp_path)
    assert (result.limit, result.transitions) == (f"regression: {path}", 0)
    assert_found(mutant, result, path)
    sound = path.read_text(encoding="utf-8").replace(f'"mutant": "{mutant}"', '"mutant": null')
    path.write_text(sound, encoding="utf-8")
    assert not replay_file(path).reproduces


def assert_found(mutant: str, result: Result, path: Path) -> None:
    expected = FOUND[mutant][1]
    [finding] = [f for f in result.findings.values() if f.failed]
    assert finding.property in expected
    assert finding.run is not None
    assert len(finding.run) <= expected[finding.property]
    replayed = replay_file(path)
    assert replayed.reproduces
    assert len(replayed.counterexample.world.nodes) <= 3


def test_hunted_daily_are_all_policies_and_properties() -> None:
    """One fault at least is hunted for each; a pinned example belongs to each of the others."""
    hunted = [FOUND[mutant] for mutant in HUNTED]
    assert {policy for policy, _ in hunted} == set(POLICIES)
    assert {each for _, expected in hunted for each in expected} == {p for _, e in FOUND.values() for p in e}
    assert {path.stem for path in PINNED.iterdir()} == set(MUTANTS) - set(HUNTED)


def test_the_table_has_every_mutant_and_every_policy() -> None:
    assert list(FOUND) == list(MUTANTS)
    assert {policy for policy, _ in FOUND.values()} == set(POLICIES)
    assert all(policy in MUTANTS[mutant].policies for mutant, (policy, _) in FOUND.items())
