"""The papers' claims come out as the registry says, and its counterexamples still show it."""

from importlib.resources import as_file, files

import pytest

from routeproof.checker.explore import explore
from routeproof.checker.instances import find, shipped
from routeproof.checker.replay import replay_file
from routeproof.checker.settled import triggered_more
from routeproof.model.protocols import world
from routeproof.spec.claims import CLAIMS, Claim
from routeproof.spec.properties import PROPERTIES

ROUTING = [
    i.name
    for i in shipped()
    if i.protocol == "routing" and not i.faults.any and i.name not in ("two4", "leave5", "pair3")
]


@pytest.mark.parametrize("claim", [c for c in CLAIMS.values() if c.trace], ids=lambda c: c.id)
def test_the_counterexample_of_a_claim_still_breaks_it(claim: Claim) -> None:
    assert claim.verdict == "fails"
    assert claim.trace is not None
    with as_file(files("routeproof.traces").joinpath("corpus", claim.trace)) as path:
        replayed = replay_file(path)
    assert replayed.reproduces, replayed
    assert replayed.counterexample.property == PROPERTIES[claim.property]


@pytest.mark.parametrize("claim", [c for c in CLAIMS.values() if c.verdict != "fails"], ids=lambda c: c.id)
def test_a_claim_that_holds_is_a_property_that_holds(claim: Claim) -> None:
    asked = PROPERTIES[claim.property]
    exercised = 0
    for name in claim.instances or ROUTING:
        instance = find(name)
        for policy in instance.policies:
            if policy in asked.policies:
                finding = explore(world(instance, policy), properties=[asked]).findings[asked.id]
                assert finding.verdict == "holds", (instance.name, policy)
                exercised += finding.exercised
    assert exercised > 100


def test_claims_that_fail_come_with_a_trace() -> None:
    assert all((c.trace is not None) == (c.verdict == "fails") for c in CLAIMS.values())
    assert {c.property for c in CLAIMS.values()} <= set(PROPERTIES)


def test_what_triggers_more_than_active_covering_withdraws_what_covers_what_it_retains() -> None:
    """The hypothesis that the claim TRIG needs, in every shipped instance of pruning, all settled histories."""
    for instance in shipped():
        if instance.protocol == "pruning" and not instance.congestion:  # with it, see the claim TRIG-held
            for policy in instance.policies:
                pairs, run = triggered_more(instance, policy, nested=False)
                assert run is None, (instance.name, policy)
                assert pairs > 10
