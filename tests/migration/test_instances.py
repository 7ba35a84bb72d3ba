"""The table `[migration]` of an instance: read, written, and refused where it is wrong."""

import tomllib
from importlib.resources import files
from types import SimpleNamespace

import pytest

from routeproof.checker.instances import find, shipped
from routeproof.model.history import WorldEvent
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


def test_the_first_delivery_that_was_overtaken() -> None:
    ledger = world(find("move3"), "active").ledger
    [ghost], [p, q, *_], [s, *_] = DEFINITION.ghosts, ledger.instance.publications, ledger.instance.subscriptions
    event = WorldEvent(None, "", (Deliver(p, s),), True)
    seen = ghost.sees(ledger, event)
    assert ghost.sees(ledger, WorldEvent(None, "", (), True)) is None
    for delivered, found in ((0, ()), (ledger.pair(q.rank, s.rank), (p.id, q.id, s.id))):
        assert ghost.after(ledger, (), seen, SimpleNamespace(delivered=delivered)) == found
    both = ghost.sees(ledger, WorldEvent(None, "", (Deliver(q, s), Deliver(p, s)), True))
    assert ghost.after(ledger, (), both, SimpleNamespace(delivered=0)) == (p.id, q.id, s.id)
    assert ghost.after(ledger, ("an", "earlier", "one"), both, SimpleNamespace(delivered=0)) == ("an", "earlier", "one")
