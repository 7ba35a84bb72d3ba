"""What a forest says would be sent if an entry left is what it sends when the entry leaves (SIM-8)."""

from __future__ import annotations

from itertools import combinations
from random import Random

import pytest

from routeproof.impl.index import Candidates
from routeproof.impl.index.covering import Covering
from routeproof.impl.index.profile import ProfiledSubscription, profile_of
from routeproof.model.filters import EventSet
from routeproof.model.messages import Subscription

EVENTS = range(4)
FILTERS = [EventSet.of(events) for size in (1, 2, 3, 4) for events in combinations(EVENTS, size)]
ENTRIES = [
    ProfiledSubscription(Subscription(rank, f"s{rank}", each), profile_of(each), 2)
    for rank, each in enumerate(Random(1).sample([*FILTERS, *FILTERS], 2 * len(FILTERS)))
]


class Forest(Candidates):
    """Candidates of a neighbour that has advertised everything, after this was said. `due`: what may be sent now."""

    def __init__(self, policy: str, said: list[tuple[bool, ProfiledSubscription, set[ProfiledSubscription]]]) -> None:
        super().__init__(policy)
        assert isinstance(self._wanted, Covering)
        self.covering = self._wanted
        self.advertise(profile_of(FILTERS[-1]), ())
        for comes, entry, due in said:
            (self.subscribe if comes else self.unsubscribe)(entry)
            self.covering.settle(due.__contains__)

    def uncovered(self, entry: ProfiledSubscription) -> list[ProfiledSubscription]:
        return self.covering.uncovered(self._groups[entry.profile], entry)


@pytest.mark.parametrize("policy", ["active", "lazy"])
def test_what_would_be_sent_is_sent(policy: str) -> None:
    most = 0
    for seed in range(60):
        draw, said = Random(seed), list[tuple[bool, ProfiledSubscription, set[ProfiledSubscription]]]()
        held = list[ProfiledSubscription]()
        for _ in range(draw.randint(2, 14)):
            comes = not held or draw.random() < 0.75
            entry = draw.choice([each for each in ENTRIES if each not in held] if comes else held)
            held = [*held, entry] if comes else [each for each in held if each is not entry]
            due = set(draw.sample(ENTRIES, len(ENTRIES) // 2)) if draw.random() < 0.2 else set(ENTRIES)
            said.append((comes, entry, due))
        for leaving in Forest(policy, said).sent():
            expected = set(Forest(policy, said).uncovered(leaving))
            forest = Forest(policy, said)
            forest.unsubscribe(leaving)
            assert set(forest.settle().additions) == expected
            most = max(most, len(expected))
    assert most >= 3
