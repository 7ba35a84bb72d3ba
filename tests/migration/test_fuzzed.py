"""The fuzzer finds the faults of migration, too, and shrinks what it finds to the length that the documents have."""

import pytest

from routeproof.checker.fuzz import fuzz
from routeproof.checker.instances import find
from routeproof.checker.migration.fuzzing import BREAKING
from routeproof.model.instance import POLICIES
from routeproof.model.migration.vocabulary import READINGS
from routeproof.spec.catalogues import CLAIMS, rules_that_fire
from tests.campaigns import daily
from tests.kit.faults import documented
from tests.migration.test_explored import CAUGHT


@pytest.mark.parametrize("mutant", daily(CAUGHT, lambda mutant: mutant == "last-hop-kept"))
def test_a_fault_is_found(mutant: str) -> None:
    name = CAUGHT[mutant][0]
    result = fuzz(find(name), policy="active", mutant=mutant, seed=1, examples=3000)
    fault = documented()[mutant]
    finding = result.findings[fault.fuzzed]
    assert finding.verdict == "fails"
    assert finding.run is not None
    assert len(finding.run) == fault.shrunk


@pytest.mark.parametrize("policy", daily(POLICIES, lambda policy: policy == "active"))
def test_moves_that_are_drawn_break_nothing(policy: str) -> None:
    """Overlays of up to twelve brokers; any publisher may move anywhere, also while it moves."""
    result = fuzz(None, protocol="migration", policy=policy, mutant=None, seed=1, examples=40)
    assert {finding.verdict for finding in result.findings.values()} == {"holds"}
    assert set(rules_that_fire("migration")) - {"MIG-5", "MIG-11"} <= set(result.rules)


def test_readings_that_are_not_drawn_are_those_of_claims_that_fail() -> None:
    for key, (value, claim) in BREAKING.items():
        assert value in READINGS[key][1:]
        assert CLAIMS[claim].verdict == "fails"
        repair = CLAIMS[claim].repair
        assert repair is not None
        assert list(repair.readings) == [key]
