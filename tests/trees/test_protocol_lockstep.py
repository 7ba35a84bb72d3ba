"""The reference brokers of dissemination on trees say what the model says, whatever happens in whatever order."""

import re
from collections import Counter
from pathlib import Path
from random import Random

import pytest

import routeproof.impl.trees
from routeproof.checker.instances import find, shipped
from routeproof.impl.trees.broker import TreeIndex, TreeRoutingBroker
from routeproof.impl.trees.implementation import IMPLEMENTATION, PlannedTree, SwitchCoordinator
from routeproof.model.instance import Instance
from routeproof.model.instance_file import parse_instance
from routeproof.model.messages import Subscribe
from routeproof.model.protocols import world
from routeproof.model.trees.vocabulary import READINGS, Commit, Switch, parameters_of
from routeproof.spec.trees import SPECIFICATION
from tests.kit.lockstep import beside
from tests.trees.protocol_drawn import network

NOT_IMPLEMENTED = ("looked", "torn", "leaves", "dropped")
"""Readings of which the implementation has the default only."""
OWN = [each for each in shipped() if each.protocol == "trees" and not each.faults.any]
NAMES = [
    each.name
    for each in OWN
    if all(getattr(parameters_of(each), name) == READINGS[name][0] for name in NOT_IMPLEMENTED)
]
WALKS, DRAWN = 12, 60


def walk(instance: Instance, seed: int) -> Counter[str]:
    return beside(IMPLEMENTATION, world(instance, "none"), seed, often=3)


@pytest.mark.parametrize("name", NAMES)
def test_lockstep(name: str) -> None:
    for seed in range(WALKS):
        walk(find(name), seed)


def test_lockstep_on_networks_drawn_at_random() -> None:
    assert {rule.id for rule in SPECIFICATION.rules if rule.fires} <= set(_walks())


def _walks() -> Counter[str]:
    fired = Counter[str]()
    for seed in range(DRAWN):
        fired += walk(network(Random(seed)), seed)
    return fired


@pytest.mark.parametrize(
    ("owner", "method", "least"),
    [
        (TreeIndex, "waits_for", False),
        (TreeIndex, "drop", None),
        (TreeRoutingBroker, "_comes_first", True),
        (TreeRoutingBroker, "_delete", None),
        (TreeRoutingBroker, "_mark", None),
        (TreeRoutingBroker, "_commit", None),
        (TreeRoutingBroker, "_drop_drained", None),
        (TreeRoutingBroker, "_insert", None),
        (PlannedTree, "toward", 1),
        (SwitchCoordinator, "_changed", (0,)),
        (SwitchCoordinator, "_begin", None),
        (SwitchCoordinator, "_acknowledged", None),
        (SwitchCoordinator, "_torn_down", None),
    ],
    ids=lambda each: each if isinstance(each, str) else getattr(each, "__name__", ""),
)
def test_lockstep_notices_a_fault(owner: type, method: str, least: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each method does nothing, or returns the least that its callers take."""
    monkeypatch.setattr(owner, method, lambda *_, **__: least)
    with pytest.raises((AssertionError, KeyError)):
        _walks()


def test_every_rule_of_the_prose_is_cited_in_the_implementation() -> None:
    folder = Path(routeproof.impl.trees.__file__).parent
    cited = "".join((folder / f"{name}.py").read_text(encoding="utf-8") for name in ("broker", "implementation"))
    assert {rule.id for rule in SPECIFICATION.rules if rule.fires} <= set(re.findall(r"[A-Z]+-\d+", cited))


@pytest.mark.parametrize("reading", NOT_IMPLEMENTED)
def test_what_is_not_implemented_is_refused(reading: str) -> None:
    table = {"name": "x", "protocol": "trees", "policy": "none", "overlay": [[1, 2]]}
    instance = parse_instance({**table, "trees": {reading: READINGS[reading][1]}}, "x")
    with pytest.raises(ValueError, match="not implemented"):
        IMPLEMENTATION.make(1, (2,), "none", IMPLEMENTATION.own_of(instance))


def test_what_is_not_for_a_node_is_refused() -> None:
    own = IMPLEMENTATION.own_of(find("switch3"))
    with pytest.raises(TypeError, match="the coordinator cannot receive"):
        IMPLEMENTATION.make(4, (1, 2, 3), "none", own).receive(1, Commit(1))


def test_a_strategy_that_was_never_computed_is_not_begun() -> None:
    own = IMPLEMENTATION.own_of(find("switch3"))
    coordinator = IMPLEMENTATION.make(4, (1, 2, 3), "none", own)
    assert isinstance(coordinator, SwitchCoordinator)
    assert coordinator.receive(0, Switch(1)) == []
    assert coordinator.counters.received == {"switch": 1}


def test_a_broker_counts_what_it_hears() -> None:
    broker = IMPLEMENTATION.make(1, (2, 3), "none", IMPLEMENTATION.own_of(find("switch3")))
    assert isinstance(broker, TreeRoutingBroker)
    broker.receive(0, Subscribe(find("switch3").subscriptions[0]))
    assert broker.counters.received == {"subscribe": 1}
