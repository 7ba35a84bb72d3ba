"""The attack on moves in settled networks: its record, a part of it again, and what it finds by the paper's letter."""

from random import Random

import pytest

from tests.campaigns import daily
from tests.mesh.attack import TREES
from tests.mesh.settled import Kind, Scene, drawn, recorded, scenes

LINE = TREES[4][0]
SEARCHED: dict[tuple[int, Kind, str, str], int] = {
    (3, "publication", "accepted", "S2"): 99,
    (3, "control", "accepted", "S2"): 99,
    (3, "publication", "refused", "S2"): 99,
    (3, "control", "refused", "S2"): 99,
    (3, "publication", "accepted", "S1"): 99,
    (3, "both", "accepted", "S2"): 99,
    (3, "both", "refused", "S2"): 99,
    (4, "publication", "accepted", "S2"): 99,
    (4, "control", "accepted", "S2"): 99,
    (4, "publication", "refused", "S2"): 0,
}
"""Brokers, what is in flight, the answer to the mover, and the strategy; and up to how many soft links all scenes were
searched to the end.
"""
EVERY = [
    scene
    for (size, kind, answer, strategy), links in SEARCHED.items()
    for scene in scenes(size, kind, links, refuses=answer == "refused", strategy=strategy)
]
DAILY = 30_000
"""States of a search that is repeated daily."""


def test_what_was_searched_to_the_end() -> None:
    """Nothing fails in any of these scenes, nor in further ones that are recorded."""
    record = recorded()
    assert {str(scene) for scene in EVERY} <= set(record)
    assert all(is_complete and not failed for _, is_complete, failed in record.values())


@pytest.mark.parametrize(
    "scene",
    daily(EVERY, lambda scene: scene in EVERY[:12:4] or (scene in EVERY[20::80] and recorded()[str(scene)][0] < DAILY)),
    ids=str,
)
def test_a_search_gives_what_is_recorded(scene: Scene) -> None:
    assert scene.search() == recorded()[str(scene)]


@pytest.mark.campaign
@pytest.mark.parametrize("size", [5, 6])
def test_larger_scenes_at_random(size: int) -> None:
    for seed in range(40):
        _, _, failed = (scene := drawn(Random(seed), size)).search(600_000)
        assert not failed, scene


def test_scenes_are_counted_up_to_names() -> None:
    assert [len(scenes(size, "publication", 0)) for size in (3, 4, 5)] == [1, 7, 36]
    assert [len(scenes(4, "publication", links)) for links in (1, 2, 99)] == [45, 132, 352]


@pytest.mark.parametrize(
    ("scene", "property"),
    [
        (Scene(TREES[3][0], (1, 3), 2, (), "publication", readings=(("entering", "by-tables"),)), "NoDuplicate"),
        (Scene(TREES[3][0], (1, 3), 2, (), "publication", readings=(("cut", "confirmed"),)), "NoLostDelivery"),
        (Scene(TREES[3][0], (1, 3), 2, (), "control", readings=(("control", "sent"),)), "AnchorsFresh"),
        (Scene(LINE, (1, 3), 2, ((4, 2),), "publication", readings=(("dropped", "mover"),)), "NoLostDelivery"),
        pytest.param(
            Scene(LINE, (1, 3), 2, ((4, 2),), "both", readings=(("drained", "closed-now"),)),
            "NoLostDelivery",
            marks=pytest.mark.campaign,
        ),
    ],
    ids=str,
)
def test_the_attack_succeeds_where_a_reading_is_the_papers(scene: Scene, property: str) -> None:
    assert property in scene.search(400_000)[2]
