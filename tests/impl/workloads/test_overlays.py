"""The overlays of the papers."""

from collections import Counter

import pytest

from routeproof.impl.workloads.controlled import Controlled, Controlled001
from routeproof.impl.workloads.workload import balanced, core_chain, domains, star, tiered
from routeproof.model.overlay import Overlay


@pytest.mark.parametrize(("recipe", "inner", "edges"), [(Controlled(), 20, 29), (Controlled001(), 23, 32)])
def test_the_core_chain(recipe: Controlled, inner: int, edges: int) -> None:
    chain = core_chain(recipe.brokers, recipe.inner, recipe.publishers)
    overlay = chain.overlay
    assert len(overlay.brokers) == recipe.brokers == inner + edges
    assert list(chain.core.values()) == ["A", "B", "C", "D", "E"]
    assert overlay.path(1, 5) == (1, 2, 3, 4, 5)
    leaves = {b for b in overlay.brokers if len(overlay.neighbours(b)) == 1}
    assert leaves == {*chain.publishers, *chain.subscribers}
    assert len(leaves) == edges
    assert [overlay.neighbours(b) for b in chain.publishers] == [(5,)] * 3
    below = Counter(overlay.path(b, 5)[2] if overlay.path(b, 5)[2:] else 5 for b in chain.subscribers)
    assert sum(below.values()) == edges - 3


def test_other_overlays() -> None:
    assert balanced(7, 2) == Overlay.of([(1, 2), (1, 3), (2, 4), (2, 5), (3, 6), (3, 7)])
    assert len(balanced(63, 2).path(1, 63)) == 6
    assert len(balanced(85, 4).path(1, 85)) == 4
    assert star(17).neighbours(1) == tuple(range(2, 18))


def test_domains_are_trees_whose_roots_are_a_chain() -> None:
    there = domains(4, 10, 3)
    overlay = there.overlay
    assert overlay.path(1, 31) == (1, 11, 21, 31)
    for domain in there.regions:
        levels = Counter(len(overlay.path(domain[0], broker)) for broker in domain)
        assert levels == {1: 1, 2: 3, 3: 6}


def test_regions_are_trees_below_one_core() -> None:
    there = tiered(4, 3, 4)
    overlay = there.overlay
    assert Counter(len(overlay.path(1, broker)) for broker in overlay.brokers) == {1: 1, 2: 4, 3: 12, 4: 36}
    assert overlay.neighbours(1) == tuple(region[0] for region in there.regions)
    for region in there.regions:
        assert all(overlay.path(1, broker)[1] == region[0] for broker in region)
