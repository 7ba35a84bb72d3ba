"""The reference implementation of migration says what the model says, whatever happens in whatever order."""

import random
from collections import Counter, defaultdict

import pytest

from routeproof.checker.instances import find, shipped
from routeproof.impl.migration.implementation import IMPLEMENTATION, MigratingBroker, MovingPublisher
from routeproof.model.protocols import world
from routeproof.model.world import World
from routeproof.spec.migration import SPECIFICATION

NAMES = [each.name for each in shipped() if each.protocol == "migration" and each.name != "record2"]
WALKS = 12


def walk(asked: World, seed: int) -> Counter[str]:
    """One random run to its end, with the implementation beside the model at every node; returns the rules."""
    draw, rules = random.Random(seed), Counter[str]()
    own = IMPLEMENTATION.own_of(asked.instance)
    nodes = {
        node: IMPLEMENTATION.make(node, [v for u, v in asked.links if u == node], asked.policy, own)
        for node in asked.nodes
    }
    state = asked.initial()
    while enabled := [action for action in asked.actions if asked.enabled(state, action)]:
        weights = [1 if action.operation is not None else 4 for action in enabled]  # or moves come too early to be made
        step = asked.step(state, draw.choices(enabled, weights)[0])
        node = nodes[step.action.node]
        assert isinstance(node, MigratingBroker | MovingPublisher)
        said = node.receive(step.sender, step.message)  # type: ignore[arg-type]  # a message
        assert _by_receiver(said) == _by_receiver(step.outcome.sends), step.action.label
        assert node.tables() == step.state.locals[asked.nodes.index(step.action.node)], step.action.label
        rules.update(step.outcome.rules)
        state = step.state
    return rules


def _by_receiver(sends: object) -> dict[int, list[object]]:
    """Order matters on each channel; between channels it does not."""
    found: dict[int, list[object]] = defaultdict(list)
    for receiver, message in sends:  # type: ignore[attr-defined]  # pairs
        found[receiver].append(message)
    return dict(found)


@pytest.mark.parametrize("name", NAMES)
def test_lockstep(name: str) -> None:
    instance = find(name)
    fired = Counter[str]()
    for policy in instance.policies:
        for seed in range(WALKS):
            fired += walk(world(instance, policy), seed)
    ends = {"MIG-16"} if instance.section("migration").refuses else {"MIG-7", "MIG-8"}
    assert ends <= set(fired), "moves come to their end"
    if name == "move3":
        assert {rule.id for rule in SPECIFICATION.rules} - {"MIG-5", "MIG-11", "MIG-15"} <= set(fired)
    if name == "flight2":
        assert {"MIG-5", "MIG-11"} <= set(fired)


@pytest.mark.parametrize("method", ["_pass_on", "_update", "_end_at_source", "_complete", "_relocate"])
def test_lockstep_notices_a_fault(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MigratingBroker, method, lambda *_: None)
    with pytest.raises(AssertionError):
        _walks()


def _walks() -> None:
    for seed in range(WALKS):
        walk(world(find("quit2"), "active"), seed)


def test_what_is_not_implemented_is_refused() -> None:
    instance = find("record2")
    with pytest.raises(ValueError, match="not implemented"):
        IMPLEMENTATION.make(1, (2,), "active", IMPLEMENTATION.own_of(instance))
