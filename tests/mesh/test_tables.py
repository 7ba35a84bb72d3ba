"""Subscriptions by anchor, beside a dictionary, while they come, get other anchors, and go."""

from __future__ import annotations

from random import Random

from routeproof.impl.index.profile import spans_of
from routeproof.impl.mesh.forwarding import MasterMap, WorkingMap, places
from routeproof.impl.mesh.tables import SubscriptionTables
from routeproof.model.filters import EventSet
from routeproof.model.messages import Subscription

SUBSCRIPTIONS = [Subscription(n, f"s{n}", EventSet.of([n % 3, 3])) for n in range(8)]


def test_what_matches_is_at_the_anchors_of_now() -> None:
    draw, tables, held = Random(1), SubscriptionTables(1), dict[Subscription, int]()
    view = WorkingMap(MasterMap(1, [(1, 2), (2, 3), (1, 4)], 3), [3])
    tables.rebuild(view)
    for step in range(200):
        subscription = draw.choice(SUBSCRIPTIONS)
        if subscription in held and draw.random() < 0.5:
            tables.drop(subscription)
            del held[subscription]
        else:
            held[subscription] = draw.choice((1, 2, 3, 4))
            tables.put(subscription, held[subscription])
        if step % 7 == 0:
            tables.rebuild(view)
        assert dict(tables) == held
        assert list(tables) == sorted(held.items(), key=lambda row: row[0].rank)
        assert (len(tables), set(tables.anchors)) == (len(held), set(held.values()))
        assert [each in tables for each in SUBSCRIPTIONS] == [each in held for each in SUBSCRIPTIONS]
        for event in range(5):
            fits = [s for s in held if s.filter.matches(event)]
            ends = {end for end, place in view.place.items() if any(view.stands.get(held[s]) == place for s in fits)}
            among = (1 << len(view.array)) - 1
            found = tables.matching(event, spans_of(event), among)
            assert {view.array[place] for place in places(found)} == ends
            local = [entry.subscription for entry in tables.local(event, spans_of(event))]
            assert local == sorted((s for s in fits if held[s] == 1), key=lambda s: s.rank)
