"""The level `safe`: a broker of the routing core that may forward more than the reference, and may lose nothing.

`SafeModel` follows the tables that the broker itself has: its subscriptions follow from what it received, and what it
sent to a neighbour from its own sends. Where a step differs from the reference, four conditions decide for each
neighbour:

1. Advertisements and their withdrawals are flooded as the reference floods them.
2. Every candidate (RTE-3) is covered by something that the neighbour was sent: nothing is lost.
3. Everything that the neighbour was sent is still known here and did not come from there: nothing is left for ever.
4. Additions precede withdrawals (COV-8).

If they hold, the deviation is harmless. It is counted, and the replay goes on with the broker's own tables.

When the last advertisement that a subscription overlaps is withdrawn, both ends of a link may forget the subscription
without a message. A subscription sent there may be forgotten (`_forgotten`), and one received from there may be gone
(`_doubtful`) until it is announced again. Condition 2 does not ask for the latter, condition 3 not for the former.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from routeproof.checker.validate.broker.canonical import CanonicalMessage, canonical_in_model
from routeproof.checker.validate.broker.comparison import FLOODED, Divergence, Place, differ, first_early
from routeproof.checker.validate.broker.messages import MessageMeaning
from routeproof.checker.validate.broker.model import CoreModel
from routeproof.checker.validate.fast import Replica
from routeproof.checker.validate.fast.bits import numbers_of
from routeproof.checker.validate.fast.replica import covered_by
from routeproof.checker.validate.setting import Setting
from routeproof.model.messages import Subscribe
from routeproof.model.overlay import LOCAL, Node
from routeproof.model.tables import Tables
from routeproof.traces import TraceTables

Seen = Sequence[tuple[CanonicalMessage, Place]]


class SafeModel(CoreModel):
    """The routing core on the tables of the broker that is judged."""

    def __init__(self, setting: Setting, replica: Replica, broker: str, tables: Tables | None) -> None:
        super().__init__(setting, replica, broker, tables)
        self._near = setting.neighbours(broker)
        self._before: dict[Node, int] = {}
        """The subscriptions that each neighbour had been sent before this step."""
        self._forgotten: dict[Node, int] = {}
        self._doubtful = 0

    def handle(self, sender: Node, told: MessageMeaning) -> None:
        known = self.knowledge
        if told.is_control:
            self._before = dict(known.sent)
        super().handle(sender, told)
        if told.kind == "unadvertise":
            wanted = 0
            for slots in known.candidates.values():
                wanted |= slots
            self._doubtful |= self._known_but(LOCAL) & ~wanted
        elif told.is_control:
            for item in told.items:
                slot = self._slot(item.of or item.id)
                self._doubtful &= ~(0 if slot is None else 1 << slot)
        self._doubtful &= self._known_but(LOCAL)

    def restart(self) -> None:
        super().restart()
        self._forgotten, self._doubtful = {}, 0

    def fault(self, to: Node, wanted: Sequence[CanonicalMessage], seen: Seen) -> Divergence | None:
        """Returns what is wrong with the messages to a neighbour. If nothing is, the model takes over the broker's own
        tables."""
        if self._told.kind == "publish":
            return self._fault_of_publication(to, wanted, seen)
        return self._fault_of_floods(wanted, seen) or first_early(seen) or self._fault_of_tables(to, wanted, seen)

    def difference(self, told: TraceTables) -> tuple[str, str] | None:
        """Compares what the broker knows; what it sent is taken from the snapshot, if conditions 2 and 3 hold."""
        ours = self.knowledge.tables()
        found = differ(Tables(ours.advs, ours.subs, ()), TraceTables(told.advs, told.subs, None), self._name_of)
        if found is not None or told.sent is None:
            return found
        for name, ids in told.sent:
            to = self._near.get(name)
            slots = [self._slot(id) for id in ids]
            if to is None or None in slots:
                return differ(ours, told, self._name_of)
            sent = sum(1 << slot for slot in {each for each in slots if each is not None})
            odd = self._lacks(to, sent, ())
            if odd is not None and odd.missing is not None:
                return f"in sent: what {name} has to know, {odd.missing}", f"in sent: {', '.join(ids[:5])}"
            self._take_over(to, sent)
        return None

    # -- one neighbour -------------------------------------------------------------------------------------------------

    def _fault_of_publication(self, to: Node, wanted: Sequence[CanonicalMessage], seen: Seen) -> Divergence | None:
        """A publication may go to more neighbours, once each, and never back."""
        told = self._told.said
        for number, (said, at) in enumerate(seen):
            if said != told or number or to == self._sender:
                return Divergence(at, None, said)
        if not wanted or seen:
            return None
        event = self._told.event
        from_there = [self.knowledge.universe.subscription(n) for n in self._certain(to)]
        if event is not None and not any(s.filter.matches(event) for s in from_there):
            return None
        return Divergence(None, wanted[0], None)

    def _certain(self, hop: Node) -> Iterator[int]:
        return iter(numbers_of(self.knowledge.hops.get(hop, 0) & ~self._doubtful))

    def _fault_of_floods(self, wanted: Sequence[CanonicalMessage], seen: Seen) -> Divergence | None:
        left = Counter(said for said in wanted if said.kind in FLOODED)
        for said, at in seen:
            if said.kind in FLOODED:
                if not left[said]:
                    return Divergence(at, None, said)
                left[said] -= 1
        missing = next((said for said, count in left.items() if count), None)
        return None if missing is None else Divergence(None, missing, None)

    def _fault_of_tables(self, to: Node, wanted: Sequence[CanonicalMessage], seen: Seen) -> Divergence | None:
        sent, known = self._before.get(to, 0), self._known_but(to)
        ids = {self.knowledge.universe.subscription(slot).id: slot for slot in numbers_of(sent)}
        for said, at in seen:
            for id, wants in said.about if said.adds or said.withdraws else ():
                slot = self._slot(id) if said.adds else ids.get(id)
                if said.adds:
                    if slot is None or not known >> slot & 1:
                        return Divergence(at, None, said)
                    if self.knowledge.universe.subscription(slot).filter != wants:
                        return Divergence(at, None, said)
                    sent |= 1 << slot
                    ids[id] = slot
                    self._forgotten[to] = self._forgotten.get(to, 0) & ~(1 << slot)
                elif slot is not None:  # one that the neighbour does not know changes nothing (RTE-8)
                    sent &= ~(1 << slot)
        found = self._lacks(to, sent, wanted)
        if found is None:
            self._take_over(to, sent)
        return found

    def _lacks(self, to: Node, sent: int, wanted: Sequence[CanonicalMessage]) -> Divergence | None:
        """Conditions 2 and 3: what the neighbour would have to be sent, or withdrawn."""
        universe, known = self.knowledge.universe, self._known_but(to)
        asked = self.knowledge.candidates.get(to, 0) & ~self._doubtful & ~sent
        open_ones = asked & ~covered_by(universe, sent & known, asked) if asked and sent else asked
        if open_ones:
            subscriptions = [universe.subscription(slot) for slot in numbers_of(open_ones)]
            ids = {s.id for s in subscriptions}
            named = (said for said in wanted if said.adds and not ids.isdisjoint(id for id, _ in said.about))
            return Divergence(None, next(named, canonical_in_model(Subscribe(subscriptions[0]))), None)
        stale = sent & ~known & ~self._forgotten.get(to, 0)
        if stale:
            id = universe.subscription(numbers_of(stale)[0]).id
            return Divergence(None, CanonicalMessage("unsubscribe", ((id, None),)), None)
        return None

    def _take_over(self, to: Node, sent: int) -> None:
        known = self._known_but(to)
        if self._told_kind == "unadvertise":
            gone = sent & known & ~self.knowledge.candidates.get(to, 0)
            self._forgotten[to] = self._forgotten.get(to, 0) | gone
        sent &= known
        self._forgotten[to] = self._forgotten.get(to, 0) & sent
        self.knowledge.sent[to] = sent
        self.knowledge.unproven.add(to)

    @property
    def _told_kind(self) -> str:
        told: MessageMeaning | None = getattr(self, "_told", None)
        return "" if told is None else told.kind

    def _slot(self, id: str) -> int | None:
        s = self.knowledge.sub_named(id)
        return None if s is None else self.knowledge.universe.subscriptions.known(s)

    def _known_but(self, hop: Node) -> int:
        """The known subscriptions that did not come from there."""
        found = 0
        for node, slots in self.knowledge.hops.items():
            found |= slots if node != hop else 0
        return found
