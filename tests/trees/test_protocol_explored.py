"""Dissemination on trees, explored: what holds, what each reading breaks, and which property catches which fault."""

import re
from pathlib import Path

import pytest

from routeproof.checker.counterexamples.shrink import shrink
from routeproof.checker.explore import explore
from routeproof.checker.instances import find, shipped
from routeproof.model.protocols import world
from routeproof.model.trees.mutants import TREE_MUTANTS
from routeproof.model.trees.vocabulary import DEFAULT, READINGS, parameters_of
from routeproof.spec.properties import PROPERTIES
from routeproof.spec.trees import SPECIFICATION
from tests.campaigns import daily
from tests.checker.explore.test_counts import LARGE

OWN = [instance for instance in shipped() if instance.protocol == "trees"]
CAUGHT = {
    "one-tree-only": ("clusters3", "NoLostDelivery", 11),
    "all-links-of-the-tree": ("switch3", "TowardSubscriber", 11),
    "back-to-the-sender": ("switch3", "OnTree", 7),
    "stamped-anew": ("switch3", "NoLostDelivery", 17),
    "every-part-delivered": ("parts3", "NoDuplicate", 10),
    "first-of-all-strategies": ("clusters3", "NoLostDelivery", 11),
    "withdrawals-not-replayed": ("leaves3", "TablesFollowTrees", 13),
    "inserted-in-the-newest": ("switch3", "NoLostDelivery", 12),
    "deleted-in-the-stamped": ("leaves3", "TablesFollowTrees", 15),
    "toward-the-old-home": ("switch3", "TablesFollowTrees", 10),
    "installs-no-entries": ("switch3", "NoLostDelivery", 16),
    "commits-at-the-first": ("switch3", "AllInstalled", 5),
    "marks-early": ("switch3", "TableThere", 19),
    "marks-no-neighbour": ("switch3", "SwitchEnds", 11),
    "a-mark-for-all-trees": ("parts3", "SwitchEnds", 20),
    "one-mark-short": ("switch3", "NoLostDelivery", 18),
    "keeps-old-tables": ("switch3", "OldTablesGone", 18),
    "next-with-the-commit": ("again3", "TwoStrategies", 12),
}
"""By fault: an instance, the property that catches it there, and the length of the shortest run."""


@pytest.mark.parametrize("mutant", CAUGHT)
def test_a_fault_is_caught(mutant: str) -> None:
    name, property, steps = CAUGHT[mutant]
    asked = world(find(name), "none", mutant)
    finding = explore(asked, properties=[PROPERTIES[property]], stop_at_first=True).findings[property]
    assert finding.verdict == "fails"
    assert finding.run is not None
    assert len(finding.run) == steps


def test_every_fault_is_in_the_table_and_every_property_of_trees_catches_one() -> None:
    assert list(CAUGHT) == list(TREE_MUTANTS)
    own = {p.id for p in SPECIFICATION.properties if p.kind == "always"}
    assert own <= {property for _, property, _ in CAUGHT.values()}


SHRUNK = re.findall(
    r"^\| `([a-z-]+)` \| `([a-z0-9]+)` \| (\w+) \| (\d+) \| (\d+) \|$",
    (Path(__file__).resolve().parents[2] / "docs/explanation/switch.md").read_text(encoding="utf-8"),
    re.MULTILINE,
)


def test_the_faults_of_the_page_are_these() -> None:
    assert {mutant: (name, property, int(steps)) for mutant, name, property, steps, _ in SHRUNK} == CAUGHT


@pytest.mark.parametrize(
    ("mutant", "name", "property", "steps", "least"),
    daily(SHRUNK, lambda row: row[0] in ("one-mark-short", "marks-early")),
)
def test_a_run_of_a_fault_shrinks_as_the_page_says(
    mutant: str, name: str, property: str, steps: str, least: str
) -> None:
    asked = world(find(name), "none", mutant)
    found = explore(asked, properties=[PROPERTIES[property]], stop_at_first=True).findings[property]
    assert len(found.run or ()) == int(steps)
    _, shrunk = shrink(asked, found)
    assert len(shrunk.run or ()) == int(least)


def test_every_rule_is_in_the_prose_and_fires_or_is_a_definition() -> None:
    prose = (Path(__file__).resolve().parents[2] / "spec/trees.md").read_text(encoding="utf-8")
    begins = re.findall(r"^\*\*([A-Z]+-\d+)\*\*", prose, re.MULTILINE)
    assert begins == [rule.id for rule in SPECIFICATION.rules]
    asked = {id for instance in OWN if instance.name not in LARGE for id in instance.must_reach}
    assert {rule.id for rule in SPECIFICATION.rules if rule.fires} <= asked
    assert all(f"**{p.id}**" in prose for p in SPECIFICATION.properties if p.kind == "always")
    assert all(f"| `{name}` | `{values[0]}`" in prose for name, values in READINGS.items())


def test_every_value_of_a_reading_but_the_default_breaks_a_property_in_an_instance() -> None:
    """`must_fail` of an instance is shown by the search of all shipped instances (`tests/checker/explore`)."""
    broken = {
        (name, getattr(parameters_of(instance), name))
        for instance in OWN
        for name in READINGS
        if instance.must_fail and not instance.faults.any
    }
    assert {(name, value) for name, values in READINGS.items() for value in values[1:]} <= broken
    holding = [parameters_of(instance) for instance in OWN if not instance.must_fail]
    assert all(getattr(each, name) == getattr(DEFAULT, name) for each in holding for name in READINGS)


def test_a_crash_doubles_nothing_and_leads_nothing_astray() -> None:
    """The stated limit: a crash may lose documents and the end of a switch, and nothing else."""
    instance = find("crashed3")
    assert not {"NoDuplicate", "Precise", "OnTree", "TowardSubscriber", "TwoStrategies", "Drains"} & {
        *instance.must_fail
    }
