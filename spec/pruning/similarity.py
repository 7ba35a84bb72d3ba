"""Similarity, exactly: what the history says at every broker, whatever brokers have written down (SIM-3 to SIM-6).

`Past` is one subscription's past with one advertisement: which of its publications were delivered to it, and which
brokers lie on the way to the publisher. Ghosts only: nothing here looks at a table.
"""

from __future__ import annotations

from collections.abc import Iterator

from attrs import field, frozen

from routeproof.model.history import Ledger
from routeproof.model.instance import Advertiser
from routeproof.model.messages import Publication
from routeproof.model.overlay import Node
from routeproof.spec.property import Seen


@frozen
class Past:
    """SIM-5. `home` is where the subscription of this rank is, or was when it was withdrawn."""

    ledger: Ledger
    history: Seen
    rank: int
    advertiser: Advertiser
    home: Node
    path: tuple[Node, ...] = field(init=False)
    """B(0), the subscriber's broker, to B(L), the publisher's."""
    matched: tuple[Publication, ...] = field(init=False)
    """SIM-4: P(s), as far as it was delivered."""

    @path.default
    def _path(self) -> tuple[Node, ...]:
        return self.ledger.instance.overlay.path(self.home, self.advertiser.at)

    @matched.default
    def _matched(self) -> tuple[Publication, ...]:
        publications = self.ledger.instance.publications
        mine = (publications[p] for p, s in self.ledger.pairs(self.history.delivered) if s == self.rank)
        return tuple(p for p in mine if p.of == self.advertiser.advertisement.id)

    def joins_at(self, p: Publication) -> Iterator[int]:
        """Where on the path others that match p come in: each t at the first broker of the path on its own way."""
        ledger, done = self.ledger, self.history.done
        for t, live in enumerate(ledger.active_subscriptions(done)):
            if live and t != self.rank and ledger.instance.subscriptions[t].filter.matches(p.event):
                way = ledger.instance.overlay.path(ledger.home(t, done), self.advertiser.at)
                yield next(i for i, b in enumerate(self.path) if b in way)

    def first_join(self, p: Publication) -> int | None:
        return min(self.joins_at(p), default=None)

    def similar(self, mu: int) -> tuple[Publication, ...]:
        """SIM-3 at B(mu), cumulatively: those that something else matches whose way to the publisher passes B(mu)."""
        here = self.path[mu]
        return tuple(p for p in self.matched if any(here in way for way in self.ways(p)))

    def ways(self, p: Publication) -> Iterator[tuple[Node, ...]]:
        """The ways to the publisher of all others that match p."""
        ledger, done = self.ledger, self.history.done
        for t, live in enumerate(ledger.active_subscriptions(done)):
            if live and t != self.rank and ledger.instance.subscriptions[t].filter.matches(p.event):
                yield ledger.instance.overlay.path(ledger.home(t, done), self.advertiser.at)

    def reaches(self, mu: int, threshold: int, inclusive: bool = True) -> bool:
        """SIM-4, in percent; where nothing was delivered there is nothing to say against it. CRD-3: "more than", of
        what comes in at less than mu hops, is of the broker before."""
        if inclusive:
            return 100 * len(self.similar(mu)) >= threshold * len(self.matched)
        return mu > 0 and 100 * len(self.similar(mu - 1)) > threshold * len(self.matched)


def pasts(ledger: Ledger, history: Seen) -> Iterator[Past]:
    """Pasts of every active subscription with every active advertisement that has published to it."""
    subs, advs = ledger.active_subscriptions(history.done), ledger.active_advertisements(history.done)
    for rank, live in enumerate(subs):
        for advertiser in ledger.instance.advertisers:
            if live and advs[advertiser.advertisement.rank]:
                past = Past(ledger, history, rank, advertiser, ledger.home(rank, history.done))
                if past.matched:
                    yield past
