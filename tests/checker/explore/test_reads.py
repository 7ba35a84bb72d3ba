"""Declared reads: a property is asked once for each distinct part that it reads, and is shown nothing else."""

import pytest
from attrs import evolve

from routeproof.checker.evaluation import violations
from routeproof.checker.explore import explore
from routeproof.checker.instances import find
from routeproof.model.history import PARTS
from routeproof.model.protocols import world
from routeproof.spec.properties import PROPERTIES
from routeproof.spec.specification import Answer, Property

PURGED = PROPERTIES["Purged"]


def calls(p: Property) -> tuple[int, int, int]:
    """How often the property was asked, in how many states it said something, and how many states there are."""
    asked = 0

    def counted(*arguments: object) -> Answer:
        nonlocal asked
        asked += 1
        return p.evaluate(*arguments)

    result = explore(world(find("halves3"), "selective"), properties=[evolve(p, evaluate=counted)])
    return asked, result.findings["Purged"].exercised, result.states


def test_a_property_is_asked_once_for_each_part_that_it_reads() -> None:
    few, exercised, states = calls(PURGED)
    many, same, _ = calls(evolve(PURGED, reads=("local", *PARTS)))
    assert exercised == same
    assert few < many / 3
    assert few < states / 10


def test_reading_what_is_not_declared_is_an_error() -> None:
    asked = world(find("tiny"), "active")
    sly = evolve(PROPERTIES["NoDuplicate"], reads=("owed",))
    with pytest.raises(AttributeError, match="duplicate"):
        violations(asked, asked.initial(), [sly])
    with pytest.raises(AttributeError, match="duplicate"):
        explore(asked, properties=[sly])
