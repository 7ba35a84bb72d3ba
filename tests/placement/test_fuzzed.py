"""The fuzzer finds the faults of placement, too, and shrinks what it finds to the length that the documents have."""

import pytest

from routeproof.checker.fuzz import fuzz
from routeproof.checker.instances import find
from routeproof.checker.placement.fuzzing import BREAKING
from routeproof.model.instance import POLICIES
from routeproof.model.placement.vocabulary import READINGS
from routeproof.spec.catalogues import rules_that_fire
from tests.campaigns import daily
from tests.kit.faults import documented
from tests.placement.test_explored import CAUGHT


@pytest.mark.parametrize("mutant", daily(CAUGHT, lambda mutant: mutant in ("forgets-its-own", "keeps-sessions")))
def test_a_fault_is_found(mutant: str) -> None:
    name = CAUGHT[mutant][0]
    policy = "active" if "active" in find(name).policies else "none"
    result = fuzz(find(name), policy=policy, mutant=mutant, seed=1, examples=3000)
    fault = documented()[mutant]
    finding = result.findings[fault.fuzzed]
    assert finding.verdict == "fails"
    assert finding.run is not None
    assert len(finding.run) == fault.shrunk


@pytest.mark.parametrize("policy", daily(POLICIES, lambda policy: policy == "active"))
def test_what_is_drawn_holds(policy: str) -> None:
    """Overlays of up to twelve brokers, both algorithms; publishers and subscribers come and go."""
    result = fuzz(None, protocol="placement", policy=policy, mutant=None, seed=1, examples=40)
    assert {finding.verdict for finding in result.findings.values()} == {"holds"}
    assert set(rules_that_fire("placement")) <= set(result.rules)


def test_readings_that_are_not_drawn_are_those_of_instances_that_fail() -> None:
    assert {key: value for key, (value, _) in BREAKING.items()} == {
        "results": READINGS["results"][1],
        "counter": READINGS["counter"][1],
    }
    for name, key in (("unnamed4", "results"), ("counter2", "counter")):
        assert find(name).must_fail == (BREAKING[key][1],)
