"""Subscription tables of a mesh broker: the master table by anchors, and the working table over it.

Each anchor has an index of its own. What a working map changes is which end stands for an anchor, so the working table
(SUB-5) is a list of anchors per end: to rebuild it takes as long as there are anchors, however many subscriptions there
are. A publication is compared with the ends downstream only, anchor by anchor, until one subscription matches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from routeproof.impl.index import Matching
from routeproof.impl.index.profile import ProfiledSubscription, Spans, profile_of
from routeproof.impl.mesh.forwarding import Bits, WorkingMap, places
from routeproof.model.filters import Event
from routeproof.model.messages import Subscription
from routeproof.model.overlay import Node
from routeproof.model.tables import by_id


class SubscriptionTables:
    """Starts empty. `centre`: the broker itself, which is the anchor of local subscriptions (SUB-2)."""

    def __init__(self, centre: Node) -> None:
        self.centre = centre
        self._entries: dict[Subscription, ProfiledSubscription] = {}
        self._matching: dict[Node, Matching] = {}
        self._sizes: dict[Node, int] = {}
        self._stands: dict[Node, int] = {}
        self._working: list[list[Node]] = []

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, subscription: Subscription) -> bool:
        return subscription in self._entries

    def __iter__(self) -> Iterator[tuple[Subscription, Node]]:
        """The subscriptions with their anchors, in the order of ids."""
        for subscription in sorted(self._entries, key=by_id):
            yield subscription, self._entries[subscription].source

    @property
    def anchors(self) -> Iterable[Node]:
        return self._matching.keys()

    def anchor(self, subscription: Subscription) -> Node:
        return self._entries[subscription].source

    def put(self, subscription: Subscription, anchor: Node) -> None:
        """Adds a subscription, or gives it another anchor."""
        former = self._entries.get(subscription)
        if former is not None:
            if former.source == anchor:
                return
            self.drop(subscription)
        if anchor not in self._matching:
            self._matching[anchor] = Matching((anchor,))
            self._sizes[anchor] = 0
            self._represent(anchor)
        entry = self._entries[subscription] = ProfiledSubscription(
            subscription, profile_of(subscription.filter), anchor
        )
        self._matching[anchor].add(entry)
        self._sizes[anchor] += 1

    def drop(self, subscription: Subscription) -> None:
        entry = self._entries.pop(subscription)
        anchor = entry.source
        self._matching[anchor].remove(entry)
        self._sizes[anchor] -= 1
        if not self._sizes[anchor]:
            del self._matching[anchor], self._sizes[anchor]
            if anchor in self._stands:
                self._working[self._stands[anchor]].remove(anchor)

    def rebuild(self, view: WorkingMap) -> None:
        """SUB-5: the working table of a new working map."""
        self._stands = view.stands
        self._working = [[] for _ in view.array]
        for anchor in self._matching:
            self._represent(anchor)

    def _represent(self, anchor: Node) -> None:
        if anchor in self._stands:
            self._working[self._stands[anchor]].append(anchor)

    def local(self, event: Event, spans: Spans) -> list[ProfiledSubscription]:
        """The local subscriptions that match, in the order of ids."""
        own = self._matching.get(self.centre)
        return own.all_from(self.centre, event, spans) if own is not None else []

    def matching(self, event: Event, spans: Spans, among: Bits) -> Bits:
        """FWD-1: of some ends, those that stand for an anchor of a matching subscription.

        SUB-6: that is so if a member of the end's covering set matches. The index needs no such set: it finds one
        subscription that matches, and looks no further.
        """
        found = 0
        for place in places(among):
            if any(self._matching[anchor].any_from(anchor, event, spans) for anchor in self._working[place]):
                found |= 1 << place
        return found
