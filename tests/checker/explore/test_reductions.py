"""Each reduction against the full search, on every shipped instance and on mutants: same verdicts, fewer states."""

from functools import cache

import pytest

from routeproof.checker.errors import UsageError
from routeproof.checker.explore import explore
from routeproof.checker.explore.symmetry import renamings
from routeproof.checker.instances import find, shipped
from routeproof.checker.replay import replay
from routeproof.checker.verdict import Result
from routeproof.model.protocols import world
from routeproof.model.routing_mutants import MUTANTS
from tests.campaigns import daily

LARGE = {"two4", "leave5", "pair3", "star5"}
"""Compared under one policy daily."""
CASES = [(i.name, p) for i in shipped() if i.protocol == "routing" for p in i.policies]
SIZES = {"small": ("line3", "cross3", "unadv3", "equal3"), "larger": ("star4", "wide3")}


def is_daily(case: tuple[str, str]) -> bool:
    name, policy = case
    return name not in LARGE or policy == find(name).policies[0]


def verdicts(result: Result) -> dict[str, str]:
    return {f.property: f.verdict for f in result.findings.values()}


def lengths(result: Result) -> dict[str, int]:
    return {f.property: len(f.run) for f in result.findings.values() if f.run is not None}


@cache
def full_search(name: str, policy: str, mutant: str | None = None, max_states: int | None = None) -> Result:
    """What both reductions are compared with."""
    return explore(world(find(name), policy, mutant), max_states=max_states)


@pytest.mark.parametrize(("name", "policy"), daily(CASES, is_daily))
def test_symmetry_changes_no_verdict_and_no_length(name: str, policy: str) -> None:
    full, reduced = full_search(name, policy), explore(world(find(name), policy), reduction=("symmetry",))
    assert verdicts(reduced) == verdicts(full)
    assert lengths(reduced) == lengths(full)
    assert reduced.states == full.states, "orbits counted in full"
    assert reduced.depth == full.depth
    assert reduced.stored <= full.stored


@pytest.mark.parametrize(("name", "policy"), daily([c for c in CASES if not find(c[0]).faults.any], is_daily))
def test_partial_order_changes_no_verdict(name: str, policy: str) -> None:
    full, reduced = full_search(name, policy), explore(world(find(name), policy), reduction=("por",))
    assert verdicts(reduced) == verdicts(full)
    assert reduced.states < full.states


@pytest.mark.parametrize("reduction", ["symmetry", "por"])
def test_reductions_refuse_what_they_are_not_sound_for(reduction: str) -> None:
    with pytest.raises(UsageError, match="the routing core only; found protocol pruning"):
        explore(world(find("prune3"), "selective"), reduction=(reduction,))


@pytest.mark.parametrize("mutant", sorted(MUTANTS))
@pytest.mark.parametrize("reduction", ["symmetry", "por"])
@pytest.mark.parametrize("size", daily(SIZES, "small".__eq__))
def test_reductions_lose_no_violation(mutant: str, reduction: str, size: str) -> None:
    """What the full search finds in a broken broker, the reduced one finds too; and its runs are real."""
    if reduction == "por" and MUTANTS[mutant].make.may_refuse:
        with pytest.raises(UsageError, match="refuse nothing"):
            explore(world(find("line3"), MUTANTS[mutant].policies[0], mutant), reduction=("por",))
        return
    for name in SIZES[size]:
        asked = world(find(name), MUTANTS[mutant].policies[0], mutant)
        full = full_search(name, MUTANTS[mutant].policies[0], mutant, 70_000)
        if not full.complete:
            continue
        reduced = explore(asked, reduction=(reduction,), max_states=70_000)
        failing = {p for p, verdict in verdicts(full).items() if verdict == "fails"}
        assert failing == {p for p, verdict in verdicts(reduced).items() if verdict == "fails"}, name
        if reduction == "symmetry":
            assert lengths(reduced) == lengths(full), name
        for finding in reduced.findings.values():
            if finding.run is not None:
                replay(asked, finding.run)


def test_symmetry_pays_where_there_is_one() -> None:
    assert len(renamings(find("star5"))) == 12
    result = explore(world(find("star5"), "none"), reduction=("symmetry",))
    assert result.states == 763_760
    assert result.stored == 66_882


def test_a_renaming_that_the_protocol_does_not_respect_is_dropped() -> None:
    """Under active covering equal filters are told apart by their ids, so leaves with equal ones are not alike."""
    under_none = explore(world(find("star5"), "none"), reduction=("symmetry",))
    under_active = explore(world(find("star5"), "active"), reduction=("symmetry",))
    assert under_none.states / under_none.stored > 11
    assert under_active.states / under_active.stored < 2.1


def test_faults_rule_out_partial_order() -> None:
    with pytest.raises(UsageError, match="without faults"):
        explore(world(find("loss2"), "active"), reduction=("por",))


def test_reductions_do_not_combine() -> None:
    with pytest.raises(UsageError, match="cannot be combined"):
        explore(world(find("tiny"), "active"), reduction=("por", "symmetry"))
