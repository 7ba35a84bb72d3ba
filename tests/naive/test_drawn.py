"""The explorer against the naive search on drawn instances: the same numbers, and the same properties that fail."""

from functools import cache

import pytest

from routeproof.checker.evaluation import Result
from routeproof.checker.explore import explore
from routeproof.model.instance_file import parse_instance
from routeproof.model.protocols import world
from tests.campaigns import daily
from tests.naive.drawn import drawn
from tests.naive.instances import instance_of
from tests.naive.search import search
from tests.naive.systems import system

STATES = 10_000
"""Larger instances are left out."""
DAILY, ALL = 8, 250
UNJUDGED = {"CriticalBroker"}


@cache
def explored(protocol: str, seed: int) -> Result:
    table = drawn(protocol, seed)
    return explore(world(parse_instance(table, table["name"]), table["policy"]), max_states=STATES)


@pytest.mark.parametrize("protocol", ["routing", "pruning", "migration", "trees"])
@pytest.mark.parametrize("seed", daily(range(ALL), lambda seed: seed < DAILY))
def test_both_searches_find_the_same(protocol: str, seed: int) -> None:
    table, result = drawn(protocol, seed), explored(protocol, seed)
    if result.complete:
        naive = search(system(instance_of(table), table["policy"]))
        assert naive.numbers == [result.states, result.transitions, result.depth]
        failed = {f.property for f in result.findings.values() if f.failed and f.kind != "sometimes"}
        assert set(naive.violated) == failed - UNJUDGED


@pytest.mark.parametrize("protocol", ["routing", "pruning", "migration", "trees"])
def test_a_third_of_the_drawn_instances_is_searched(protocol: str) -> None:
    assert sum(explored(protocol, seed).complete for seed in range(DAILY)) >= DAILY / 3
