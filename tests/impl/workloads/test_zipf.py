"""The workload of SIENA, and subscribers on their way."""

from collections import Counter, defaultdict
from itertools import islice, pairwise

import pytest

from routeproof.impl.simulator import MILLISECOND
from routeproof.impl.workloads.moving import RankedNames, Zipf
from routeproof.impl.workloads.workload import stream
from routeproof.model.messages import Publish, Subscribe, Unsubscribe
from tests.impl.workloads.reading import constraints, published, subscribed


def test_names_are_drawn_by_their_rank() -> None:
    words, random = RankedNames(1_000, 1.0), stream(0, "test")
    drawn = Counter(words.draw(random, 1)[0] for _ in range(20_000))
    harmonic = sum(1 / rank for rank in range(1, 1_001))
    for rank in (1, 2, 3, 10):
        assert drawn[f"word-{rank}"] / 20_000 == pytest.approx(1 / rank / harmonic, rel=0.15)


def test_siena_subscriptions() -> None:
    recipe = Zipf().scaled(0.02)
    written = [constraints(s.filter) for _, s in subscribed(islice(recipe.workload(0).operations(), 4_000))]
    sizes = Counter(len(each) for each in written)
    assert set(sizes) == set(range(1, 11))
    assert all(n == pytest.approx(len(written) / 10, rel=0.25) for n in sizes.values())
    operators = Counter(operator for each in written for _, operator, _ in each)
    many = sum(operators.values())
    assert {op: round(n / many, 1) for op, n in operators.items()} == {"=": 0.6, "<": 0.2, ">": 0.2}
    values = {constant for each in written for _, _, constant in each}
    assert values == set(range(100))


def test_siena_publications() -> None:
    recipe = Zipf().scaled(0.005)
    events = [
        dict(p.event.pairs) for _, p in published(recipe.workload(0).operations()) if not isinstance(p.event, int)
    ]
    assert {len(event) for event in events} == set(range(1, 20))
    assert {value for event in events for value in event.values()} <= set(range(100))


def test_publishers_pause_between_one_and_fifteen_seconds() -> None:
    times = defaultdict(list)
    for operation in Zipf().scaled(0.005).workload(0).operations():
        if isinstance(operation.message, Publish):
            times[operation.message.publication.of].append(operation.time)
    pauses = [b - a for each in times.values() for a, b in pairwise(each)]
    assert len(times) == 10
    assert all(1_000 * MILLISECOND <= pause <= 15_000 * MILLISECOND for pause in pauses)
    assert sum(pauses) / len(pauses) / MILLISECOND == pytest.approx(8_000, rel=0.1)


def test_sixty_percent_commute_and_twenty_roam() -> None:
    recipe = Zipf().scaled(0.005)
    operations = list(recipe.workload(0).operations())
    left = [o for o in operations if isinstance(o.message, Unsubscribe)]
    assert len(left) == round(0.8 * recipe.subscriptions)
    came = {o.message.subscription.id: o for o in operations if isinstance(o.message, Subscribe)}
    for before, after in pairwise(operations):
        if isinstance(before.message, Unsubscribe):
            assert isinstance(after.message, Subscribe)
            assert after.message.subscription.filter == before.message.subscription.filter
            assert (after.time, after.broker != before.broker) == (before.time, True)
    window = recipe.window_ms * MILLISECOND
    begin = max(came[f"s{n:08}"].time for n in range(1, recipe.subscriptions + 1))
    middle = {True: Counter[bool](), False: Counter[bool]()}
    for o in left:
        assert isinstance(o.message, Unsubscribe)
        commutes = o.message.subscription.rank <= round(0.6 * recipe.subscriptions)
        share = (o.time - begin) / window
        middle[commutes][1 / 3 < share < 2 / 3] += 1
    assert middle[True][True] / middle[True].total() == pytest.approx(1 / 3, abs=0.1)
    assert middle[False][True] / middle[False].total() == pytest.approx(0.68, abs=0.1)
