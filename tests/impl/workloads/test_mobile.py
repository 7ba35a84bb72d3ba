"""The rush hour at full load."""

from collections import Counter

import pytest

from routeproof.impl.simulator import MILLISECOND
from routeproof.impl.workloads.moving import Mobile
from routeproof.model.messages import Publish, Subscribe, Unsubscribe


def test_as_many_publications_and_moves_a_second_at_any_scale() -> None:
    rates = []
    for scale in (0.002, 0.01):
        recipe = Mobile().scaled(scale)
        kinds = Counter(type(o.message) for o in recipe.workload(0).operations())
        rates.append([kinds[kind] / recipe.window_ms * 1_000 for kind in (Publish, Unsubscribe)])
        assert rates[-1][0] == pytest.approx(250, rel=0.05)
    assert rates[0] == pytest.approx(rates[1], rel=0.1)


def test_commuters_move_once_and_roamers_again_and_again() -> None:
    recipe = Mobile().scaled(0.005)
    home: dict[str, int] = {}
    chain: dict[str, int] = {}
    moves: Counter[int] = Counter()
    before = None
    for time, broker, message in recipe.workload(0).operations():
        match message:
            case Subscribe(s):
                if before is None:
                    chain[s.id] = s.rank
                else:
                    gone, left, at = before
                    assert (gone.filter, at) == (s.filter, time)
                    assert left != broker
                    chain[s.id] = chain[gone.id]
                    before = None
                home[s.id] = broker
            case Unsubscribe(s):
                assert home[s.id] == broker
                moves[chain[s.id]] += 1
                before = s, broker, time
    commuters = round(recipe.subscriptions * recipe.commuters)
    movers = round(recipe.subscriptions * recipe.moving)
    assert all(moves[n] == 1 for n in range(1, commuters + 1))
    roaming = [moves[n] for n in range(commuters + 1, movers + 1)]
    assert sum(roaming) / len(roaming) == pytest.approx(recipe.window_ms / recipe.roam_mean_ms, rel=0.1)
    assert max(moves) <= movers, "the others stay"


def test_the_window_is_where_the_moves_are() -> None:
    recipe = Mobile().scaled(0.005)
    operations = list(recipe.workload(0).operations())
    last = [o.time for o in operations if isinstance(o.message, Subscribe)][recipe.subscriptions - 1]
    begin = last + (recipe.subscription_interval_ms + recipe.settle_ms) * MILLISECOND
    end = begin + recipe.window_ms * MILLISECOND
    assert all(begin <= o.time <= end for o in operations if isinstance(o.message, Unsubscribe))
