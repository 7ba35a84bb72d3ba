"""All subscriptions and advertisements that one judge has been shown, at whatever broker: `Universe`.

A subscription's number there is its *slot*. Which events it matches, and which others it covers, is the same at every
broker, so it is found out once and then cut to what a broker knows by one `&`.
"""

from __future__ import annotations

from typing import Protocol
from weakref import WeakSet

from routeproof.checker.validate.fast.bits import numbers_of
from routeproof.checker.validate.fast.register import KEPT, Answer, Register
from routeproof.model.filters import Event, Filter
from routeproof.model.messages import Subscription
from routeproof.model.tables import by_id


class Holder(Protocol):
    """The users of slots; queried only now and then, so that holding a slot costs nothing."""

    def slots_held(self) -> int: ...

    def promises_held(self) -> int: ...


class Universe:
    """Slots for subscriptions, and numbers for what advertisements promise: their filters."""

    def __init__(self, kept: int = KEPT) -> None:
        self._holders: WeakSet[Holder] = WeakSet()
        self.subscriptions = Register[Subscription](lambda s: s.filter, self._slots_held, kept, self._forget)
        self.promises = Register[Filter](lambda f: f, self._promises_held, kept, self._forget)

    def join(self, holder: Holder) -> None:
        self._holders.add(holder)

    # -- masks over the slots: bits of a slot that is not in use are meaningless ------------------------------------

    def matching(self, event: Event) -> Answer:
        """The subscriptions that match."""
        return self.subscriptions.matching(event)

    def covering(self, slot: int) -> int:
        """The subscriptions that cover this one: itself, and those that are equal, among them."""
        return self.subscriptions.covering(self.filter(slot))

    def covered(self, slot: int) -> int:
        """The subscriptions that this one covers: itself, and those that are equal, among them."""
        return self.subscriptions.covered(self.filter(slot))

    def equal(self, slot: int) -> int:
        """The subscriptions with the same filter, itself among them."""
        return self.subscriptions.same(self.filter(slot))

    def overlapping(self, promise: int) -> int:
        """The subscriptions that an advertisement with this filter is for."""
        return self.subscriptions.overlapping(self.promises.filter(promise))

    def promised(self, slot: int) -> int:
        """Advertisements whose filters overlap: a mask over their numbers."""
        return self.promises.overlapping(self.filter(slot))

    # -- from slots to subscriptions -----------------------------------------------------------------------------------

    def slot(self, subscription: Subscription) -> int:
        return self.subscriptions.number(subscription)

    def subscription(self, slot: int) -> Subscription:
        return self.subscriptions.item(slot)

    def filter(self, slot: int) -> Filter:
        return self.subscriptions.filter(slot)

    def in_order(self, mask: int) -> list[Subscription]:
        """The subscriptions of these slots, in the order of ids."""
        found = [self.subscription(slot) for slot in numbers_of(mask)]
        if len(found) > 1:
            found.sort(key=by_id)
        return found

    def _forget(self, gone: Filter) -> None:
        self.subscriptions.forget(gone)
        self.promises.forget(gone)

    def _slots_held(self) -> int:
        held = 0
        for holder in self._holders:
            held |= holder.slots_held()
        return held

    def _promises_held(self) -> int:
        held = 0
        for holder in self._holders:
            held |= holder.promises_held()
        return held
