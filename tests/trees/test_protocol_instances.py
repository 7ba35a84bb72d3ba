"""The table `[trees]` of an instance, and the clusters of subscriptions: read, written, and refused where wrong."""

import tomllib
from importlib.resources import files
from pathlib import Path

import pytest

from routeproof.checker.explore import explore
from routeproof.checker.instances import find, shipped
from routeproof.model.instance_file import InstanceError, parse_instance, to_table
from routeproof.model.protocols import world

PARTS3 = files("routeproof.model.trees").joinpath("instances", "parts3.toml").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", [each.name for each in shipped() if each.protocol == "trees"])
def test_an_instance_is_what_is_written_of_it(name: str) -> None:
    instance = find(name)
    assert parse_instance(to_table(instance), "again") == instance


def test_nodes_channels_and_operations() -> None:
    asked = world(find("again3"), "none")
    assert [asked.name(node) for node in asked.nodes] == ["b1", "b2", "b3", "coordinator"]
    assert asked.links == (
        (1, 2),
        (1, 3),
        (1, 4),
        (2, 1),
        (2, 3),
        (2, 4),
        (3, 1),
        (3, 2),
        (3, 4),
        (4, 1),
        (4, 2),
        (4, 3),
    )
    rows = {o.label: o for o in asked.ledger.operations}
    assert rows["switch(2)"].after == rows["compute(2)"].bit
    assert rows["compute(2)"].after == rows["switch(1)"].bit


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        (
            "links = [[1, 3]]",
            "",
            "trees.strategies[1][2][2]: found link [1, 3]; expected a link of the overlay, or one of",
        ),
        ("links = [[1, 3]]", "links = [[1, 1]]", "trees.links[1]: found link [1, 1]; expected two different brokers"),
        ("links = [[1, 3]]", "links = [[1, 4]]", "trees.links[1][2]: found broker 4; expected a broker of the overlay"),
        ("[[1, 2], [1, 3]]]", "[[1, 2]]]", "trees.strategies[1][2]: the tree does not reach every broker"),
        (
            "[[1, 2], [1, 3]]]",
            "[[1, 2], [2, 3], [1, 3]]]",
            "trees.strategies[1][2]: the tree has a cycle through brokers",
        ),
        ("[[1, 2], 1]", "[[1, 3], 1]", "trees: subscription s is in cluster 3 of a strategy of 2 trees"),
        ("[[1, 2], 1]", "[1]", "trees: subscription s has clusters of 1 strategies; expected 2"),
        ("[[1, 2], 1]", "[[1, 1], 1]", "subscription[1].clusters[1][2]: found 1 a second time; expected each once"),
        ("[trees]", '[trees]\nnext = "soon"', 'trees.next: found "soon"; expected one of torn-down, any-time'),
        ("[trees]", "[trees]\nspeed = 3", 'trees: found the unknown key "speed"'),
    ],
)
def test_what_is_wrong_is_refused_in_one_line(old: str, new: str, what: str) -> None:
    assert old in PARTS3
    with pytest.raises(InstanceError) as refused:
        parse_instance(tomllib.loads(PARTS3.replace(old, new)), "x.toml")
    assert what in str(refused.value)
    assert "\n" not in str(refused.value)


def test_clusters_of_strategies_that_there_are_not_are_refused_without_the_table_too() -> None:
    text = PARTS3[: PARTS3.index("[trees]")] + PARTS3[PARTS3.index("[[advertisement]]") :]
    with pytest.raises(InstanceError, match="has clusters of 2 strategies; expected 1"):
        parse_instance(tomllib.loads(text), "x.toml")


def test_a_link_that_the_overlay_has_adds_nothing() -> None:
    again = parse_instance(tomllib.loads(PARTS3.replace("[[1, 3]]\ns", "[[3, 1], [1, 3], [2, 1]]\ns")), "x.toml")
    assert again.section("trees") == find("parts3").section("trees")


def test_the_instance_of_the_guide_is_safe_and_unsafe_without_markers() -> None:
    page = (Path(__file__).parents[2] / "docs/howto/switch-strategies.md").read_text(encoding="utf-8")
    text = page.partition("```toml\n")[2].partition("```")[0]
    failed = []
    for each in (text, text.replace("[trees]", '[trees]\ntorn = "acknowledged"')):
        found = explore(world(parse_instance(tomllib.loads(each), "mine"), "none")).findings
        failed.append({id for id, finding in found.items() if finding.failed and finding.kind == "always"})
    assert failed[0] == set()
    assert "NoLostDelivery" in failed[1]
