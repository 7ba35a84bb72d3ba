"""Exact numbers of every shipped instance under every policy, held against the independent naive search."""

import json
from pathlib import Path

import pytest

from routeproof.checker.experiments.bench import plain_search
from routeproof.checker.instances import find, shipped
from routeproof.model.protocols import world
from routeproof.spec.catalogues import rules_that_fire
from tests.campaigns import daily
from tests.checker.explore.explored import full_search
from tests.shown import recorded, sampled

HERE = Path(__file__).parent
COUNTS: dict[str, dict[str, list[int]]] = json.loads((HERE / "counts.json").read_text())
"""name -> policy -> [states, transitions, depth]."""
NAIVE: dict[str, dict[str, list[int]]] = json.loads((HERE.parents[1] / "naive" / "counts.json").read_text())
FOR_CAMPAIGNS = {(n, p) for n in ("two4", "leave5", "star5", "pair3") for p in find(n).policies[1:]}
"""Under the first policy they are looked at daily; under the others `routeproof check` looks at them too."""
LARGE = ("returns3", "crowd3", "leave5", "boost4", "over-new4", "busy4", "leaves4", "turns3")
FOR_CAMPAIGNS |= {(name, find(name).policies[0]) for name in LARGE}
DECLARING = [instance.name for instance in shipped() if instance.must_reach]
CASES = [(i.name, policy) for i in shipped() for policy in i.policies]


SMALL = 4_000
"""States of an instance up to which it is searched every day, whatever is recorded."""


def is_small(case: tuple[str, str]) -> bool:
    name, policy = case
    return COUNTS[name][policy][0] < SMALL


@recorded
@pytest.mark.parametrize(("name", "policy"), sampled(daily(CASES, lambda case: case not in FOR_CAMPAIGNS), is_small))
def test_numbers_and_verdicts(name: str, policy: str) -> None:
    instance = find(name)
    result = full_search(name, policy)
    assert [result.states, result.transitions, result.depth] == COUNTS[name][policy]
    assert result.complete
    assert result.stored == result.states
    failed = {f.property for f in result.findings.values() if f.failed and f.kind == "always"}
    if instance.faults.any:
        assert failed
    else:
        assert failed == set(instance.must_fail)


@recorded
@pytest.mark.parametrize("name", daily(DECLARING, lambda name: name not in {name for name, _ in FOR_CAMPAIGNS}))
def test_an_instance_reaches_what_it_declares(name: str) -> None:
    """Under one of its policies at least."""
    found = [full_search(name, policy) for policy in find(name).policies]
    reached = {rule for each in found for rule, times in each.rules.items() if times}
    reached |= {property for each in found for property, finding in each.findings.items() if finding.exercised}
    assert reached >= set(find(name).must_reach)


def test_every_shipped_instance_is_counted() -> None:
    assert {(name, policy) for name in COUNTS for policy in COUNTS[name]} == set(CASES)


@pytest.mark.parametrize("name", sorted(NAIVE))
def test_the_naive_search_found_the_same(name: str) -> None:
    assert NAIVE[name] == COUNTS[name]


@pytest.mark.parametrize(
    ("name", "policy"),
    daily([c for c in CASES if max(COUNTS[c[0]][c[1]]) < 13_000], lambda case: max(COUNTS[case[0]][case[1]]) < 4_000),
)
def test_the_plain_search_finds_the_same(name: str, policy: str) -> None:
    """Same model, no columns, with faults and predicate filters too: what the explorer adds changes nothing."""
    plain = plain_search(world(find(name), policy))
    assert [plain.states, plain.transitions, plain.depth] == COUNTS[name][policy]


def test_at_least_three_instances_are_large() -> None:
    large = {name for name in COUNTS if any(500_000 <= c[0] <= 5_000_000 for c in COUNTS[name].values())}
    assert len(large) >= 3


def test_every_rule_fires_somewhere() -> None:
    fired: set[str] = set()
    for name in ("tiny", "line3", "unadv3", "cross3", "equal3", "duplicate3"):
        for policy in find(name).policies:
            fired |= {rule for rule, times in full_search(name, policy).rules.items() if times}
    fired |= {r for r, times in full_search("star4", "packing").rules.items() if times}
    assert fired == set(rules_that_fire("routing"))


def test_every_rule_of_pruning_fires_somewhere() -> None:
    fired: set[str] = set()
    for name in (
        "prune3",
        "reach4",
        "larger3",
        "back2",
        "hold3",
        "return3",
        "collects3",
        "behind3",
        "adverts3",
        "newcomer3",
        "arrived3",
    ):
        fired |= {rule for rule, times in full_search(name, "selective").rules.items() if times}
    assert fired >= set(rules_that_fire("pruning"))
