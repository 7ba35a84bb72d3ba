"""The reference implementation of placement says what the model says, whatever happens in whatever order."""

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from routeproof.checker.instances import load
from routeproof.impl.placement.implementation import IMPLEMENTATION, PlacingBroker, amount
from routeproof.impl.simulator import SECOND, Observer, Simulator, TimedOperation
from routeproof.model.instance import POLICIES, Instance
from routeproof.model.instance_file import parse_instance
from routeproof.model.placement.vocabulary import READINGS, Amount, PlacementTables
from routeproof.model.protocols import world
from routeproof.model.world import World
from routeproof.spec.placement import SPECIFICATION
from tests.kit.lockstep import beside

INSTANCES = Path(__file__).resolve().parents[2] / "model/placement/instances"
NAMES = sorted(path.stem for path in INSTANCES.glob("*.toml"))
WALKS = 12
DRAWN = 150
"""Networks drawn at random."""


def in_one_order(tables: object) -> PlacementTables:
    """Traces, sessions and retrievals of several publishers are in no order that the prose fixes."""
    assert isinstance(tables, PlacementTables)
    names = ("traces", "sessions", "retrievals")
    return evolve(tables, **{name: tuple(sorted(getattr(tables, name), key=repr)) for name in names})


def walk(asked: World, seed: int) -> Counter[str]:
    return beside(IMPLEMENTATION, asked, seed, in_one_order=in_one_order)


@pytest.mark.parametrize("name", NAMES)
def test_lockstep(name: str) -> None:
    instance = load(INSTANCES / f"{name}.toml")
    fired = Counter[str]()
    for policy in instance.policies:
        for seed in range(WALKS):
            fired += walk(world(instance, policy), seed)
    wanted = {rule for rule in instance.must_reach if not rule.startswith("Some")}
    assert wanted <= set(fired) or name in ("unnamed4", "order4"), wanted - set(fired)


def drawn(seed: int) -> Instance:
    """A network of up to seven brokers, two publishers, subscribers that may leave, and any readings."""
    r = random.Random(seed)
    brokers = range(1, r.randint(2, 7) + 1)
    readings: dict[str, Any] = {name: r.choice(values) for name, values in READINGS.items()}
    numbers = {"threshold": r.randint(1, 3), "tags": r.randint(1, 3), "weight": r.choice((0, 30, 100))}
    table = {
        "name": f"drawn{seed}",
        "protocol": "placement",
        "policy": r.choice(POLICIES),
        "overlay": [[r.randint(1, b - 1), b] for b in brokers[1:]],
        "placement": {**readings, **numbers},
        "advertisement": [{"id": a, "at": r.choice(brokers), "events": [0, 1]} for a in "ab"],
        "subscription": [
            {"id": s, "at": r.choice(brokers), "events": r.choice(([0], [1], [0, 1])), "unsubscribes": r.random() < 0.3}
            for s in "stuvw"[: r.randint(1, 5)]
        ],
        "publication": [{"id": p, "of": r.choice("ab"), "event": r.randint(0, 1)} for p in "mnopqr"],
    }
    return parse_instance(table, f"drawn{seed}")


def test_lockstep_in_networks_drawn_at_random() -> None:
    fired = Counter[str]()
    for seed in range(DRAWN):
        instance = drawn(seed)
        fired += walk(world(instance, instance.policies[0]), seed)
    assert {rule.id for rule in SPECIFICATION.rules if rule.fires} <= set(fired)


@pytest.mark.parametrize(
    ("method", "name"),
    [
        *(("_end_trace", "pop3"), ("_take_result", "pop3"), ("_request", "pop3"), ("_answer", "pop3")),
        *(("_log", "grape3"), ("_retrieve", "grape3"), ("_take_traces", "grape3"), ("_may_answer", "grape3")),
    ],
)
def test_lockstep_notices_a_fault(method: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    instance = load(INSTANCES / f"{name}.toml")
    monkeypatch.setattr(PlacingBroker, method, lambda *_: None)
    with pytest.raises(AssertionError):
        _walks(world(instance, instance.policies[0]))


def _walks(asked: World) -> None:
    for seed in range(WALKS):
        walk(asked, seed)


def test_amounts_are_those_of_the_profile() -> None:
    assert [amount(value) for value in (0.0, 3.0, 0.75, 5.25)] == [Amount(), Amount(3), Amount(3, 1), Amount(21, 1)]
    assert amount(0.5) == Amount(2, 1)


@pytest.mark.parametrize(
    ("name", "handled"),
    [
        ("pop3", {"trace-result": 2, "relocation-request": 2, "relocation-answer": 2}),
        ("grape3", {"trace-request": 2, "trace-answer": 2}),
    ],
)
def test_the_simulator_runs_it(name: str, handled: dict[str, int]) -> None:
    """Operations follow each other at rest; the publisher of `pop3` is to move to the end of the chain."""
    instance = load(INSTANCES / f"{name}.toml")
    asked, own, counts = world(instance, instance.policies[0]), IMPLEMENTATION.own_of(instance), Counter[str]()

    class Kinds(Observer):
        def handled(self, *args: Any) -> None:
            counts[args[3].kind] += 1

    simulator = Simulator(
        instance.overlay,
        lambda b: IMPLEMENTATION.make(b, instance.overlay.neighbours(b), asked.policy, own),
        IMPLEMENTATION.costs(asked.policy),
        observers=[Kinds()],
    )
    rows = [row for row in asked.ledger.operations if not row.label.startswith("tag(a, ")]
    rows.sort(key=lambda row: ["advertise", "subscribe", "tag", "publish"].index(row.label.partition("(")[0]))
    operations = [TimedOperation(n * SECOND, row.node, row.message) for n, row in enumerate(rows)]  # type: ignore[arg-type]
    simulator.play(operations)
    assert {kind: counts[kind] for kind in handled} == handled
    first = simulator.broker(1)
    assert isinstance(first, PlacingBroker)
    assert first.tables().decisions
