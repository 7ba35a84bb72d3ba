"""The papers' claims come out as the registry says, and its counterexamples still show it."""

import json
from importlib.resources import as_file, files
from pathlib import Path

import pytest
from attrs import evolve

from routeproof.checker.check.conclusion import repaired, variant
from routeproof.checker.counterexamples import Counterexample, replay_file
from routeproof.checker.counterexamples.shrink import shrink
from routeproof.checker.evaluation import Finding
from routeproof.checker.experiments import experiments
from routeproof.checker.experiments.bench import SUITES
from routeproof.checker.explore import explore
from routeproof.checker.instances import find, shipped
from routeproof.model.instance import Instance
from routeproof.model.protocols import DEFINITIONS, world
from routeproof.model.pruning.definition import congested, parameters
from routeproof.model.pruning.vocabulary import PRUNING
from routeproof.spec.catalogues import CLAIMS
from routeproof.spec.properties import PROPERTIES
from routeproof.spec.specification import Claim, Property, Repair
from tests.checker.explore.explored import full_search
from tests.pruning.triggered import triggered_more
from tests.shown import recorded

ROUTING = [
    i.name
    for i in shipped()
    if i.protocol == "routing" and not i.faults.any and i.name not in ("two4", "leave5", "pair3")
]


FIGURES = [c for c in CLAIMS.values() if "come" in c.verdict or c.verdict == "not measured"]
BROKEN = [c for c in CLAIMS.values() if c.trace]
HELD = [c for c in CLAIMS.values() if c.verdict.startswith("holds")]


def corpus(claim: Claim) -> str:
    assert claim.trace is not None
    return files("routeproof.traces").joinpath("corpus", claim.trace).read_text(encoding="utf-8")


def counterexample(claim: Claim, path: Path) -> Counterexample:
    path.write_text(corpus(claim), encoding="utf-8")
    return replay_file(path).counterexample


@pytest.mark.parametrize("claim", BROKEN, ids=lambda c: c.id)
def test_the_counterexample_of_a_claim_still_breaks_it(claim: Claim) -> None:
    assert claim.verdict == "fails"
    assert claim.trace is not None
    with as_file(files("routeproof.traces").joinpath("corpus", claim.trace)) as path:
        replayed = replay_file(path)
    assert replayed.reproduces, replayed
    assert replayed.counterexample.property == PROPERTIES[claim.property]


@recorded
@pytest.mark.parametrize("claim", BROKEN, ids=lambda c: c.id)
def test_the_counterexample_of_a_claim_is_a_smallest(claim: Claim, tmp_path: Path) -> None:
    """No run of its instance to a violation is shorter, and nothing can be taken away from the instance.

    Of TRIG only the former: the latter takes twelve seconds, and was seen to hold when the trace was written.
    """
    found = counterexample(claim, tmp_path / "trace.jsonl")
    asked = PROPERTIES[claim.property]
    if asked.over == "settled":
        _, shortest = triggered_more(found.world.instance, found.world.policy)
    else:
        shortest = explore(found.world, properties=[asked], stop_at_first=True).findings[asked.id].run
    assert shortest is not None
    assert len(shortest) == len(found.run)
    if claim.id == "TRIG":
        return
    smaller, same = shrink(found.world, Finding(asked.id, "always", "fails", 1, shortest))
    assert len(same.run or ()) == len(found.run)
    assert evolve(smaller.instance, name="", about="", must_fail=()) == evolve(
        found.world.instance, name="", about="", must_fail=()
    )


@pytest.mark.parametrize("claim", BROKEN, ids=lambda c: c.id)
def test_a_trace_that_shows_something_else_is_no_counterexample(claim: Claim, tmp_path: Path) -> None:
    """The last step is taken away: what is left is a run, and ends before anything is wrong."""
    path = tmp_path / "trace.jsonl"
    header, *events = corpus(claim).splitlines()
    raw = json.loads(header)
    raw["actions"] = raw["actions"][:-1]
    path.write_text("\n".join([json.dumps(raw), *events, ""]), encoding="utf-8")
    assert not replay_file(path).reproduces


def finding_of(asked: Property, name: str, policy: str) -> Finding:
    """Takes it from the search that all tests share, where that asks for it."""
    found = full_search(name, policy).findings
    return found.get(asked.id) or explore(world(find(name), policy), properties=[asked]).findings[asked.id]


@recorded
@pytest.mark.parametrize("claim", HELD, ids=lambda c: c.id)
def test_a_claim_that_holds_is_a_property_that_holds(claim: Claim) -> None:
    asked = PROPERTIES[claim.property]
    exercised = 0
    for name in claim.instances or ROUTING:
        instance = find(name)
        for policy in instance.policies:
            if policy in asked.policies or not asked.policies:  # of none: what a claim asks of a variant only
                finding = finding_of(asked, instance.name, policy)
                assert finding.verdict == "holds", (instance.name, policy)
                exercised += finding.exercised
    assert exercised > 100


@pytest.mark.parametrize("claim", BROKEN, ids=lambda c: c.id)
def test_a_repair_mends_the_counterexample(claim: Claim, tmp_path: Path) -> None:
    """Another protocol: the claim itself, which it puts to the test. The same one: a claim that asks for less."""
    assert claim.repair is not None
    repair, found = claim.repair, counterexample(claim, tmp_path / "trace.jsonl")
    mended = repaired(claim, found.world)
    if mended is None:
        assert "None is specified" in repair.about
        return
    assert mended.verdict == "holds"
    if repair.readings or repair.policy:
        changed = variant(found.world, repair)
        assert (changed.policy, changed.instance.own) != (found.world.policy, found.world.instance.own)
        own = explore(changed, properties=[PROPERTIES[claim.property]]).findings[claim.property]
        assert own.verdict == "holds" or claim.id == "COUNT-few", "000 makes no use of counts"
    if repair.holds:
        holds = CLAIMS[repair.holds]
        assert holds in HELD
        assert (holds.property == claim.property) <= bool(repair.readings or repair.policy)
        assert repair.policy or all(has(find(name), repair) for name in holds.instances)


def has(instance: Instance, repair: Repair) -> bool:
    """It is one of the variant."""
    read = [parameters(instance, policy) for policy in instance.policies if policy in PRUNING]
    sections = {section.key: section.default for section in DEFINITIONS[instance.protocol].sections}
    read = read or [instance.section(instance.protocol, sections.get(instance.protocol))]
    return all(getattr(each, key) == value for each in read for key, value in repair.readings.items())


def test_claims_that_fail_come_with_a_trace_and_a_repair_and_figures_with_an_experiment() -> None:
    assert all((c.trace is not None) == (c.repair is not None) == (c.verdict == "fails") for c in CLAIMS.values())
    assert {c.property for c in (*BROKEN, *HELD)} <= set(PROPERTIES)
    answered = {*experiments(), *(f"bench {suite}" for suite in SUITES)}
    assert set(experiments()) <= {c.property for c in FIGURES} <= answered, "each experiment answers something"
    assert len(CLAIMS) == len(BROKEN) + len(HELD) + len(FIGURES)


@recorded
def test_what_triggers_more_than_active_covering_withdraws_what_covers_what_it_retains() -> None:
    """The hypothesis that the claim TRIG needs, in every shipped instance of pruning, all settled histories."""
    for instance in shipped():
        if instance.protocol == "pruning" and not congested(instance):  # with it, see the claim TRIG-held
            for policy in instance.policies:
                pairs, run = triggered_more(instance, policy, nested=False)
                assert run is None, (instance.name, policy)
                assert pairs > 10
