"""Moves of publishers, explored: what holds, what is lost as printed, and which property catches which fault."""

import re
from pathlib import Path

import pytest

from routeproof.checker.explore import explore
from routeproof.checker.instances import find, shipped
from routeproof.model.migration.definition import DEFINITION
from routeproof.model.migration.mutants import MIGRATION_MUTANTS
from routeproof.model.protocols import world
from routeproof.spec.migration import SPECIFICATION
from routeproof.spec.properties import PROPERTIES
from tests.checker.explore.test_counts import LARGE
from tests.kit.faults import documented

OWN = [instance for instance in shipped() if instance.protocol == "migration"]
CAUGHT = {
    "speaks-while-paused": ("quit2", "NoLostDelivery", 14),
    "buffer-lost": ("refused2", "NoLostDelivery", 10),
    "buffer-to-both": ("quit2", "NoDuplicate", 16),
    "buffer-reversed": ("refused2", "InOrder", 16),
    "withdraws-while-paused": ("quit2", "NoResidue", 13),
    "goes-nowhere-silently": ("refused2", "Released", 7),
    "stays-connected": ("quit2", "OnePlace", 11),
    "last-hop-kept": ("coverer3", "Drains", 12),
    "nothing-forwarded": ("quit2", "NoLostDelivery", 13),
    "updates-twice": ("quit2", "OnPath", 6),
    "removes-on-the-way": ("quit2", "NoLostDelivery", 11),
    "does-not-wait": ("branch4", "FreshTables", 13),
    "second-request": ("return2", "OnePlace", 16),
    "mark-ignored": ("quit2", "NoLostDelivery", 13),
    "speaks-on-arrival": ("quit2", "NoLostDelivery", 10),
    "completes-first": ("quit2", "NoLostDelivery", 13),
    "never-withdrawn": ("quit2", "NoStray", 13),
    "drains-for-ever": ("quit2", "NoStray", 13),
}
"""By fault: an instance, the property that catches it there under active, and the length of the shortest run."""


@pytest.mark.parametrize("mutant", CAUGHT)
def test_a_fault_is_caught(mutant: str) -> None:
    name, property, steps = CAUGHT[mutant]
    asked = world(find(name), "active", mutant)
    finding = explore(asked, properties=[PROPERTIES[property]], stop_at_first=True).findings[property]
    assert finding.verdict == "fails"
    assert finding.run is not None
    assert len(finding.run) == steps


def test_every_fault_is_in_the_table_and_every_property_of_migration_catches_one() -> None:
    assert list(CAUGHT) == list(MIGRATION_MUTANTS)
    table = documented()
    assert {fault: table[fault][:3] for fault in CAUGHT} == CAUGHT
    own = {p.id for p in SPECIFICATION.properties if p.kind == "always"}
    assert own <= {property for _, property, _ in CAUGHT.values()}


def test_every_rule_is_in_the_prose_and_fires_or_is_shown_to_matter() -> None:
    prose = (Path(__file__).resolve().parents[2] / "spec/migration.md").read_text(encoding="utf-8")
    begins = re.findall(r"^\*\*(MIG-\d+)\*\*", prose, re.MULTILINE)
    assert begins == [rule.id for rule in SPECIFICATION.rules]
    daily = [instance for instance in OWN if instance.name not in LARGE]
    asked = {id for instance in daily for id in instance.must_reach}  # `tests/checker/explore` says that it is reached
    assert {rule.id for rule in SPECIFICATION.rules if rule.fires} <= asked
    assert {rule.id for rule in SPECIFICATION.rules if not rule.fires} <= {m.rule for m in MIGRATION_MUTANTS.values()}
    assert all(f"**{p.id}**" in prose for p in SPECIFICATION.properties if p.kind == "always")


def test_the_definition_is_for_the_policies_of_the_core() -> None:
    assert DEFINITION.policies == SPECIFICATION.policies == ("none", "active", "lazy", "packing")
