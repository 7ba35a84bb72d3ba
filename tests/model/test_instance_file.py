"""Instance files: what is read is what was written, and whatever is malformed is refused in one line."""

import json
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from routeproof.checker.instances import folders
from routeproof.model.filters import EventSet
from routeproof.model.instance import Advertiser, Faults, Instance, Subscriber, core_operations
from routeproof.model.instance_file import InstanceError, parse_instance, to_table
from routeproof.model.messages import Advertisement, Publication, Subscription
from routeproof.model.overlay import Overlay
from routeproof.model.protocols import policies_for
from routeproof.model.pruning.definition import again, congested, issued_again, parameters
from routeproof.model.reading import BROKERS
from tests.model.malformed import GOOD, MALFORMED, PREDICATES, PRUNED

SHIPPED = sorted(
    (path for folder in folders() for path in Path(str(folder)).glob("*.toml")), key=lambda path: path.name
)
quick = settings(derandomize=True, max_examples=300, deadline=None)


def parse(text: str) -> Instance:
    return parse_instance(tomllib.loads(text), "x.toml")


# -- what is read ------------------------------------------------------------------------------------------------------


def test_every_key_is_read() -> None:
    about = 'about = "why"\ndialect = "strict"\nmust_reach = ["SomeDelivery"]\nmust_fail = ["Precise"]\n'
    instance = parse(about + GOOD.replace('"active"', '["lazy", "none"]') + "[faults]\nloss = 1\nreorder = 2\n")
    one, both = EventSet.of([0]), EventSet.of([0, 1])
    assert instance == Instance(
        name="good",
        overlay=Overlay.line(3),
        advertisers=(Advertiser(Advertisement(0, "a", both), at=3),),
        subscribers=(
            Subscriber(Subscription(0, "S", both), at=1, unsubscribes=True),
            Subscriber(Subscription(1, "s", one), at=2),
        ),
        publications=(Publication(0, "p", "a", 0),),
        protocol="routing",
        policies=("lazy", "none"),
        dialect="strict",
        faults=Faults(loss=1, reorder=2),
        must_reach=("SomeDelivery",),
        must_fail=("Precise",),
        about="why",
    )


def test_clients_may_be_left_out() -> None:
    instance = parse('name = "x"\nprotocol = "routing"\npolicy = "none"\noverlay = []\n')
    assert instance.overlay.brokers == (1,)
    assert not instance.advertisers + instance.subscribers + instance.publications


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_what_ships_survives_a_round_trip_through_json(path: Path) -> None:
    instance = parse_instance(tomllib.loads(path.read_text(encoding="utf-8")), path.name)
    assert instance.name == path.stem
    assert instance.about
    assert parse_instance(json.loads(json.dumps(to_table(instance))), "again") == instance


def test_predicates_survive_a_round_trip() -> None:
    instance = parse(PREDICATES)
    table = json.loads(json.dumps(to_table(instance)))
    assert table["subscription"][0]["filter"] == [["volume", ">", 1000]]
    assert parse_instance(table, "again") == instance


def test_pruning_survives_a_round_trip() -> None:
    instance = parse(PRUNED)
    assert parameters(instance, "incremental").cuts == (1, 2)
    assert again(instance.subscribers[0]) == 2
    assert issued_again(instance, instance.subscribers[0]).id == "S'"
    assert congested(instance) == (1,)
    assert parse_instance(json.loads(json.dumps(to_table(instance))), "again") == instance
    assert policies_for(instance) == ("incremental",), "selective has one threshold"


@st.composite
def instances(draw: Callable[[st.SearchStrategy[Any]], Any]) -> Instance:
    size = draw(st.integers(1, 6))
    overlay = Overlay.of((draw(st.integers(1, b - 1)), b) for b in range(2, size + 1))
    sets, homes = st.sets(st.integers(0, 62), min_size=1, max_size=5), st.integers(1, size)
    advertisers = tuple(
        Advertiser(Advertisement(i, f"a{i}", EventSet.of(draw(sets))), draw(homes), draw(st.booleans()))
        for i in range(draw(st.integers(0, 3)))
    )
    subscribers = tuple(
        Subscriber(Subscription(i, f"s{i}", EventSet.of(draw(sets))), draw(homes), draw(st.booleans()))
        for i in range(draw(st.integers(0, 3)))
    )
    promised = [(a.advertisement.id, e) for a in advertisers for e in a.advertisement.filter.to_json()]
    chosen = draw(st.lists(st.sampled_from(promised), max_size=3)) if promised else []
    publications = tuple(Publication(i, f"p{i}", of, event) for i, (of, event) in enumerate(chosen))
    faults = Faults(*(draw(st.integers(0, 8)) for _ in range(4)))
    policies = draw(st.sampled_from([("none",), ("lazy", "active"), ("none", "active", "lazy", "packing")]))
    return Instance("drawn", overlay, advertisers, subscribers, publications, policies=policies, faults=faults)


@quick
@given(instances())
def test_any_instance_survives_a_round_trip(instance: Instance) -> None:
    assert parse_instance(json.loads(json.dumps(to_table(instance))), "again") == instance


# -- what ships is what the table of the routing core says -------------------------------------------------------------

REFERENCE = """\
| tiny | line 2 | a@2:0,1 | S@1:0,1 (u), s@1:0 | p(a,0) |
| line3 | line 3 | a@3:0,1,2 | S@1:0,1 (u), s1@1:0, s2@2:1 | p(a,0) |
| cross3 | line 3 | a@3:0,1 ; b@1:0,1 | S@2:0,1 (u), s1@1:0, s2@3:1 | p(a,0) ; q(b,1) |
| star4 | star, hub 1, leaves 2,3,4 | a@2:0,1,2 | S@3:0,1,2 (u), s1@3:0 (u), s2@4:1 | p(a,0) ; q(a,1) |
| line4 | line 4 | a@4:0,1,2 | S@1:0,1,2 (u), s1@1:0, s2@2:1, s3@3:2 | p(a,0) ; q(a,2) |
| equal3 | line 3 | a@3:0 | s1@1:0 (u), s2@1:0 (u), s3@2:0 | p(a,0) |
| two4 | line 4 | a@1:0,1 ; b@4:0,1 | S@2:0,1 (u), s1@3:0 (u), s2@2:1 | p(a,0) ; q(b,1) |
"""


@pytest.mark.parametrize("row", REFERENCE.splitlines(), ids=lambda row: row.split()[1])
def test_reference_instances_are_those_of_the_table(row: str) -> None:
    name, overlay, advertisements, subscriptions, publications = (c.strip() for c in row.strip("|\n ").split(" | "))
    instance = parse(next(path for path in SHIPPED if path.stem == name).read_text(encoding="utf-8"))
    brokers = [int(n) for n in re.findall(r"\d+", overlay)]
    expected = Overlay.line(brokers[0]) if overlay.startswith("line") else Overlay.of((1, b) for b in brokers[1:])
    assert instance.overlay == expected
    clients = r"(\w+)@(\d):([\d,]*\d)( \(u\))?"
    assert re.findall(clients, advertisements) == [
        (a.advertisement.id, str(a.at), _events(a.advertisement), " (u)" * a.unadvertises) for a in instance.advertisers
    ]
    assert re.findall(clients, subscriptions) == [
        (s.subscription.id, str(s.at), _events(s.subscription), " (u)" * s.unsubscribes) for s in instance.subscribers
    ]
    assert re.findall(r"(\w)\((\w),(\d)\)", publications) == [(p.id, p.of, str(p.event)) for p in instance.publications]
    assert instance.policies == ("none", "active", "lazy", "packing")
    assert not instance.faults.any


def _events(item: Advertisement | Subscription) -> str:
    return ",".join(map(str, item.filter.to_json()))


# -- what is refused ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", MALFORMED)
def test_malformed(case: str) -> None:
    text, expected = MALFORMED[case]
    with pytest.raises(InstanceError) as refused:
        parse(text)
    message = str(refused.value)
    assert message.startswith("x.toml: ")
    assert expected in message
    assert message.isprintable(), "one line"
    assert len(message) < 400


@pytest.mark.parametrize("raw", [None, 1, "x", [], [{}], True])
def test_what_is_no_table_at_all(raw: object) -> None:
    with pytest.raises(InstanceError, match="expected a table"):
        parse_instance(raw, "x.toml")


def test_keys_that_json_does_not_know() -> None:
    table: dict[Any, object] = dict(tomllib.loads(GOOD))
    table[7] = 1
    with pytest.raises(InstanceError, match="unknown key 7"):
        parse_instance(table, "x.toml")


anything: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.dates(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@quick
@given(st.data(), st.sampled_from([GOOD, PREDICATES]), anything)
def test_anything_anywhere_is_read_or_refused(data: st.DataObject, text: str, thing: Any) -> None:
    """Put an arbitrary value somewhere into a good table."""
    table = tomllib.loads(text)
    node: Any = table
    while True:
        key = data.draw(st.sampled_from(sorted(node) if isinstance(node, dict) else range(len(node))))
        child = node[key]
        if not isinstance(child, dict | list) or not child or data.draw(st.booleans()):
            node[key] = thing
            break
        node = child
    try:
        instance = parse_instance(table, "x.toml")
    except InstanceError as error:
        message = str(error)
    else:
        assert parse_instance(to_table(instance), "again") == instance
        return
    assert message.isprintable()


# -- what is written, exactly ------------------------------------------------------------------------------------------

LEAST: dict[str, Any] = {
    "name": "x",
    "protocol": "routing",
    "policy": "none",
    "overlay": [[1, 2], [2, 3]],
    "advertisement": [{"id": "a", "at": 1, "events": [0]}],
    "subscription": [{"id": "s", "at": 2, "events": [0]}],
    "publication": [{"id": "p", "of": "a", "event": 0}],
}


@pytest.mark.parametrize(
    "more",
    [
        *({}, {"about": "words"}, {"policy": ["none", "lazy"]}, {"brokers": ["north", "b2", "south"]}),
        *({"faults": {"loss": 1, "crash": 2}}, {"must_reach": ["RTE-1"]}, {"must_fail": ["NoLostDelivery"]}),
        {"dialect": "events"},
    ],
)
def test_nothing_is_written_that_has_its_default(more: dict[str, object]) -> None:
    assert to_table(parse_instance({**LEAST, **more}, "x")) == {**LEAST, **more}


@pytest.mark.parametrize(
    ("names", "why"),
    [
        (["a", "b"], "found 2; expected 3 names, one for each broker"),
        (["a", "b", "c", "d"], "found 4; expected 3 names"),
        (["a", "b", "a"], 'brokers[3]: found "a"; expected a name that no other broker has'),
        (["a", "b", "b2"], 'brokers[3]: found "b2"; expected a name that nobody else could have'),
        (["client-a", "b", "driver"], 'brokers[1]: found "client-a"; expected a name that nobody else could have'),
    ],
)
def test_names_of_brokers_that_cannot_be(names: list[str], why: str) -> None:
    with pytest.raises(InstanceError, match=re.escape(why)):
        parse_instance({**LEAST, "brokers": names}, "x")


def test_a_broker_is_not_called_like_another_node() -> None:
    moves = {"moves": [{"publisher": "a", "to": 2}]}
    with pytest.raises(InstanceError, match=r"brokers: found .* expected names that no other node has|nobody else"):
        parse_instance({**LEAST, "protocol": "migration", "migration": moves, "brokers": ["client-a", "y", "z"]}, "x")
    trees = {"strategies": [[[[1, 2], [2, 3]]]]}
    with pytest.raises(InstanceError, match='found "coordinator"; expected names that no other node has'):
        parse_instance({**LEAST, "protocol": "trees", "trees": trees, "brokers": ["coordinator", "y", "z"]}, "x")


def test_as_many_as_may_be() -> None:
    events = {**LEAST, "advertisement": [{"id": "a", "at": 1, "events": list(range(63))}]}
    assert to_table(parse_instance(events, "x")) == events
    line = [[b, b + 1] for b in range(1, BROKERS)]
    assert len(parse_instance({**LEAST, "overlay": line}, "x").overlay.brokers) == BROKERS
    with pytest.raises(InstanceError, match=f"overlay: found {BROKERS}"):
        parse_instance({**LEAST, "overlay": [*line, [1, 2]]}, "x")


def test_operations_in_the_order_of_the_file() -> None:
    table = {
        **LEAST,
        "advertisement": [{"id": id, "at": 1, "events": [0], "unadvertises": True} for id in "ab"],
        "subscription": [{"id": id, "at": 2, "events": [0], "unsubscribes": True} for id in "st"],
        "publication": [{"id": id, "of": of, "event": 0} for id, of in ("pb", "qa")],
    }
    rows = core_operations(parse_instance({**table, "overlay": [[1, 2]]}, "x"))
    assert [row.label for row in rows] == [
        *("advertise(a)", "advertise(b)", "subscribe(s)", "subscribe(t)", "publish(p)", "publish(q)"),
        *("unsubscribe(s)", "unsubscribe(t)", "unadvertise(a)", "unadvertise(b)"),
    ]
    assert [row.after for row in rows[4:6]] == ["advertise(b)", "advertise(a)"]
    apart = [{**each, "at": at} for at, each in enumerate(table["advertisement"], 1)]
    two = parse_instance({**table, "advertisement": apart}, "x")
    assert [two.advertiser_of(p).at for p in two.publications] == [2, 1]
