"""One broker's tables as bit sets: `Knowledge`.

It offers the handlers of `model/routing.py` what they use of `Tables`, but changes in place. In addition to the tables
it keeps results that the handlers would derive from them repeatedly: for each neighbour its candidates (RTE-3), and
those for which what was sent there is right (`settled`; `settling` has the argument).
"""

from __future__ import annotations

from collections.abc import Iterable

from routeproof.checker.validate.fast.bits import numbers_of
from routeproof.checker.validate.fast.universe import Universe
from routeproof.model.messages import Advertisement, Subscription
from routeproof.model.overlay import Node
from routeproof.model.tables import Tables, by_id


class Knowledge:
    """`of` takes tables as any trace may state them, settled or not.

    Where they are such as no handler makes them, they are put in order first, as the model's next change would: entries
    by id, of equal entries the first. What is answered is what the model answers on tables in that order.
    """

    def __init__(self, universe: Universe, node: Node) -> None:
        self.universe = universe
        self.node = node
        self.advs: dict[Advertisement, Node] = {}
        self.subs: dict[int, Node] = {}
        """Slots and last hops. Like `advs` in the order in which they came, which decides where ids are the same."""
        self.hops: dict[Node, int] = {}
        """Per last hop, the subscriptions from there."""
        self.sent: dict[Node, int] = {}
        self.candidates: dict[Node, int] = {}
        self.settled: dict[Node, int] = {}
        """Per neighbour, the candidates of which `sent` is what the policy wants; if it is not in `unproven`."""
        self.unproven: set[Node] = set()
        """Neighbours for which this has not been checked yet."""
        self.late: dict[Node, int] = {}
        """COV-6: of `sent`, what came in the last settle: behind others of the same id."""
        self._told: dict[Node, dict[int, int]] = {}
        """Per neighbour not settled since the tables were stated, the places there of what was sent."""
        self._promises: dict[Node, dict[int, int]] = {}
        """Per last hop, what is promised from there, and in how many advertisements."""
        self._ways: dict[Node, int] = {}
        """Last hops and their promises as a mask."""
        self._subs_by_id: dict[str, int] = {}
        self._advs_by_id: dict[str, Advertisement] = {}
        universe.join(self)

    # -- from and to the model's tables --------------------------------------------------------------------------------

    @classmethod
    def of(cls, universe: Universe, node: Node, tables: Tables) -> Knowledge:
        made = cls(universe, node)
        for a, sender in sorted(tables.advs, key=lambda entry: by_id(entry[0])):
            if a not in made.advs:
                made.with_adv(a, sender)
        for s, sender in sorted(tables.subs, key=lambda entry: by_id(entry[0])):
            if made.sub_from(s) is None:
                made.with_sub(s, sender)
        for neighbour, told in tables.sent:
            if neighbour not in made._told:
                made._tell(neighbour, told)
        made.settled.update(made.candidates)
        made.unproven.update(made.candidates, made.sent)
        return made

    def tables(self) -> Tables:
        """Tables in the form of the model."""
        item = self.universe.subscription
        subs = [(item(slot), hop) for slot, hop in self.subs.items()]
        return Tables(
            advs=tuple(sorted(self.advs.items(), key=lambda entry: by_id(entry[0]))),
            subs=tuple(sorted(subs, key=lambda entry: by_id(entry[0]))),
            sent=tuple((n, tuple(self.in_sent_order(n, self.sent[n]))) for n in sorted(self.sent) if self.sent[n]),
        )

    def _tell(self, neighbour: Node, told: Iterable[Subscription]) -> None:
        places = self._told[neighbour] = {}
        mask = 0
        for s in sorted(told, key=by_id):
            slot = self.universe.slot(s)
            places.setdefault(slot, len(places))
            mask |= 1 << slot
            self.sent[neighbour] = mask  # at once: the universe must know that the slot is held

    # -- what the handlers ask and change ------------------------------------------------------------------------------

    def adv_from(self, advertisement: Advertisement) -> Node | None:
        """Where it came from; None when unknown."""
        return self.advs.get(advertisement)

    def sub_from(self, subscription: Subscription) -> Node | None:
        """Where it came from; None when unknown."""
        slot = self.universe.subscriptions.known(subscription)
        return None if slot is None else self.subs.get(slot)

    def adv_named(self, id: str) -> Advertisement | None:
        """The advertisement of this id; where there are several, one of them."""
        return self._advs_by_id.get(id)

    def sub_named(self, id: str) -> Subscription | None:
        """The subscription of this id; where there are several, one of them."""
        slot = self._subs_by_id.get(id)
        return None if slot is None else self.universe.subscription(slot)

    def with_adv(self, advertisement: Advertisement, sender: Node) -> Knowledge:
        self.without_adv(advertisement)
        self.advs[advertisement] = sender
        self._advs_by_id[advertisement.id] = advertisement
        promise = self.universe.promises.number(advertisement.filter)
        from_there = self._promises.setdefault(sender, {})
        from_there[promise] = from_there.get(promise, 0) + 1
        if from_there[promise] == 1:
            self._ways[sender] = self._ways.get(sender, 0) | 1 << promise
            others = self._known() & ~self.hops.get(sender, 0)
            new = self.universe.overlapping(promise) & others if others else 0
            self.candidates[sender] = self.candidates.get(sender, 0) | new
        return self

    def without_adv(self, advertisement: Advertisement) -> Knowledge:
        sender = self.advs.pop(advertisement, None)
        if sender is None:
            return self
        if self._advs_by_id[advertisement.id] == advertisement:
            del self._advs_by_id[advertisement.id]
            if len(self._advs_by_id) < len(self.advs):
                self._advs_by_id.update((a.id, a) for a in self.advs if a.id == advertisement.id)
        promise = self.universe.promises.number(advertisement.filter)
        from_there = self._promises[sender]
        from_there[promise] -= 1
        if not from_there[promise]:
            del from_there[promise]
            self._ways[sender] &= ~(1 << promise)
            self.candidates[sender] &= ~self._lost(sender, promise)
        return self

    def _lost(self, sender: Node, promise: int) -> int:
        """The candidates that only this promise was for."""
        lost = self.candidates[sender] & self.universe.overlapping(promise)
        for other in self._promises[sender]:
            if not lost:
                break
            lost &= ~self.universe.overlapping(other)
        return lost

    def with_sub(self, subscription: Subscription, sender: Node) -> Knowledge:
        slot = self.universe.slot(subscription)
        self._forget(slot)
        bit = 1 << slot
        self.subs[slot] = sender
        self.hops[sender] = self.hops.get(sender, 0) | bit
        self._subs_by_id[subscription.id] = slot
        promised = self.universe.promised(slot) if self._ways else 0
        for neighbour, promises in self._ways.items():
            if neighbour != sender and promises & promised:
                self.candidates[neighbour] |= bit
        return self

    def without_sub(self, subscription: Subscription) -> Knowledge:
        slot = self.universe.subscriptions.known(subscription)
        if slot is not None:
            self._forget(slot)
        return self

    def _forget(self, slot: int) -> None:
        sender = self.subs.pop(slot, None)
        if sender is None:
            return
        rest = ~(1 << slot)
        self.hops[sender] &= rest
        for neighbour in self.candidates:
            self.candidates[neighbour] &= rest
        id = self.universe.subscription(slot).id
        if self._subs_by_id[id] == slot:
            del self._subs_by_id[id]
            if len(self._subs_by_id) < len(self.subs):
                others = (each for each in self.subs if self.universe.subscription(each).id == id)
                self._subs_by_id.update((id, each) for each in others)

    def unsettled(self) -> set[Node]:
        """The neighbours that settling may change anything for."""
        found = {n for n, slots in self.candidates.items() if slots != self.settled.get(n, 0)}
        found.update(n for n, slots in self.settled.items() if slots != self.candidates.get(n, 0))
        found.update(n for n, slots in self.late.items() if slots)
        found.update(self.unproven, self._told)
        return found

    def now_sent(self, neighbour: Node, added: int, removed: int, late: int) -> None:
        """The neighbour has been settled. `late`: what was added, where that stands behind the rest."""
        if added or removed:
            self.sent[neighbour] = (self.sent.get(neighbour, 0) | added) & ~removed
        self.late[neighbour] = late
        self.settled[neighbour] = self.candidates.get(neighbour, 0)
        self.unproven.discard(neighbour)
        self._told.pop(neighbour, None)

    # -- the order of ids ----------------------------------------------------------------------------------------------

    def in_table_order(self, mask: int) -> list[Subscription]:
        """By id; and where several have the same, as they came."""
        found = self.universe.in_order(mask)
        return found if len(found) < 2 or not self._same_ids else self._by_place(mask, self._arrivals())

    def in_sent_order(self, neighbour: Node, mask: int) -> list[Subscription]:
        """By id; and where several have the same, as they stand in the model's `sent`."""
        places = self._told.get(neighbour)
        if places is None:
            found = self.universe.in_order(mask)
            if len(found) < 2 or not self._same_ids:
                return found
            places = self._arrivals()
            late = self.late.get(neighbour, 0)
            for slot in numbers_of(late):
                places[slot] = places.get(slot, 0) + len(self.subs)
        return self._by_place(mask, places)

    @property
    def _same_ids(self) -> bool:
        return len(self._subs_by_id) < len(self.subs)

    def _arrivals(self) -> dict[int, int]:
        return {slot: place for place, slot in enumerate(self.subs)}

    def _by_place(self, mask: int, places: dict[int, int]) -> list[Subscription]:
        slots = sorted(numbers_of(mask), key=lambda slot: places.get(slot, len(places)))
        return sorted((self.universe.subscription(slot) for slot in slots), key=by_id)

    # -- what the universe must not give to others ---------------------------------------------------------------------

    def slots_held(self) -> int:
        held = self._known()
        for slots in (*self.sent.values(), *self.settled.values()):
            held |= slots
        return held

    def promises_held(self) -> int:
        held = 0
        for promises in self._ways.values():
            held |= promises
        return held

    def _known(self) -> int:
        known = 0
        for slots in self.hops.values():
            known |= slots
        return known
