"""Does the fuzzer find every seeded fault in instances of its own making, and shrink what it finds?

The table says for each mutant the policy under which it is fuzzed, the properties that may catch it, and for each of
them the most steps that the shrunk run may have: measured with six seeds, of which the fast profile's own is used here.
"""

from pathlib import Path

import pytest

from routeproof.checker.fuzz import fuzz
from routeproof.checker.replay import replay_file
from routeproof.model.instance import POLICIES
from routeproof.model.routing_mutants import MUTANTS

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


@pytest.mark.parametrize("mutant", MUTANTS)
def test_finds_and_shrinks(mutant: str, tmp_path: Path) -> None:
    policy, expected = FOUND[mutant]
    result = fuzz(None, policy=policy, mutant=mutant, traces=tmp_path)

    [finding] = [f for f in result.findings.values() if f.failed]
    assert finding.property in expected
    assert finding.run is not None
    assert len(finding.run) <= expected[finding.property]

    [path] = tmp_path.iterdir()
    replayed = replay_file(path)
    assert replayed.reproduces
    assert len(replayed.counterexample.world.nodes) <= 3


def test_the_table_has_every_mutant_and_every_policy() -> None:
    assert list(FOUND) == list(MUTANTS)
    assert {policy for policy, _ in FOUND.values()} == set(POLICIES)
    assert all(policy in MUTANTS[mutant].policies for mutant, (policy, _) in FOUND.items())
