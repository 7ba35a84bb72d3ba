"""The naive search of the mesh: states, transitions, depth and verdicts are those of the explorer."""

import tomllib
from random import Random
from typing import Any

import pytest

from routeproof.checker.explore import explore
from routeproof.model.instance_file import parse_instance, to_table
from routeproof.model.mesh.parameters import parameters_of
from routeproof.model.protocols import world
from tests.campaigns import daily
from tests.checker.explore.test_counts import COUNTS
from tests.mesh.conftest import INSTANCES
from tests.mesh.drawn import network
from tests.mesh.naive import Mesh
from tests.mesh.naive_moves import MovingMeshes
from tests.naive.instances import instance_of
from tests.naive.search import Result, search

TABLES = {path.stem: tomllib.loads(path.read_text(encoding="utf-8")) for path in sorted(INSTANCES.glob("*.toml"))}
MOVES = {name for name, table in TABLES.items() if {"moves", "advance"} & set(table["mesh"])}
"""Where brokers move, or an anchor leaves the map, each broker needs a map of its own."""
SMALL, DRAWN = 16_000, 6_000
"""The most states that are searched daily, and in networks drawn at random."""
SMALL_MOVES = 4_000


def naive(table: dict[str, Any]) -> Result:
    kind = MovingMeshes if {"moves", "advance"} & set(table["mesh"]) else Mesh
    return search(kind(instance_of(table), table["mesh"]))


@pytest.mark.parametrize(
    "name", daily(TABLES, lambda name: COUNTS[name]["none"][0] <= (SMALL_MOVES if name in MOVES else SMALL))
)
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


def test_a_link_off_the_ring_is_closed_during_a_move() -> None:
    """By a first reading of the page, a broker waited in the first wave only until its closed links were drained."""
    overlay = {"overlay": [[1, 2], [2, 3], [3, 4], [4, 5]], "advertisement": [{"id": "a", "at": 3, "events": [0]}]}
    mesh = {"radius": 2, "soft": [[3, 5]], "closes": [[3, 5]], "moves": [[1, 3]]}
    table = {"name": "off-ring5", "protocol": "mesh", "policy": ["none"], **overlay, "mesh": mesh}
    found = explore(world(parse_instance(table, "off-ring5"), "none"))
    assert naive(table).numbers == [found.states, found.transitions, found.depth]


@pytest.mark.parametrize("seed", daily(range(40), lambda seed: seed in (1, 3)))
def test_networks_in_which_brokers_move(seed: int) -> None:
    """The first network of the seed with a move that is small enough."""
    draw = Random(seed)
    instances = (network(draw, most=4, operations=1, clients=1) for _ in range(200))
    moving = (each for each in instances if parameters_of(each).moves)
    searches = ((each, explore(world(each, "none"), max_states=DRAWN)) for each in moving)
    instance, found = next((each, found) for each, found in searches if found.complete)
    result = naive(to_table(instance))
    assert result.numbers == [found.states, found.transitions, found.depth]
    assert not result.violated


def test_a_difference_in_moves_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.mesh.naive_moves.MovingStep.over", lambda *_: False)
    assert naive(TABLES["move4"]).numbers != COUNTS["move4"]["none"]


@pytest.mark.parametrize("name", ["line5", "rounds4"])
def test_a_difference_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.mesh.naive.MeshStep.down", lambda *_: None)
    monkeypatch.setattr("tests.mesh.naive.MeshStep.last", lambda step, c, among: step.path(c)[1])
    assert naive(TABLES[name]).numbers != COUNTS[name]["none"]
