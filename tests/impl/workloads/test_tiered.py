"""Monitors that move about a tiered topology."""

from collections import Counter
from itertools import pairwise

import pytest

from routeproof.impl.simulator import MILLISECOND
from routeproof.impl.workloads.moving import Tiered, TieredAll
from routeproof.impl.workloads.workload import tiered
from routeproof.model.messages import Publish, Subscribe, Unsubscribe
from tests.impl.workloads.reading import subscribed, withdrawn

REGIONS = tiered(4, 3, 4).regions


def region(broker: int) -> int:
    return next((n for n, brokers in enumerate(REGIONS, 1) if broker in brokers), 0)


def test_monitors_cover_everything_and_nobody_else_covers_anybody() -> None:
    recipe = Tiered().scaled(0.002)
    clients = [s for _, s in subscribed(recipe.workload(0).operations())][: recipe.subscriptions + 4]
    *others, m1, m2, m3, m4 = clients
    assert all(monitor.filter.covers(each.filter) for monitor in (m1, m2, m3, m4) for each in clients)
    assert not any(a.filter.covers(b.filter) for a in others for b in others if a is not b)


def test_a_monitor_begins_in_each_region_and_one_moves_at_a_time() -> None:
    recipe = Tiered().scaled(0.01)
    operations = list(recipe.workload(0).operations())
    monitors = subscribed(operations)[recipe.subscriptions : recipe.subscriptions + 4]
    assert [region(broker) for broker, _ in monitors] == [1, 2, 3, 4]
    moves = [o for o in operations if isinstance(o.message, Unsubscribe)]
    assert {b.time - a.time for a, b in pairwise(moves)} == {recipe.monitor_interval_ms * MILLISECOND}
    assert len(moves) == recipe.run_ms // recipe.monitor_interval_ms
    everywhere = {broker for broker, _ in withdrawn(operations)}
    assert len({region(broker) for broker in everywhere}) > 3
    assert len(everywhere) > 20


def test_full_size_has_the_moves_of_the_paper() -> None:
    recipe = Tiered()
    assert recipe.run_ms // recipe.monitor_interval_ms == 180
    assert TieredAll().others_interval_ms == 1_000


def test_others_move_within_their_region() -> None:
    recipe = TieredAll().scaled(0.002)
    operations = list(recipe.workload(0).operations())
    moved: Counter[bool] = Counter()
    for before, after in pairwise(operations):
        if isinstance(before.message, Unsubscribe):
            assert isinstance(after.message, Subscribe)
            gone, come = before.message.subscription, after.message.subscription
            assert gone.filter == come.filter
            assert before.broker != after.broker
            monitors = "999999" in str(gone.filter)
            moved[monitors] += 1
            if not monitors:
                assert region(before.broker) == region(after.broker) > 0
    assert moved[False] > 100
    assert moved[True] > 100


def test_as_many_publications_a_second_at_any_scale() -> None:
    for scale in (0.001, 0.01):
        recipe = Tiered().scaled(scale)
        kinds = Counter(type(o.message) for o in recipe.workload(0).operations())
        assert kinds[Publish] == pytest.approx(recipe.run_ms / 400, abs=2)
