"""Does the explorer find every seeded fault, name the property that it breaks, and shrink the run that shows it?

`caught.json` says for each mutant, under each policy that it changes: the instance that shows it, the property that
catches it first, the steps of the shortest run there, and the steps of the shrunk one. Daily that instance alone is
searched; in a campaign all of them are, so that no other shows the fault in fewer steps. `REWRITE_GOLDEN=1` writes it.
"""

import json
import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from routeproof.checker.counterexamples import replay
from routeproof.checker.counterexamples.shrink import shrink
from routeproof.checker.evaluation import Finding
from routeproof.checker.explore import explore
from routeproof.checker.instances import find
from routeproof.model.instance import POLICIES
from routeproof.model.protocols import world
from routeproof.model.routing_mutants import MUTANTS
from routeproof.model.world import World
from routeproof.spec.properties import PROPERTIES, properties_for
from tests.shown import recorded, sampled

TABLE = Path(__file__).with_name("caught.json")
CAUGHT: dict[str, dict[str, list[str | int]]] = json.loads(TABLE.read_text()) if TABLE.exists() else {}
REWRITE = bool(os.environ.get("REWRITE_GOLDEN"))
INSTANCES = ("tiny", "line3", "equal3", "unadv3", "wide3", "star4", "pair3")
CASES = [(m.id, policy) for m in MUTANTS.values() for policy in m.policies]


def first_violation(asked: World) -> Finding | None:
    """Of the properties, the one with the shortest run; the first in the catalogue where two are as short."""
    result = explore(asked, max_states=60_000, stop_at_first=True)
    failed = [f for f in result.findings.values() if f.kind == "always" and f.run is not None]
    return min(failed, key=lambda f: len(f.run or ()), default=None)


def shortest(mutant: str, policy: str, instances: Sequence[str]) -> list[str | int]:
    """The row of the table, measured in these instances."""
    best: tuple[World, Finding] | None = None
    for name in instances:
        asked = world(find(name), policy, mutant)
        finding = first_violation(asked)
        if finding and finding.run and (best is None or len(finding.run) < len(best[1].run or ())):
            best = asked, finding
    assert best is not None, f"nothing catches {mutant} under {policy}"
    small_world, small = shrink(*best)
    replay(small_world, small.run or ())
    return [best[0].instance.name, best[1].property, len(best[1].run or ()), len(small.run or ())]


@recorded
@pytest.mark.parametrize(("mutant", "policy"), sampled(CASES, CASES[::6].__contains__))
def test_finds_and_shrinks(mutant: str, policy: str) -> None:
    assert CAUGHT[mutant][policy] == shortest(mutant, policy, [str(CAUGHT[mutant][policy][0])])


@pytest.mark.campaign
@pytest.mark.parametrize(("mutant", "policy"), CASES)
def test_no_other_instance_shows_it_in_fewer_steps(mutant: str, policy: str) -> None:
    measured = shortest(mutant, policy, INSTANCES)
    if REWRITE:
        _write(mutant, policy, measured)
    assert CAUGHT[mutant][policy] == measured


def _write(mutant: str, policy: str, row: list[str | int]) -> None:
    CAUGHT.setdefault(mutant, {})[policy] = row
    lines = ",\n".join(f' "{id}": {json.dumps(rows)}' for id, rows in CAUGHT.items())
    TABLE.write_text(f"{{\n{lines}\n}}\n")


@pytest.mark.parametrize(
    ("property", "mutant", "policy", "name"),
    [
        ("NoLostDelivery", "removals-first", "active", "tiny"),
        ("NoDuplicate", "publication-per-entry", "none", "tiny"),
        ("Precise", "delivers-unmatched", "none", "star4"),
        ("Agreement", "sent-not-recorded", "none", "tiny"),
        ("NoResidue", "no-settle-after-unsubscribe", "lazy", "tiny"),
        ("NoStray", "no-settle-after-unadvertise", "active", "unadv3"),
        ("Drains", "publication-sent-back", "none", "tiny"),
        ("Drains", "waits-for-advertisement", "none", "unadv3"),
        ("Compact", "active-keeps-covered", "active", "tiny"),
        ("PropagationTree", "none-forwards-once", "none", "cross3"),
        ("PropagationPath", "active-keeps-covered", "active", "pair3"),
    ],
)
def test_every_property_can_fail_and_is_exercised(property: str, mutant: str, policy: str, name: str) -> None:
    """The mutant breaks it; the routing core does not, and not because the property never says anything."""
    asked = [PROPERTIES[property]]
    broken = explore(world(find(name), policy, mutant), properties=asked).findings[property]
    sound = explore(world(find(name), policy), properties=asked).findings[property]
    assert broken.failed
    assert sound.verdict == "holds"
    assert broken.exercised > 0
    assert sound.exercised > 0 or property in ("Compact", "PropagationPath"), "exercised elsewhere: see the next test"


def test_every_always_property_is_exercised_by_what_ships() -> None:
    exercised: set[str] = set()
    for name, policy in (("cross3", "active"), ("star4", "active"), ("line3", "none")):
        result = explore(world(find(name), policy))
        exercised |= {f.property for f in result.findings.values() if f.exercised}
    assert exercised == {p.id for p in PROPERTIES.values() if p.is_meant_for("routing", POLICIES)}


def test_there_is_a_mutant_for_every_policy_and_enough_of_them() -> None:
    assert len(MUTANTS) >= 15
    for policy in ("none", "active", "lazy", "packing"):
        assert any(m.policies == (policy,) or policy in m.policies for m in MUTANTS.values())
        assert properties_for("routing", policy)
    assert {m.policies for m in MUTANTS.values()} >= {("none",), ("lazy",), ("packing",), ("active", "packing")}
