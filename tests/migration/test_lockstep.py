"""The reference implementation of migration says what the model says, whatever happens in whatever order."""

from collections import Counter

import pytest

from routeproof.checker.instances import find, shipped
from routeproof.impl.migration.implementation import IMPLEMENTATION, MigratingBroker
from routeproof.model.protocols import world
from routeproof.model.world import World
from routeproof.spec.migration import SPECIFICATION
from tests.kit.lockstep import beside

NAMES = [each.name for each in shipped() if each.protocol == "migration" and each.name != "record2"]
WALKS = 12


def walk(asked: World, seed: int) -> Counter[str]:
    """Deliveries are likelier than operations, or moves come too early to be made."""
    return beside(IMPLEMENTATION, asked, seed)


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
