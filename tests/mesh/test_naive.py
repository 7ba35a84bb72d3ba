"""The naive search of the mesh: states, transitions, depth and verdicts are those of the explorer."""

import tomllib
from random import Random
from typing import Any

import pytest

from routeproof.checker.explore import explore
from routeproof.model.instance_file import to_table
from routeproof.model.protocols import world
from tests.campaigns import daily
from tests.checker.explore.test_counts import COUNTS
from tests.mesh.conftest import INSTANCES
from tests.mesh.drawn import network
from tests.mesh.naive import Mesh
from tests.naive.instances import instance_of
from tests.naive.search import Result, search

TABLES = {path.stem: tomllib.loads(path.read_text(encoding="utf-8")) for path in sorted(INSTANCES.glob("*.toml"))}
NAMES = [name for name, table in TABLES.items() if "moves" not in table["mesh"] and name != "toward5"]
"""Moves are not in the naive search; nor is the reading under which an anchor leaves the map."""
SMALL, DRAWN = 16_000, 6_000
"""The most states that are searched daily, and in networks drawn at random."""


def naive(table: dict[str, Any]) -> Result:
    return search(Mesh(instance_of(table), table["mesh"]))


@pytest.mark.parametrize("name", daily(NAMES, lambda name: COUNTS[name]["none"][0] <= SMALL))
def test_numbers_and_verdicts(name: str) -> None:
    result = naive(TABLES[name])
    assert result.numbers == COUNTS[name]["none"]
    assert set(result.violated) == set(TABLES[name].get("must_fail", ()))


@pytest.mark.parametrize("seed", daily(range(60), lambda seed: seed < 4))
def test_networks_drawn_at_random(seed: int) -> None:
    """The first network of the seed that is small enough."""
    draw = Random(seed)
    instances = (network(draw, most=5 - seed % 2, moves=0, operations=1, rounds=seed % 2) for _ in range(100))
    searches = ((each, explore(world(each, "none"), max_states=DRAWN)) for each in instances)
    instance, found = next((each, found) for each, found in searches if found.complete)
    result = naive(to_table(instance))
    assert result.numbers == [found.states, found.transitions, found.depth]
    assert not result.violated


@pytest.mark.parametrize("name", ["line5", "rounds4"])
def test_a_difference_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.mesh.naive.MeshStep.down", lambda *_: None)
    monkeypatch.setattr("tests.mesh.naive.MeshStep.last", lambda step, c, among: step.path(c)[1])
    assert naive(TABLES[name]).numbers != COUNTS[name]["none"]
