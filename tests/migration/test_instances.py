"""The table `[migration]` of an instance: read, written, and refused where it is wrong."""

import tomllib
from importlib.resources import files
from types import SimpleNamespace
from typing import Any

import pytest

from routeproof.checker.instances import find, shipped
from routeproof.model.history import WorldEvent
from routeproof.model.instance import Instance
from routeproof.model.instance_file import InstanceError, parse_instance, to_table
from routeproof.model.messages import Deliver, Publish, Unadvertise
from routeproof.model.migration.definition import DEFINITION
from routeproof.model.migration.vocabulary import MigrationTables, Publisher, Relocate
from routeproof.model.overlay import LOCAL
from routeproof.model.protocol import NOTHING_KEPT, Kept
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


def test_what_a_publisher_takes() -> None:
    """Readings `publishes` and `waits`; what comes from a broker is always taken."""
    for name, refused in (("move3", ""), ("calm3", "at home"), ("silent2", "paused")):
        asked = world(find(name), "active")
        [advertiser], client = asked.instance.advertisers, asked.nodes[-1]
        publish, withdraw = Publish(asked.instance.publications[0]), Unadvertise(advertiser.advertisement)
        states = {"at home": Publisher(advertiser.at), "elsewhere": Publisher(advertiser.at % 2 + 1)}
        states["paused"] = Publisher(advertiser.at % 2 + 1, paused=True)
        for said, local in states.items():
            assert asked.protocol.accepts(client, local, LOCAL, publish) == (said != refused)
            assert asked.protocol.accepts(client, local, LOCAL, withdraw) == (said != refused or said == "at home")
            assert asked.protocol.accepts(client, local, 1, publish)
        assert asked.protocol.accepts(1, MigrationTables(), LOCAL, publish)


def test_what_nodes_keep() -> None:
    asked = world(find("move3"), "active")
    [a], [p, *_], kept = asked.instance.advertisements, asked.instance.publications, asked.protocol.kept
    assert kept(MigrationTables()) == kept(Publisher(1)) == NOTHING_KEPT
    assert kept(MigrationTables(waiting=((a, (2, 1)),))) == Kept(True, frozenset())
    assert kept(Publisher(1, held=(Publish(p),))) == Kept(False, frozenset((p.id,)))
    assert kept(Publisher(1, held=(Publish(p), Unadvertise(a)))) == Kept(True, frozenset((p.id,)))


TWO: dict[str, Any] = {
    "name": "x",
    "protocol": "migration",
    "policy": "active",
    "overlay": [[1, 2], [2, 3]],
    "advertisement": [{"id": id, "at": at, "events": [0], "unadvertises": True} for id, at in (("a", 1), ("b", 2))],
    "subscription": [{"id": id, "at": 3, "events": [0]} for id in "st"],
    "publication": [
        {"id": id, "of": of, "event": 0} for id, of in (("p1", "a"), ("p2", "b"), ("p3", "a"), ("p4", "a"))
    ],
}


def two(**table: object) -> Instance:
    moves = [{"publisher": id, "to": to} for id, to in (("b", 3), ("a", 2), ("a", 3), ("b", 1))]
    return parse_instance({**TWO, "migration": {"moves": moves, **table}}, "x")


@pytest.mark.parametrize("given", [{}, {"refuses": [3, 1]}, {"removal": "at-once", "enters": "any-time"}])
def test_what_is_not_the_default_is_written(given: dict[str, object]) -> None:
    written: Any = to_table(two())["migration"]
    moves = written["moves"]
    assert to_table(two(**given))["migration"] == {**given, "moves": moves}
    assert len(moves) == 4


def test_without_publishers_nothing_moves() -> None:
    table = {**TWO, "advertisement": [], "publication": [], "migration": {"moves": [{"publisher": "a", "to": 2}]}}
    with pytest.raises(InstanceError, match="the id of an advertisement, of which there is none"):
        parse_instance(table, "x")


def test_operations_of_two_publishers() -> None:
    rows = {row.label: (row.node, row.after) for row in DEFINITION.operations(two())}
    assert {label: row for label, row in rows.items() if label.startswith("move")} == {
        "move(b)": (2, "advertise(b)"),
        "move(a)": (1, "advertise(a)"),
        "move(a, 2)": (2, "move(a)"),
        "move(b, 2)": (3, "move(b)"),
    }
    published = {label: after for label, (_, after) in rows.items() if label.startswith("publish")}
    assert published == {
        "publish(p1)": "advertise(a)",
        "publish(p2)": "advertise(b)",
        "publish(p3)": "publish(p1)",
        "publish(p4)": "publish(p3)",
    }
    one = parse_instance({**TWO, "migration": {"moves": [{"publisher": "b", "to": 3}]}}, "x")
    asked = world(one, "active")
    assert [asked.name(node) for node in asked.nodes] == ["b1", "b2", "b3", "client-b"]
    assert [link for link in asked.links if 4 in link] == [(2, 4), (3, 4), (4, 2), (4, 3)]


def test_tables_have_the_old_hops_of_several_publishers() -> None:
    a, b = two().advertisements
    tables = MigrationTables().with_draining(b, 2).with_draining(a, 1)
    assert tables.draining == ((a, 1), (b, 2))
    assert [tables.draining_from(each) for each in (a, b)] == [1, 2]
    assert tables.with_draining(a, 3).draining == ((a, 3), (b, 2))
    assert tables.without_draining(a).draining == ((b, 2),)
    assert MigrationTables().with_waiting(b, (3, 2)).with_waiting(a, (3, 1)).waiting == ((a, (3, 1)), (b, (3, 2)))


@pytest.mark.parametrize(
    ("before", "seen", "found"),
    [
        *(
            ("", "p1s", ()),
            ("p2s", "p1s", ()),
            ("p3t", "p1s", ()),
            ("p1s", "p3s", ()),
            ("p3s", "p1s", ("p1", "p3", "s")),
        ),
        *(("p4s p3s", "p1s", ("p1", "p3", "s")), ("p3s p4t", "p1s p3t", ("p1", "p3", "s"))),
        *(("p3s p4t", "p3t p1s", ("p3", "p4", "t")), ("", "p3s p1s", ("p1", "p3", "s")), ("", "p1s p3s", ())),
    ],
)
def test_the_first_delivery_that_was_overtaken(before: str, seen: str, found: tuple[str, ...]) -> None:
    ledger = world(two(), "active").ledger
    named = {p.id + s.id: (p, s) for p in ledger.instance.publications for s in ledger.instance.subscriptions}
    delivered = sum(ledger.pair(*(each.rank for each in named[pair])) for pair in before.split())
    [ghost] = DEFINITION.ghosts
    event = WorldEvent(None, "", tuple(Deliver(*named[pair]) for pair in seen.split()), True)
    met = ghost.sees(ledger, event)
    assert ghost.after(ledger, (), met, SimpleNamespace(delivered=delivered)) == found
    assert ghost.after(ledger, ("an", "earlier", "one"), met, SimpleNamespace(delivered=0)) == ("an", "earlier", "one")
    assert ghost.sees(ledger, WorldEvent(None, "", (), True)) is None
