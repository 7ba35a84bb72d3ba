"""The networks of the experiments: every match exactly once, whatever the strategy, and Table 2's own arithmetic."""

import pytest
from attrs import evolve

from routeproof.checker.mesh.figures import DATASETS, DELIVERED, PUBLISHED, PURE, STRATEGIES, TRAFFIC, YIELD
from routeproof.impl.mesh.population import MeshPopulation, PopulatedNetwork, covered, played

SMALL = MeshPopulation(brokers=60, publications=150, warming=60, rounds=5)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_matching_broker_is_served_once(strategy: str) -> None:
    network = PopulatedNetwork(evolve(SMALL, strategy=strategy))
    network.warm()
    network.interests = [tuple(range(1, 61, 5))] * len(network.interests)
    assert network.play(150, strategy, 0.0).delivered == 150 * 12
    has_links = any(broker.soft for broker in network.brokers.values())
    assert has_links == (strategy != "S0")


def test_links_save_pure_forwarders_and_hops() -> None:
    s0, s1, s2 = (played(evolve(SMALL, strategy=strategy)) for strategy in ("S0", "S1", "S2"))
    assert s0.delivered == s1.delivered == s2.delivered
    assert s2.pure < s1.pure < s0.pure
    assert s2.hops < s1.hops < s0.hops


def test_a_capped_uplink_delivers_less_and_later() -> None:
    free, capped = (played(evolve(SMALL, uplink=uplink, rate=200.0)) for uplink in (0.0, 60.0))
    assert capped.delivered < free.delivered
    assert capped.delay / capped.delivered > free.delay / free.delivered


def test_more_links_fragment_covering_sets() -> None:
    few, many = (covered(evolve(SMALL, fanout=fanout, maxlinks=fanout + 16)) for fanout in (5, 20))
    assert few.members < many.members


def test_the_papers_figures_fit_together() -> None:
    """G2-5: yield is deliveries among all that is handled, cut off; traffic is what is handled in 600 seconds."""
    for dataset in DATASETS:
        for pure, percent in zip(PURE[dataset], YIELD[dataset], strict=True):
            assert 100 * DELIVERED[dataset] // (DELIVERED[dataset] + pure) == percent
    for pure, traffic in zip(PURE["DT2"], TRAFFIC, strict=True):
        assert (DELIVERED["DT2"] + pure) * 1_000 / 600 == pytest.approx(traffic, rel=0.035)
    assert DELIVERED["DT1"] * 1_000 / PUBLISHED / 120 * 100 == pytest.approx(DATASETS["DT1"], abs=0.01)
