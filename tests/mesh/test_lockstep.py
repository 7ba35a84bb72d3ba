"""The reference implementation of the mesh says what the model says, whatever happens in whatever order."""

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest

import routeproof.impl.mesh
from routeproof.checker.instances import load
from routeproof.impl.mesh.broker import MeshBroker
from routeproof.impl.mesh.forwarding import WorkingMap
from routeproof.impl.mesh.implementation import IMPLEMENTATION
from routeproof.impl.mesh.links import LinkProfile
from routeproof.impl.mesh.move import MoveCoordinator, MovingBroker
from routeproof.impl.mesh.tables import SubscriptionTables
from routeproof.model.instance import Instance
from routeproof.model.mesh.forwarding import working_map
from routeproof.model.mesh.messages import Grant
from routeproof.model.mesh.state import MeshTables
from routeproof.model.messages import Subscribe
from routeproof.model.overlay import Node
from routeproof.model.protocols import world
from routeproof.spec.mesh.specification import SPECIFICATION
from tests.kit.lockstep import beside
from tests.mesh.conftest import INSTANCES
from tests.mesh.drawn import network

NAMES = sorted(path.stem for path in INSTANCES.glob("*.toml") if path.stem != "toward5")
WALKS = 12
DRAWN = 100
"""Networks drawn at random."""
SECOND_COPY = (
    *("advertise(a)", "subscribe(s)", "subscribe(t)", "move(b1, b3)", "deliver 1>2", "deliver 1>4", "deliver 2>3"),
    *("deliver 3>2", "deliver 2>1", "deliver 4>1", "deliver 1>2", "publish(p)", "deliver 2>1", "deliver 2>3"),
    *("deliver 3>2", "deliver 2>1", "deliver 1>3", "deliver 2>3", "deliver 3>1", "deliver 3>1"),
)
"""A run of `mover3` in which a mover gets a publication over both links: chance hardly ever does that."""


def walk(instance: Instance, seed: int, beginning: Sequence[str] = ()) -> Counter[str]:
    return beside(IMPLEMENTATION, world(instance, "none"), seed, beginning=beginning, at_the_end=_is_derived)


def _is_derived(node: object) -> None:
    if isinstance(node, MovingBroker):
        assert working(node) == derived(node.tables())


def working(node: MovingBroker) -> dict[Node, Node]:
    """By anchor the end that stands for it in the working table."""
    view = node.working()
    held = node.subscriptions._working
    return {anchor: view.array[place] for place, anchors in enumerate(held) for anchor in anchors}


def derived(tables: MeshTables) -> dict[Node, Node]:
    """The same as it follows from the master structures (MESH-2, SUB-5)."""
    represents = working_map(tables.master, tables.links).representative
    anchors = {anchor for _, anchor in tables.subs} - {tables.master.centre}
    return {anchor: represents[anchor] for anchor in anchors if anchor in represents}


@pytest.mark.parametrize("name", NAMES)
def test_lockstep(name: str) -> None:
    instance = load(INSTANCES / f"{name}.toml")
    for seed in range(WALKS):
        walk(instance, seed)


def test_lockstep_on_networks_drawn_at_random() -> None:
    fired = _walks()
    fired += walk(load(INSTANCES / "mover3.toml"), 1, SECOND_COPY)
    assert {rule.id for rule in SPECIFICATION.rules if rule.fires} <= set(fired)


def _walks() -> Counter[str]:
    fired = Counter[str]()
    for seed in range(DRAWN):
        fired += walk(network(Random(seed), most=7, moves=2, clients=4), seed)
    for seed in range(DRAWN):
        fired += walk(network(Random(seed), most=6, moves=0, operations=0, clients=5, rounds=2), seed)
    return fired


@pytest.mark.parametrize(
    ("owner", "method"),
    [
        (SubscriptionTables, "drop"),
        (MeshBroker, "_drop"),
        (MeshBroker, "_passed"),
        (MeshBroker, "_told"),
        (MovingBroker, "_is_late"),
        (MovingBroker, "_across"),
        (MovingBroker, "_passes_over_ring"),
        (MovingBroker, "_switch"),
        (MovingBroker, "_finish"),
        (WorkingMap, "carrier"),
        (WorkingMap, "behind"),
        (LinkProfile, "count"),
        (LinkProfile, "gain"),
        (LinkProfile, "_new"),
    ],
    ids=lambda each: each if isinstance(each, str) else each.__name__,
)
def test_lockstep_notices_a_fault(owner: type, method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each method does nothing, or returns the least that its callers take."""
    least = {"_passed": (), "_told": [], "_is_late": False, "_across": 0, "_passes_over_ring": False, "_new": []}
    monkeypatch.setattr(owner, method, lambda *_, **__: least.get(method, 0))
    with pytest.raises((AssertionError, ValueError)):
        _walks()


def test_every_rule_of_the_prose_is_cited_in_the_implementation() -> None:
    cited = "".join(
        path.read_text(encoding="utf-8") for path in Path(routeproof.impl.mesh.__file__).parent.glob("*.py")
    )
    assert {rule.id for rule in SPECIFICATION.rules} <= set(re.findall(r"[A-Z]+-\d+", cited))


def test_what_is_not_implemented_is_refused() -> None:
    instance = load(INSTANCES / "toward5.toml")
    with pytest.raises(ValueError, match="not implemented"):
        IMPLEMENTATION.make(1, (2,), "none", IMPLEMENTATION.own_of(instance))


def test_the_coordinator_refuses_what_is_not_for_it() -> None:
    with pytest.raises(TypeError, match="cannot receive"):
        MoveCoordinator().receive(1, Grant())


def test_a_broker_counts_what_it_hears() -> None:
    instance = load(INSTANCES / "mover3.toml")
    broker = IMPLEMENTATION.make(1, (2, 4), "none", IMPLEMENTATION.own_of(instance))
    assert isinstance(broker, MovingBroker)
    broker.receive(0, Subscribe(instance.subscriptions[0]))
    assert broker.counters.received == {"subscribe": 1}
