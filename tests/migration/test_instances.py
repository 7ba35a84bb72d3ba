"""The table `[migration]` of an instance: read, written, and refused where it is wrong."""

import tomllib
from importlib.resources import files

import pytest

from routeproof.checker.instances import find, shipped
from routeproof.model.instance_file import InstanceError, parse_instance, to_table
from routeproof.model.migration.vocabulary import Relocate
from routeproof.model.protocols import world

MOVE3 = files("routeproof.model.migration").joinpath("instances", "move3.toml").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", [each.name for each in shipped() if each.protocol == "migration"])
def test_an_instance_is_what_is_written_of_it(name: str) -> None:
    instance = find(name)
    assert parse_instance(to_table(instance), "again") == instance


def test_nodes_channels_and_operations() -> None:
    asked = world(find("return2"), "active")
    assert [asked.name(node) for node in asked.nodes] == ["b1", "b2", "client-a"]
    assert asked.links == ((1, 2), (1, 3), (2, 1), (2, 3), (3, 1), (3, 2))
    rows = {o.label: o for o in asked.ledger.operations}
    moves = [rows["move(a)"], rows["move(a, 2)"]]
    assert [(o.node, o.message.path) for o in moves if isinstance(o.message, Relocate)] == [(1, (2, 1)), (2, (1, 2))]
    assert rows["publish(q)"].after == rows["publish(p)"].bit


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ('publisher = "a"', 'publisher = "z"', 'migration.moves[1].publisher: found "z"; expected an advertisement: a'),
        ("to = 3", "to = 4", "migration.moves[1].to: found 4; expected a whole number from 1 to 3"),
        (
            "moves = [{",
            'removal = "later"\nmoves = [{',
            'migration.removal: found "later"; expected one of drained, at-once',
        ),
        (
            "moves = [{",
            "refuses = [2, 2]\nmoves = [{",
            "migration.refuses[2]: found 2 a second time; expected each once",
        ),
        ("moves = [{", "speed = 3\nmoves = [{", 'migration: found the unknown key "speed"'),
        ('moves = [{ publisher = "a", to = 3 }]', "moves = []", "migration.moves: found an empty list"),
    ],
)
def test_what_is_wrong_is_refused_in_one_line(old: str, new: str, what: str) -> None:
    assert old in MOVE3
    with pytest.raises(InstanceError) as refused:
        parse_instance(tomllib.loads(MOVE3.replace(old, new)), "x.toml")
    assert what in str(refused.value)
    assert "\n" not in str(refused.value)
