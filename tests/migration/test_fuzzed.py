"""The fuzzer finds the faults of migration, too, and shrinks what it finds to the length of the shortest run."""

import pytest

from routeproof.checker.fuzz import fuzz
from routeproof.checker.instances import find
from tests.campaigns import daily
from tests.migration.test_explored import CAUGHT


@pytest.mark.parametrize("mutant", daily(CAUGHT, lambda mutant: mutant == "last-hop-kept"))
def test_a_fault_is_found(mutant: str) -> None:
    name, property, steps = CAUGHT[mutant]
    result = fuzz(find(name), policy="active", mutant=mutant, seed=1, examples=3000)
    failed = {id: finding for id, finding in result.findings.items() if finding.verdict == "fails"}
    assert failed
    if property in failed:
        run = failed[property].run
        assert run is not None
        assert len(run) == steps
