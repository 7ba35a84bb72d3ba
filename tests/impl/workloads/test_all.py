"""What every workload must be, whatever is drawn, and what the document says of it."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from routeproof.impl.workloads import WORKLOADS, parameters, workload
from routeproof.model.messages import (
    Advertise,
    Advertisement,
    Publication,
    Publish,
    Subscribe,
    Subscription,
    Unsubscribe,
)
from routeproof.model.overlay import Node
from tests.impl.workloads.reading import published, subscribed

DOCUMENT = Path(__file__).resolve().parents[3] / "docs/reference/workloads.md"


@pytest.mark.parametrize("scale", [1e-6, 0.002])
@pytest.mark.parametrize("name", WORKLOADS)
def test_operations_make_sense(name: str, scale: float) -> None:
    drawn = workload(name, scale, 3)
    advertised: dict[str, tuple[Node, Advertisement]] = {}
    active: dict[str, Node] = {}
    ids: Counter[str] = Counter()
    last = 0
    for time, broker, message in drawn.operations():
        assert time >= last
        last = time
        assert broker in drawn.overlay.brokers
        match message:
            case Advertise(a):
                ids[a.id] += 1
                advertised[a.id] = broker, a
            case Subscribe(s):
                ids[s.id] += 1
                active[s.id] = broker
                assert any(a.filter.overlaps(s.filter) for _, a in advertised.values())
            case Unsubscribe(s):
                assert active.pop(s.id) == broker
            case Publish(p):
                ids[p.id] += 1
                home, a = advertised[p.of]
                assert home == broker
                assert a.filter.matches(p.event)
            case _:
                pytest.fail(f"a client cannot say {message}")
    assert set(ids.values()) == {1}
    assert advertised
    assert any(id_.startswith("p") for id_ in ids)


@pytest.mark.parametrize("name", WORKLOADS)
def test_ids_are_in_the_order_of_their_text(name: str) -> None:
    """A validator has no other order, and "in id order" is what brokers are held to."""
    operations = list(workload(name, 0.002, 0).operations())
    items: list[Sequence[Subscription | Publication]] = [
        [item for _, item in subscribed(operations)],
        [item for _, item in published(operations)],
    ]
    for each in items:
        assert [item.id for item in each] == sorted(item.id for item in each)
        assert [item.rank for item in each] == list(range(1, len(each) + 1))


@pytest.mark.parametrize("name", WORKLOADS)
def test_the_seed_decides(name: str) -> None:
    one, other = workload(name, 0.002, 1), workload(name, 0.002, 2)
    assert list(one.operations()) == list(one.operations()) == list(workload(name, 0.002, 1).operations())
    assert list(one.operations()) != list(other.operations())
    assert one.overlay == other.overlay


@pytest.mark.parametrize("name", WORKLOADS)
def test_larger_scale_is_more_work(name: str) -> None:
    sizes = [sum(1 for _ in workload(name, scale, 0).operations()) for scale in (0.0005, 0.005, 0.02)]
    assert sizes == sorted(sizes)
    assert sizes[2] > 2 * sizes[0]


@pytest.mark.parametrize("name", WORKLOADS)
def test_full_size_is_that_of_the_paper(name: str) -> None:
    recipe = WORKLOADS[name]
    assert recipe.scaled(1.0) == recipe


@pytest.mark.parametrize("name", WORKLOADS)
def test_the_document_has_every_parameter_with_its_source(name: str) -> None:
    section = DOCUMENT.read_text(encoding="utf-8").split(f"\n## {name} (")[1].split("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| `")]
    assert rows == [f"| `{p.name}` | {p.value} | {p.source} | {p.about} |" for p in parameters(WORKLOADS[name])]


@pytest.mark.parametrize("name", WORKLOADS)
def test_watched_brokers_exist(name: str) -> None:
    drawn = workload(name, 0.001, 0)
    assert drawn.watched
    assert set(drawn.watched) <= set(drawn.overlay.brokers)
    assert drawn.look_every > 0
