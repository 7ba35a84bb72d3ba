"""The fuzzer finds the faults of dissemination on trees, too, and draws networks in which the safe switch holds."""

import pytest

from routeproof.checker.fuzz import fuzz
from routeproof.checker.instances import find
from routeproof.checker.trees.fuzzing import BREAKING
from routeproof.model.trees.vocabulary import READINGS
from routeproof.spec.catalogues import rules_that_fire
from tests.campaigns import daily
from tests.trees.test_protocol_explored import CAUGHT


@pytest.mark.parametrize("mutant", daily(CAUGHT, lambda mutant: mutant == "one-mark-short"))
def test_a_fault_is_found(mutant: str) -> None:
    name, property, steps = CAUGHT[mutant]
    result = fuzz(find(name), policy="none", mutant=mutant, seed=1, examples=3000)
    failed = {id: finding for id, finding in result.findings.items() if finding.verdict == "fails"}
    assert failed
    if property in failed:
        run = failed[property].run
        assert run is not None
        assert len(run) == steps


def test_switches_that_are_drawn_break_nothing() -> None:
    """Networks of up to twelve brokers with cycles, up to three strategies of up to three trees."""
    result = fuzz(None, protocol="trees", policy="none", mutant=None, seed=1, examples=30)
    assert {finding.verdict for finding in result.findings.values()} == {"holds"}
    assert set(rules_that_fire("trees")) <= set(result.rules)


def test_readings_that_are_not_drawn_are_all_but_the_defaults() -> None:
    assert {name: values[1:] for name, values in READINGS.items()} == BREAKING
