"""The controlled scenario with the numbers of 001, and its families in clusters."""

from collections import Counter

import pytest
from attrs import evolve

from routeproof.impl.simulator import MILLISECOND
from routeproof.impl.workloads.controlled import Clustered001, Controlled001
from routeproof.impl.workloads.workload import core_chain, stream
from routeproof.model.messages import Publish, Subscribe, Unsubscribe
from tests.impl.workloads.reading import by_class, constraints, published, subscribed


def test_001_has_its_numbers_at_full_size() -> None:
    recipe = Controlled001()
    operations = list(recipe.workload(0).operations())
    kinds = Counter(type(o.message) for o in operations)
    assert 21_000 < kinds[Publish] < 21_100
    assert kinds[Unsubscribe] == 300
    assert kinds[Subscribe] == 30_000 + 29, "and a subscriber to the probes at each edge"
    sizes = [len(members) - 1 for family, members in by_class(operations).items() if family != "probe"]
    assert sum(sizes) / len(sizes) == pytest.approx(30, abs=0.1)
    probes = [p for _, p in published(operations) if dict(p.event.pairs)["class"] == "probe"]  # type: ignore[union-attr]  # attributes
    assert len(probes) == 300
    at = {b for b, s in subscribed(operations) if s.filter.matches(probes[0].event)}
    assert at == set(core_chain(55, 18).subscribers)


def test_001_sends_its_probes_some_time_after_the_withdrawals() -> None:
    recipe = Controlled001().scaled(0.01)
    operations = list(recipe.workload(0).operations())
    last = max(o.time for o in operations if isinstance(o.message, Unsubscribe))
    probes = [o.time for o in operations if isinstance(o.message, Publish) and "probe" in str(o.message)]
    assert probes
    assert 0 <= min(probes) - last - recipe.probe_after_ms * MILLISECOND < recipe.publication_interval_ms * MILLISECOND


@pytest.mark.parametrize("degree", [10, 30, 50])
def test_a_smaller_one_has_fewer_families_and_no_smaller_ones(degree: int) -> None:
    recipe = evolve(Controlled001(), covered=degree).scaled(0.05)
    sizes = [len(members) - 1 for family, members in by_class(list(recipe.workload(0).operations())).items()]
    assert sum(sizes) / len(sizes) == pytest.approx(degree, rel=0.1)


@pytest.mark.parametrize("seed", range(5))
def test_every_edge_is_in_one_cluster_of_two_to_four(seed: int) -> None:
    recipe, chain = Clustered001(), core_chain(55, 18)
    clusters = recipe.clusters(chain, stream(seed, "clusters"))
    assert {len(cluster) for cluster in clusters} <= {2, 3, 4}
    assert sorted(broker for cluster in clusters for broker in cluster) == sorted(chain.subscribers)
    for cluster in clusters:
        below = [chain.overlay.path(1, broker)[:-2][-1] for broker in cluster]
        assert max(below) - min(below) <= 1, "at one core broker, or at two that are linked"


def test_a_family_is_at_home_in_one_cluster() -> None:
    recipe, chain = Clustered001().scaled(0.05), core_chain(55, 18)
    homes: dict[object, set[int]] = {}
    for broker, subscription in subscribed(recipe.workload(0).operations()):
        homes.setdefault(constraints(subscription.filter)[0][2], set()).add(broker)
    homes.pop("probe")
    clusters = recipe.clusters(chain, stream(0, "clusters"))
    assert all(any(at <= set(cluster) for cluster in clusters) for at in homes.values())
    assert len({frozenset(at) for at in homes.values()}) > 3
