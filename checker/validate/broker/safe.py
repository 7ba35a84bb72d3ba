"""The level `safe`: `SafeModel`, the routing core on the tables of the broker that is judged.

A broker may forward more than the reference and may lose nothing. The model follows the tables that the broker itself
has: its subscriptions follow from what it received, and what it sent to a neighbour from its own sends. Where a step
differs from the reference, four conditions decide for each neighbour:

1. Advertisements and their withdrawals are flooded as the reference floods them.
2. Every candidate (RTE-3) is covered by something that the neighbour was sent: nothing is lost.
3. Everything that the neighbour was sent is still known here and did not come from there: nothing is left for ever.
4. Additions precede withdrawals (COV-8).

A broker may also forward an entry of its own for several subscriptions that it covers (a *merger*), under an id that
is no subscription's. It counts for condition 2 by its filter, and for condition 3 as long as it covers a subscription
that is known here and did not come from there. If it names subscriptions (a list under `of`), it covers each of them,
and each is known here and did not come from there.

If they hold, the deviation is harmless. It is counted, and the replay goes on with the broker's own tables.

When the last advertisement that a subscription overlaps is withdrawn, both ends of a link may forget the subscription
without a message. A subscription sent there may be forgotten (`_forgotten`), and one received from there may be gone
(`_doubtful`) until it is announced again. Condition 2 does not ask for the latter, condition 3 not for the former.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from routeproof.checker.validate.broker.canonical import ADDS, CanonicalMessage, canonical_in_model
from routeproof.checker.validate.broker.comparison import FLOODED, Divergence, Place, differ, first_early
from routeproof.checker.validate.broker.messages import MessageMeaning
from routeproof.checker.validate.broker.model import CoreModel
from routeproof.checker.validate.fast import Replica, covered_by
from routeproof.checker.validate.fast.bits import numbers_of
from routeproof.checker.validate.setting import Setting
from routeproof.model.filters import Filter
from routeproof.model.messages import Subscribe
from routeproof.model.overlay import LOCAL, Node
from routeproof.model.tables import Tables
from routeproof.traces import TraceTables

FEWEST = 1024
"""Number of names in received lists below which those of withdrawn entries are not looked for."""

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
        self._mergers: dict[Node, dict[str, Filter]] = {}
        """By neighbour and id, entries that the broker made itself and sent there."""
        self._within: dict[str, str] = {}
        """By the name of a subscription, the received entry that stands for it and others."""
        self._look_at = FEWEST

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
                self._within.update(dict.fromkeys(item.several, item.id) if told.kind in ADDS else ())
            if len(self._within) >= self._look_at:
                self._within = {id: entry for id, entry in self._within.items() if self._slot(entry) is not None}
                self._look_at = max(FEWEST, 2 * len(self._within))
        self._doubtful &= self._known_but(LOCAL)

    def restart(self) -> None:
        super().restart()
        self._forgotten, self._doubtful, self._mergers, self._within = {}, 0, {}, {}

    @property
    def merges(self) -> bool:
        """True if some neighbour was sent an entry that the broker made itself."""
        return any(self._mergers.values())

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
            mergers = {} if to is None else {id: f for id, f in self._mergers.get(to, {}).items() if id in ids}
            slots = [self._slot(id) for id in ids if id not in mergers]
            if to is None or None in slots:
                return differ(ours, told, self._name_of)
            sent = sum(1 << slot for slot in {each for each in slots if each is not None})
            odd = self._lacks(to, sent, (), mergers)
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
        mergers = dict(self._mergers.get(to, {}))
        ids = {self.knowledge.universe.subscription(slot).id: slot for slot in numbers_of(sent)}
        for said, at in seen:
            several = dict(zip((id for id, _ in said.about), said.several, strict=False))
            for id, wants in said.about if said.adds or said.withdraws else ():
                slot = self._slot(id) if said.adds else ids.get(id)
                if said.adds and slot is None and wants is not None:
                    if reason := self._misnamed(id, wants, several.get(id, ()), known):
                        return Divergence(at, None, said, reason=reason)
                    mergers[id] = wants
                elif said.adds:
                    if slot is None or not known >> slot & 1:
                        return Divergence(at, None, said)
                    if self.knowledge.universe.subscription(slot).filter != wants:
                        return Divergence(at, None, said)
                    sent |= 1 << slot
                    ids[id] = slot
                    self._forgotten[to] = self._forgotten.get(to, 0) & ~(1 << slot)
                elif id in mergers:
                    del mergers[id]
                elif slot is not None:  # one that the neighbour does not know changes nothing (RTE-8)
                    sent &= ~(1 << slot)
        found = self._lacks(to, sent, wanted, mergers)
        if found is None:
            self._take_over(to, sent)
            self._mergers[to] = mergers
        return found

    def _misnamed(self, id: str, wants: Filter, several: Iterable[str], known: int) -> str:
        """Returns what is wrong with the names for which a new entry stands: each is known, and covered."""
        for name in several:
            slot = self._slot(name)
            slot = self._slot(self._within.get(name, "")) if slot is None else slot
            merged = next((f for some in self._mergers.values() for each, f in some.items() if each == name), None)
            if merged is None and (slot is None or not known >> slot & 1):
                return f"{id} is said to stand for {name}, which came from no client and no other neighbour"
            stands = merged if slot is None else self.knowledge.universe.subscription(slot).filter
            if stands is not None and not wants.covers(stands):
                return f"{id} ({wants}) is said to stand for {name} ({stands}), and does not cover it"
        return ""

    def _lacks(
        self, to: Node, sent: int, wanted: Sequence[CanonicalMessage], mergers: Mapping[str, Filter]
    ) -> Divergence | None:
        """Conditions 2 and 3: what the neighbour would have to be sent, or withdrawn."""
        universe, known = self.knowledge.universe, self._known_but(to)
        asked = self.knowledge.candidates.get(to, 0) & ~self._doubtful & ~sent
        open_ones = asked & ~covered_by(universe, sent & known, asked) if asked and sent else asked
        subscriptions = [universe.subscription(slot) for slot in numbers_of(open_ones)]
        subscriptions = [s for s in subscriptions if not any(each.covers(s.filter) for each in mergers.values())]
        if subscriptions:
            ids = {s.id for s in subscriptions}
            named = (said for said in wanted if said.adds and not ids.isdisjoint(id for id, _ in said.about))
            return Divergence(None, next(named, canonical_in_model(Subscribe(subscriptions[0]))), None)
        stale = sent & ~known & ~self._forgotten.get(to, 0)
        if stale:
            id = universe.subscription(numbers_of(stale)[0]).id
            return Divergence(None, CanonicalMessage("unsubscribe", ((id, None),)), None)
        stood_for = [universe.subscription(slot).filter for slot in numbers_of(known)] if mergers else []
        for id, wants in mergers.items():
            if not any(wants.covers(each) for each in stood_for):
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
