"""One broker of a protocol's model, in step with its trace: `BrokerModel`.

The routing core is replayed on bit sets (`CoreModel`), every other protocol by its own handler (`handler`). The replay
compares answers; which model gives them is no concern of it.

`SafeModel` is the core at the level `safe`, where a broker may forward more than the reference and may lose nothing. It
follows the tables that the broker itself has: its subscriptions follow from what it received, and what it sent to a
neighbour from its own sends. Where a step differs from the reference, four conditions decide for each neighbour:

1. Advertisements and their withdrawals are flooded as the reference floods them.
2. Every candidate (RTE-3) is covered by something that the neighbour was sent: nothing is lost.
3. Everything that the neighbour was sent is still known here and did not come from there: nothing is left for ever.
4. Additions precede withdrawals (COV-8).

A broker may also forward an entry of its own for several subscriptions that it covers (a *merger*), under an id that
is no subscription's. It counts for condition 2 by its filter, and for condition 3 as long as it covers a subscription
that is known here and did not come from there.

If they hold, the deviation is harmless. It is counted, and the replay goes on with the broker's own tables.

When the last advertisement that a subscription overlaps is withdrawn, both ends of a link may forget the subscription
without a message. A subscription sent there may be forgotten (`_forgotten`), and one received from there may be gone
(`_doubtful`) until it is announced again. Condition 2 does not ask for the latter, condition 3 not for the former.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from routeproof.checker.validate.broker.canonical import CanonicalMessage, canonical_in_model
from routeproof.checker.validate.broker.comparison import (
    FLOODED,
    Divergence,
    Place,
    Reasons,
    blame,
    differ,
    first_early,
)
from routeproof.checker.validate.broker.messages import MessageMeaning, Unreadable, model_message, publication
from routeproof.checker.validate.fast import Knowledge, Replica, covered_by, publish
from routeproof.checker.validate.fast.bits import numbers_of
from routeproof.checker.validate.setting import Setting
from routeproof.model.filters import Filter, FilterError
from routeproof.model.messages import Deliver, Publish, Subscribe, Subscription
from routeproof.model.overlay import LOCAL, Node
from routeproof.model.protocol import NOTHING_KEPT, Kept
from routeproof.model.tables import Tables
from routeproof.traces import TraceTables

Sends = Sequence[tuple[Node, Hashable]]
Route = tuple[tuple[Node, ...], list[Subscription]]
"""The neighbours to which a publication goes, and the local subscriptions for which it is delivered."""


class AcceptedStep(NamedTuple):
    """A step that was accepted. `sender`: the neighbour's name, empty for a client. `before`: how many of the part's
    events were accepted before it. `sends`: what the trace has as sent, with receiver, seq and line; None where sends
    are not observed."""

    told: MessageMeaning
    sender: str
    seq: int
    before: int
    time: int
    sends: Sequence[tuple[Node, MessageMeaning, int, int]] | None


class BrokerModel(ABC):
    """The model of one broker. A step is one call of `handle`, then of `answer` or, where it suffices, of `route`."""

    @abstractmethod
    def handle(self, sender: Node, told: MessageMeaning) -> None:
        """Takes the next message; raises `Unreadable` or `FilterError` where it cannot be handled."""

    @abstractmethod
    def answer(self) -> Sends:
        """The messages that the broker sends and delivers in this step, in order."""

    @abstractmethod
    def restart(self) -> None:
        """Begins again, as after a crash."""

    @abstractmethod
    def known_ids(self) -> set[str]:
        """Ids of the known subscriptions."""

    def knows(self, kind: str, id: str) -> bool:
        """True if a withdrawal of this kind names something that the broker knows."""
        return True

    @property
    @abstractmethod
    def size(self) -> int:
        """The number of known subscriptions."""

    @abstractmethod
    def difference(self, told: TraceTables) -> tuple[str, str] | None:
        """Where a snapshot differs: what the model has there, what the snapshot has there."""

    @abstractmethod
    def blame(self, missing: CanonicalMessage | None, extra: CanonicalMessage | None) -> str:
        """The rule behind a difference between the answer and what was seen in this step."""

    def reason(self, missing: CanonicalMessage | None, extra: CanonicalMessage | None, to: Node) -> str:
        """Why the model sends what is missing in this step, or does not send what is there; empty if unknown."""
        return ""

    def unwanted(self, told: MessageMeaning, to: str) -> str:
        """Why the model does not make this delivery; empty if unknown."""
        return ""

    def route(self) -> Route | None:
        """Where the publication of this step goes; None where it takes `answer` to say so."""
        return None

    def kept(self) -> Kept:
        """Messages that the broker holds back after this step: they count as on their way."""
        return NOTHING_KEPT

    def original(self, told: MessageMeaning, id: str) -> MessageMeaning:
        """The publication of this id as it was before this step, without a header: what clients are to get of it."""
        return told

    def canonical(self, message: Hashable) -> CanonicalMessage:
        """Canonical form of a message of the model."""
        return canonical_in_model(message)

    def counterpart(self, of: CanonicalMessage, among: Sequence[CanonicalMessage]) -> CanonicalMessage | None:
        """A message of another content about the same, with which `of` is compared in words."""
        return None


class CoreModel(BrokerModel):
    """The routing core on bit sets."""

    def __init__(self, setting: Setting, replica: Replica, broker: str, tables: Tables | None) -> None:
        self._replica = replica
        self._ranks, self._policy, self._name_of = setting.ranks, setting.policy, setting.name_of
        self.knowledge: Knowledge = replica.knowledge(setting.node.get(broker, LOCAL), tables or Tables())
        self._wanted: Sends = ()
        self._told: MessageMeaning
        self._sender = LOCAL
        self._gone: Subscription | None = None

    def handle(self, sender: Node, told: MessageMeaning) -> None:
        if told.is_control:
            known = self.knowledge
            self._gone = known.sub_named(told.items[0].of or told.items[0].id) if told.kind == "unsubscribe" else None
            message = model_message(told, self._ranks, known.sub_named, known.adv_named)
            self._wanted = () if message is None else self._replica.handle(known, sender, message)
        elif told.written == b"":
            raise Unreadable(f"publication {told.id} without its event")
        self._told, self._sender = told, sender

    def route(self) -> Route | None:
        """RTE-5"""
        told = self._told
        if told.is_control:
            return None
        universe = self._replica.universe
        if told.matching is None or told.matching.moment != universe.subscriptions.moment:
            event = told.event
            assert event is not None, "asked when it was handled"
            told.matching = universe.matching(event)
        hops, slots = publish(self.knowledge, self._sender, told.matching)
        return hops, [universe.subscription(slot) for slot in slots] if slots else []

    def answer(self) -> Sends:
        if self._told.is_control or (route := self.route()) is None:
            return self._wanted
        p, (hops, local) = publication(self._told), route
        return [*((hop, Publish(p)) for hop in hops), *((LOCAL, Deliver(p, s)) for s in local)]

    def restart(self) -> None:
        self.knowledge = self._replica.knowledge(self.knowledge.node, Tables())

    def known_ids(self) -> set[str]:
        return {self.knowledge.universe.subscription(slot).id for slot in self.knowledge.subs}

    def knows(self, kind: str, id: str) -> bool:
        named = self.knowledge.sub_named if kind == "unsubscribe" else self.knowledge.adv_named
        return named(id) is not None

    @property
    def size(self) -> int:
        return len(self.knowledge.subs)

    def difference(self, told: TraceTables) -> tuple[str, str] | None:
        return differ(self.knowledge.tables(), told, self._name_of)

    def blame(self, missing: CanonicalMessage | None, extra: CanonicalMessage | None) -> str:
        return blame(self._told.kind, self.knowledge.tables(), self._policy, missing, extra)

    def reason(self, missing: CanonicalMessage | None, extra: CanonicalMessage | None, to: Node) -> str:
        tables = self.knowledge.tables()
        with suppress(FilterError):  # a trace may mix filters of two kinds, which cannot be compared
            return Reasons(tables, self._policy, self._name_of, self._sender, self._gone).of(missing, extra, to)
        return "filters of two kinds, sets of events and predicates, cannot be compared"

    def unwanted(self, told: MessageMeaning, to: str) -> str:
        s = self.knowledge.sub_named(to)
        if to.startswith("@"):
            return ""
        if s is None:
            return f"{to} is not known here"
        event = told.event if told.written != b"" else None
        return (
            f"{to} ({s.filter}) does not match {told.id}" if event is not None and not s.filter.matches(event) else ""
        )


# -- the level safe ----------------------------------------------------------------------------------------------------

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
        self._forgotten, self._doubtful, self._mergers = {}, 0, {}

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
            for id, wants in said.about if said.adds or said.withdraws else ():
                slot = self._slot(id) if said.adds else ids.get(id)
                if said.adds and slot is None and wants is not None:
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
