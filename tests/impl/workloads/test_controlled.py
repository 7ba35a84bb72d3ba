"""The controlled scenario of 000."""

import math
from collections import Counter
from collections.abc import Sequence
from functools import partial
from itertools import islice, pairwise

import pytest
from attrs import evolve

from routeproof.impl.simulator import MILLISECOND, TimedOperation
from routeproof.impl.workloads.controlled import Controlled
from routeproof.impl.workloads.workload import core_chain
from routeproof.model.messages import Publish, Subscription, Unsubscribe
from tests.impl.workloads.reading import by_class, published, subscribed


def families(operations: Sequence[TimedOperation]) -> dict[str, list[Subscription]]:
    """By class, the root first: it covers all others, and nobody else covers anybody."""
    return {
        family: sorted(members, key=partial(_is_covered, members)) for family, members in by_class(operations).items()
    }


def _is_covered(members: Sequence[Subscription], one: Subscription) -> bool:
    return not all(one.filter.covers(other.filter) for other in members)


def test_a_root_covers_its_family_and_nobody_else_covers_anybody() -> None:
    recipe = Controlled().scaled(0.004)
    found = families(list(recipe.workload(0).operations()))
    assert len(found) == recipe.families
    assert sum(len(members) for members in found.values()) == recipe.subscriptions
    for root, *covered in found.values():
        assert recipe.covered - 1 <= len(covered) <= 2 * recipe.covered
        assert all(root.filter.covers(each.filter) for each in covered)
        assert not any(a.filter.covers(b.filter) for a in covered for b in covered if a is not b)


def test_roots_are_withdrawn_and_only_they() -> None:
    recipe = Controlled().scaled(0.05)
    operations = list(recipe.workload(0).operations())
    withdrawn = [o for o in operations if isinstance(o.message, Unsubscribe)]
    roots = {members[0].id for members in families(operations).values()}
    ids = {o.message.subscription.id for o in withdrawn if isinstance(o.message, Unsubscribe)}
    assert len(withdrawn) == len(ids) == recipe.withdrawals > 3
    assert ids <= roots
    assert {b.time - a.time for a, b in pairwise(withdrawn)} == {500 * MILLISECOND}


def test_publications_come_at_their_interval_and_match_a_few() -> None:
    recipe = Controlled().scaled(0.01)
    operations = list(recipe.workload(0).operations())
    times = [o.time for o in operations if isinstance(o.message, Publish)]
    assert {b - a for a, b in pairwise(times)} == {10 * MILLISECOND}
    found = families(operations)
    events = [p.event for _, p in islice(published(operations), 600)]
    matched = [
        sum(s.filter.matches(event) for s in found[str(dict(event.pairs)["class"])])
        for event in events
        if not isinstance(event, int)
    ]
    assert sum(matched) / len(matched) == pytest.approx(1 + recipe.matching, rel=0.1)
    assert {b for b, _ in published(operations)} == set(core_chain(49, 15).publishers)


def test_families_by_zipf_are_as_many_and_as_large_on_average() -> None:
    one_size = Controlled().scaled(0.05)
    zipf = evolve(one_size, sizes=1.0)
    sizes = zipf.sizes_of_families
    assert (len(sizes), sum(sizes)) == (one_size.families, sum(one_size.sizes_of_families))
    assert sizes[0] / sizes[1] == pytest.approx(2, rel=0.02)
    assert sizes[0] / sizes[-1] == pytest.approx(len(sizes), rel=0.05)
    drawn = by_class(list(zipf.workload(0).operations()))
    assert [len(drawn[f"family-{n}"]) - 1 for n in (1, 2, len(sizes))] == [sizes[0], sizes[1], sizes[-1]]


@pytest.mark.parametrize("alike", ["number", "share"])
def test_what_is_alike_in_families_of_all_sizes(alike: str) -> None:
    """The number that matches, or the share; also of what was scaled."""
    full = evolve(Controlled(), alike=alike, matching=20.0, sizes=1.0)
    recipe = full.scaled(0.05)
    assert recipe.covered < full.covered
    operations = list(recipe.workload(0).operations())
    found = by_class(operations)
    matched: dict[str, list[int]] = {}
    for _, publication in islice(published(operations), 1_500):
        event = publication.event
        assert not isinstance(event, int)
        family = str(dict(event.pairs)["class"])
        matched.setdefault(family, []).append(sum(s.filter.matches(event) for s in found[family]) - 1)
    for family in (f"family-{n}" for n in (1, 4, recipe.families)):
        mean = sum(matched[family]) / len(matched[family])
        covered = len(found[family]) - 1
        expected = full.matching if alike == "number" else full.matching * covered / full.covered
        assert mean == pytest.approx(expected, rel=0.15), (family, covered)


def test_homes_are_uniform_over_the_other_edges() -> None:
    homes = Counter(b for b, _ in subscribed(Controlled().scaled(0.1).workload(0).operations()))
    assert set(homes) == set(core_chain(49, 15).subscribers)
    mean = sum(homes.values()) / len(homes)
    assert all(abs(n - mean) < 5 * math.sqrt(mean) for n in homes.values())
