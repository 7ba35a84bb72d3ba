"""The fuzzer draws networks of the mesh in which nothing is lost, and finds the faults in them."""

import pytest

from routeproof.checker.fuzz import fuzz
from routeproof.checker.instances import load
from routeproof.checker.mesh.fuzzing import BREAKING
from routeproof.model.mesh.parameters import READINGS
from routeproof.spec.catalogues import rules_that_fire
from tests.campaigns import daily
from tests.mesh.conftest import INSTANCES
from tests.mesh.test_explored import CAUGHT

HARMLESS = {"distance", "factor", "seeds"}
"""Readings under which no property fails: some rank links in another way."""

SELDOM = {"FWD-9", "MOVE-4", "MOVE-8"}
"""Rules that may not be reached in so few networks."""


@pytest.mark.parametrize("mutant", daily(CAUGHT, lambda mutant: mutant == "carried-and-sent"))
def test_a_fault_is_found(mutant: str) -> None:
    result = fuzz(load(INSTANCES / f"{CAUGHT[mutant][0]}.toml"), policy="none", mutant=mutant, seed=1, examples=1000)
    assert any(finding.verdict == "fails" for finding in result.findings.values())


def test_networks_that_are_drawn_hold() -> None:
    result = fuzz(None, protocol="mesh", policy="none", mutant=None, seed=1, examples=60)
    assert {finding.verdict for finding in result.findings.values() if finding.kind == "always"} == {"holds"}
    assert set(rules_that_fire("mesh")) - SELDOM <= set(result.rules)


def test_readings_that_are_not_drawn_are_those_that_break_something() -> None:
    assert {name: values[1:] for name, values in READINGS.items() if name not in HARMLESS} == BREAKING
