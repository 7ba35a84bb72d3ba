"""Each reduction against the full search, on every shipped instance and on mutants: same verdicts, fewer states."""

import json
import os
from functools import cache
from pathlib import Path

import pytest
from attrs import evolve

from routeproof.checker.counterexamples import replay
from routeproof.checker.evaluation import Result
from routeproof.checker.explore import explore
from routeproof.checker.explore.symmetry import renamings
from routeproof.checker.instances import find, shipped
from routeproof.checker.system.errors import UsageError
from routeproof.model.overlay import Overlay
from routeproof.model.protocols import world
from routeproof.model.routing_mutants import MUTANTS
from tests.campaigns import daily
from tests.checker.explore.explored import full_search
from tests.shown import recorded, sampled

LARGE = {"two4", "leave5", "pair3", "star5"}
"""Compared under one policy daily."""
CASES = [(i.name, p) for i in shipped() if i.protocol == "routing" for p in i.policies]
SIZES = {"small": ("line3", "cross3", "unadv3", "equal3"), "larger": ("star4", "wide3")}


def is_daily(case: tuple[str, str]) -> bool:
    name, policy = case
    return name != "leave5" and (name not in LARGE or policy == find(name).policies[0])


def is_sample(case: tuple[str, str]) -> bool:
    """True for the small ones and, of those that are symmetric, one."""
    return case[0] in {"tiny", *SIZES["small"]} or case == ("star4", "active")


@cache
def symmetric(name: str, policy: str) -> Result:
    return explore(world(find(name), policy), reduction=("symmetry",))


def verdicts(result: Result) -> dict[str, str]:
    return {f.property: f.verdict for f in result.findings.values()}


def lengths(result: Result) -> dict[str, int]:
    return {f.property: len(f.run) for f in result.findings.values() if f.run is not None}


@recorded
@pytest.mark.parametrize(("name", "policy"), sampled(daily(CASES, is_daily), is_sample))
def test_symmetry_changes_no_verdict_and_no_length(name: str, policy: str) -> None:
    full, reduced = full_search(name, policy), symmetric(name, policy)
    assert verdicts(reduced) == verdicts(full)
    assert lengths(reduced) == lengths(full)
    assert reduced.states == full.states, "orbits counted in full"
    assert reduced.depth == full.depth
    assert reduced.stored <= full.stored


@recorded
@pytest.mark.parametrize(
    ("name", "policy"), sampled(daily([c for c in CASES if not find(c[0]).faults.any], is_daily), is_sample)
)
def test_partial_order_changes_no_verdict(name: str, policy: str) -> None:
    full, reduced = full_search(name, policy), explore(world(find(name), policy), reduction=("por",))
    assert verdicts(reduced) == verdicts(full)
    assert reduced.states < full.states


@pytest.mark.parametrize("reduction", ["symmetry", "por"])
def test_reductions_refuse_what_they_are_not_sound_for(reduction: str) -> None:
    with pytest.raises(UsageError, match="has not been argued for the protocol pruning"):
        explore(world(find("prune3"), "selective"), reduction=(reduction,))


BROKEN_TABLE = Path(__file__).with_name("broken.json")
BROKEN: dict[str, dict[str, list[str]]] = json.loads(BROKEN_TABLE.read_text())
"""mutant -> small instance whose search ends -> properties that fail there. `REWRITE_GOLDEN=1` writes it (campaign)."""


def enough(mutant: str) -> list[str]:
    """Returns small instances which, between them, show every property that the mutant breaks in any of them; the first
    where it breaks none."""
    rows, chosen = BROKEN.get(mutant, {}), list[str]()
    while left := {p for row in rows.values() for p in row} - {p for name in chosen for p in rows[name]}:
        chosen.append(max(rows, key=lambda name: len(left.intersection(rows[name]))))
    return chosen or list(rows)[:1]


@pytest.mark.parametrize("mutant", sorted(MUTANTS))
@pytest.mark.parametrize("reduction", ["symmetry", "por"])
@pytest.mark.parametrize("size", daily(("enough", *SIZES), "enough".__eq__))
def test_reductions_lose_no_violation(mutant: str, reduction: str, size: str) -> None:
    """What the full search finds in a broken broker, the reduced one finds too; and its runs are real.

    Daily in instances that are enough to show all that is broken in any small one.
    """
    policy = MUTANTS[mutant].policies[0]
    if reduction == "por" and MUTANTS[mutant].make.may_refuse:
        with pytest.raises(UsageError, match="refuse nothing"):
            explore(world(find("line3"), policy, mutant), reduction=("por",))
        return
    for name in SIZES.get(size) or enough(mutant):
        asked = world(find(name), policy, mutant)
        full = full_search(name, policy, mutant, 70_000)
        if not full.complete:
            assert size != "enough"
            continue
        failing = {p for p, verdict in verdicts(full).items() if verdict == "fails"}
        if size == "small" and os.environ.get("REWRITE_GOLDEN"):
            BROKEN.setdefault(mutant, {})[name] = sorted(failing)
            lines = ",\n".join(f" {json.dumps(id)}: {json.dumps(rows)}" for id, rows in sorted(BROKEN.items()))
            BROKEN_TABLE.write_text(f"{{\n{lines}\n}}\n")
        if size != "larger":
            assert failing == set(BROKEN[mutant][name])
        reduced = explore(asked, reduction=(reduction,), max_states=70_000)
        assert failing == {p for p, verdict in verdicts(reduced).items() if verdict == "fails"}, name
        if reduction == "symmetry":
            assert lengths(reduced) == lengths(full), name
        for finding in reduced.findings.values():
            if finding.run is not None:
                replay(asked, finding.run)


def test_all_broken_brokers_are_in_the_table() -> None:
    """But for one that makes every small instance endless."""
    assert list(BROKEN) == sorted(set(MUTANTS) - {"publication-sent-back"})
    assert sum(map(len, map(enough, BROKEN))) < 2 * len(BROKEN)


def test_symmetry_pays_where_there_is_one() -> None:
    assert len(renamings(find("star5"))) == 12
    result = symmetric("star5", "none")
    assert result.states == 763_760
    assert result.stored == 66_882


def test_a_renaming_that_the_protocol_does_not_respect_is_dropped() -> None:
    """Under active covering equal filters are told apart by their ids, so leaves with equal ones are not alike."""
    under_none, under_active = symmetric("star5", "none"), symmetric("star5", "active")
    assert under_none.states / under_none.stored > 11
    assert under_active.states / under_active.stored < 2.1


def test_faults_rule_out_partial_order() -> None:
    with pytest.raises(UsageError, match="without faults"):
        explore(world(find("loss2"), "active"), reduction=("por",))


def test_reductions_do_not_combine() -> None:
    with pytest.raises(UsageError, match="cannot be combined"):
        explore(world(find("tiny"), "active"), reduction=("por", "symmetry"))


def test_an_instance_with_too_many_renamings_is_refused() -> None:
    """The automorphisms of a star of 64 brokers have no end."""
    star = evolve(find("star4"), overlay=Overlay.of([(1, leaf) for leaf in range(2, 65)]))
    with pytest.raises(UsageError, match="more than 5,040 ways to rename"):
        explore(world(star, "none"), reduction=("symmetry",))
