"""The attack on the mended move, in part daily: nothing is lost or doubled, and every map is a fresh network's."""

from collections.abc import Iterable

import pytest

from routeproof.model.mesh.parameters import READINGS
from routeproof.spec.catalogues import CLAIMS
from routeproof.spec.mesh.claims import MESH_CLAIMS
from tests.campaigns import daily
from tests.mesh.attack import TREES, Attack, attacks, sampled, search

DAILY, MOST = 6, 60_000
"""Combinations of a daily part, and states of one search: what is not searched by then is cut off."""
PARTS = 20


def broken(part: Iterable[Attack]) -> list[tuple[Attack, list[str]]]:
    found = [(each, each.search(MOST)) for each in part]
    failed = [(each, [f.property for f in r.findings.values() if f.kind == "always" and f.failed]) for each, r in found]
    return [(each, properties) for each, properties in failed if properties]


def test_three_brokers() -> None:
    """Every 20th of all combinations; the rest in a campaign."""
    assert not broken(list(attacks(3, 9, 3))[::20])


@pytest.mark.parametrize("part", daily(range(PARTS), lambda part: False))
def test_four_brokers_with_a_link_and_a_subscriber(part: int) -> None:
    assert not broken(list(attacks(4, 1, 1))[part::PARTS])


@pytest.mark.parametrize("size", [4, 5, 6])
def test_larger_ones_at_random(size: int) -> None:
    assert not broken(sampled(size, 2, 2, DAILY if size == 4 else 1, seed=size))


@pytest.mark.campaign
@pytest.mark.parametrize("size", [4, 5, 6])
def test_many_larger_ones_at_random(size: int) -> None:
    assert not broken(sampled(size, 3, 3, 200, seed=size))


def test_the_attack_succeeds_where_a_reading_is_the_papers() -> None:
    """The same engine finds what the claims say of the letter."""
    table = Attack(TREES[3][0], (1, 3), 2, (), (3, 1), 2).table
    table["mesh"] |= {"entering": "by-tables"}
    assert search(table, MOST).findings["NoDuplicate"].failed


def test_each_claim_that_fails_is_a_reading_with_a_repair() -> None:
    for claim in MESH_CLAIMS:
        assert CLAIMS[claim.id] == claim
        if claim.verdict == "fails":
            assert claim.trace
            assert claim.repair is not None
            [(name, value)] = claim.repair.readings.items()
            assert READINGS[name][0] == value
            assert claim.repair.holds in CLAIMS
