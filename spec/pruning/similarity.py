"""Similarity, exactly, and where each withdrawal has to end: computed from the history alone (SIM-3 to SIM-6).

`Past` is one subscription's past with one advertisement: which of its publications were delivered to it, and which
brokers lie on the way to the publisher. `Withdrawal` is the last withdrawal, hop by hop: what it triggers there
(SIM-8), which threshold counts (PRN-2), and whether the similarity reaches it (Algorithm 1). Both read ghosts only and
no table, so no broker can talk itself out of an answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from itertools import pairwise

from attrs import field, frozen

from routeproof.model.history import Ledger
from routeproof.model.instance import Advertiser
from routeproof.model.messages import Advertisement, Publication, Subscription
from routeproof.model.overlay import Link, Node
from routeproof.model.pruning.vocabulary import PruningParameters
from routeproof.spec.specification import Seen


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
        ledger, delivered = self.ledger, self.history.delivered
        mine = (p for p in ledger.instance.publications if p.of == self.advertiser.advertisement.id)
        return tuple(p for p in mine if delivered & ledger.pair(p.rank, self.rank))

    def joins_at(self, p: Publication) -> Iterator[int]:
        """Where on the path others that match p come in: each t at the first broker of the path on its own way."""
        return (next(i for i, b in enumerate(self.path) if b in way) for way in self.ways(p))

    def first_join(self, p: Publication) -> int | None:
        return min(self.joins_at(p), default=None)

    def similar(self, mu: int) -> tuple[Publication, ...]:
        """SIM-3 at B(mu), cumulatively: those that something else matches whose way to the publisher passes B(mu)."""
        here = self.path[mu]
        return tuple(p for p, brokers in zip(self.matched, self._on_ways, strict=True) if here in brokers)

    @cached_property
    def _on_ways(self) -> tuple[frozenset[Node], ...]:
        """Per publication, the brokers on the ways of all others that match it."""
        return tuple(frozenset(broker for way in self.ways(p) for broker in way) for p in self.matched)

    def ways(self, p: Publication) -> Iterator[tuple[Node, ...]]:
        """The ways to the publisher of all others that match p."""
        ledger, done = self.ledger, self.history.done
        live = ledger.active_subscriptions(done)
        for t in ledger.matching(p):
            if live[t] and t != self.rank:
                yield ledger.instance.overlay.path(ledger.home(t, done), self.advertiser.at)

    def reaches(self, mu: int, threshold: int, inclusive: bool = True) -> bool:
        """SIM-4, in percent, and so where nothing was delivered. CRD-3: "more than" is asked of the broker before."""
        if inclusive:
            return 100 * len(self.similar(mu)) >= threshold * len(self.matched)
        return mu > 0 and 100 * len(self.similar(mu - 1)) > threshold * len(self.matched)


def pasts(ledger: Ledger, history: Seen) -> Iterator[Past]:
    """Pasts of every active subscription with every active advertisement that has published to it."""
    if not history.delivered:
        return
    subs, advs = ledger.active_subscriptions(history.done), ledger.active_advertisements(history.done)
    for rank, live in enumerate(subs):
        for advertiser in ledger.instance.advertisers:
            if live and advs[advertiser.advertisement.rank]:
                past = Past(ledger, history, rank, advertiser, ledger.home(rank, history.done))
                if past.matched:
                    yield past


# -- the end of a withdrawal -------------------------------------------------------------------------------------------


@frozen
class Hop:
    """The decision of a broker that the withdrawal reached, for one neighbour."""

    link: Link
    triggered: int
    threshold: int | None
    """PRN-2: the one that counts; None where no distance counts."""
    beyond: tuple[Past, ...]
    """Pasts with the publishers beyond the link for whose sake the withdrawal came here."""
    mu: int
    goes_on: bool

    def would_end(self, threshold: int, inclusive: bool) -> bool:
        """With another threshold, for all that publications say."""
        return bool(self.beyond) and all(past.reaches(self.mu, threshold, inclusive) for past in self.beyond)


@frozen
class Withdrawal:
    """The withdrawal of `s`, which was the last change, on statistics that are fair (the ghost `cut`)."""

    ledger: Ledger
    history: Seen
    s: Subscription
    past_of: Mapping[str, Past]
    """By advertisement, of those that published to it."""

    @property
    def parameters(self) -> PruningParameters:
        found: PruningParameters = self.ledger.parameters
        return found

    @property
    def home(self) -> Node:
        return self.ledger.instance.subscribers[self.s.rank].at

    def path(self, node: Node) -> tuple[Node, ...]:
        return self.ledger.instance.overlay.path(self.home, node)

    def was_at(self, node: Node) -> bool:
        """Had it been sent all the way to this broker?"""
        return all(self.told(link) for link in pairwise(self.path(node)))

    def way(self, node: Node) -> list[Hop]:
        """The hops toward a broker to which it had been sent, up to the one where its withdrawal ends."""
        hops: list[Hop] = []
        listed = list(self._listed())
        for mu, link in enumerate(pairwise(self.path(node))):
            triggered = self.triggered(link)
            threshold = self._threshold(triggered)
            there = [a for a in listed if a in self._beyond(link)]
            listed = [a for a in there if not self._is_reached(a, mu, threshold)]
            pasts = tuple(self.past_of[a.id] for a in there if a.id in self.past_of)
            hops.append(Hop(link, triggered, threshold, pasts, mu, bool(listed) or self._is_full()))
            if not hops[-1].goes_on:
                break
        return hops

    def is_known(self) -> bool:
        """Do clients alone say what was sent where, and what would be?

        Not under lazy covering nor among equals, where it is what came first; not where `fewest` asks how many brokers
        were counted; and what is triggered, not where something withdrawn before may be retained in between, nor where
        not all is sent that nothing holds back any more (PRN-5).
        """
        s, parameters, done = self.s, self.parameters, self.history.done
        issues = (self.ledger.issue(rank, done) for rank in range(len(self.ledger.instance.subscriptions)))
        live = [t.filter for t in issues if t is not None]
        if any(t.covers(s.filter) and (s.filter.covers(t) or parameters.base == "lazy") for t in live):
            return False
        if self.ledger.policy == "selective":
            return parameters.fewest <= 1
        below = [t for t in live if s.filter.covers(t)]
        equal = any(t.covers(u) and u.covers(t) for i, t in enumerate(below) for u in below[:i])
        former = any(t.filter.overlaps(s.filter) for t in self.ledger.withdrawn(done) if t != s)
        return parameters.base == "active" and parameters.sends == "all" and not equal and not former

    # -- what was sent, and what would be ------------------------------------------------------------------------------

    def told(self, link: Link) -> bool:
        """Was it sent over this link, away from its home?"""
        return self._draws(link, self.s) and not any(t.filter.covers(self.s.filter) for t in self._near(link))

    def triggered(self, link: Link) -> int:
        """SIM-8: what would have to be sent if it were passed on over every link there that it had been sent over."""
        node = link[0]
        links = [(node, n) for n in self.ledger.instance.overlay.neighbours(node) if n not in self.path(node)]
        asked = [link] if self.parameters.triggered == "neighbour" else [on for on in links if self.told(on)]
        return len({u.rank for on in asked for u in self._uncovered(on)})

    def _uncovered(self, link: Link) -> Iterator[Subscription]:
        """Subscriptions that it alone held back there."""
        near = list(self._near(link))
        for u in near:
            if self.s.filter.covers(u.filter) and not any(t.filter.covers(u.filter) for t in near if t != u):
                yield u

    def _near(self, link: Link) -> Iterator[Subscription]:
        """All others whose clients are on this side of the link, and that an advertisement beyond draws."""
        side = self.ledger.instance.overlay.side(link)
        for rank in range(len(self.ledger.instance.subscriptions)):
            t = self.ledger.issue(rank, self.history.done)
            if t is not None and self.ledger.home(rank, self.history.done) in side and self._draws(link, t):
                yield t

    def _draws(self, link: Link, t: Subscription) -> bool:
        return any(a.filter.overlaps(t.filter) for a in self._beyond(link))

    def _beyond(self, link: Link) -> list[Advertisement]:
        side = self.ledger.instance.overlay.side(link)
        live = self.ledger.active_advertisements(self.history.done)
        return [
            a.advertisement for a in self.ledger.instance.advertisers if live[a.advertisement.rank] and a.at not in side
        ]

    # -- what the list says --------------------------------------------------------------------------------------------

    def _listed(self) -> Iterator[Advertisement]:
        """PRN-1, CRD-6"""
        for a in self.ledger.instance.advertisements:
            known = a.id in self.past_of or self.parameters.without_history != "absent"
            if known and a.filter.overlaps(self.s.filter):
                yield a

    def _threshold(self, triggered: int) -> int | None:
        """PRN-2"""
        if self.ledger.policy == "selective":
            return self.parameters.thresholds[0]
        some, many = self.parameters.cuts
        return None if triggered < some else self.parameters.thresholds[0 if triggered >= many else 1]

    def _is_reached(self, a: Advertisement, mu: int, threshold: int | None) -> bool:
        if threshold is None:
            return False
        if a.id in self.past_of:
            return self.past_of[a.id].reaches(mu, threshold, self.parameters.inclusive)
        return self.parameters.without_history == "zero"

    def _is_full(self) -> bool:
        """STA-8, with `fewest = 1`: nothing else came in on the way."""
        joins = ((past.first_join(p), past) for past in self.past_of.values() for p in past.matched)
        seen = any(first is not None and first < len(past.path) - 1 for first, past in joins)
        return self.ledger.policy == "selective" and self.parameters.fewest > 0 and not seen


def last_withdrawal(ledger: Ledger, history: Seen) -> Withdrawal | None:
    """Returns the withdrawal that was the last change, where statistics can be exact: entries that travel the other way
    are left out (STA-5), no row has left the window, and nothing that was withdrawn before matches. If nothing was
    delivered to the subscription, nothing that was withdrawn before may overlap it.
    """
    if not history.cut:
        return None
    s = ledger.instance.subscriptions[history.cut - 1]
    home, parameters = ledger.instance.subscribers[s.rank].at, ledger.parameters
    found = (Past(ledger, history, s.rank, advertiser, home) for advertiser in ledger.instance.advertisers)
    past_of = {past.advertiser.advertisement.id: past for past in found if past.matched}
    if parameters.counts != "elsewhere" or any(len(past.matched) > parameters.window for past in past_of.values()):
        return None
    former = [t for t in ledger.withdrawn(history.done) if t != s]
    if not past_of and any(t.filter.overlaps(s.filter) for t in former):
        return None
    beside_withdrawn = any(was_withdrawn(ledger, history, s, past.matched) for past in past_of.values())
    return None if beside_withdrawn else Withdrawal(ledger, history, s, past_of)


def was_withdrawn(ledger: Ledger, history: Seen, s: Subscription, publications: Iterable[Publication]) -> bool:
    """Was another subscription withdrawn before that matches? It may be retained somewhere."""
    others = [t.rank for t in ledger.withdrawn(history.done) if t != s]
    return any(rank in ledger.matching(p) for rank in others for p in publications)
