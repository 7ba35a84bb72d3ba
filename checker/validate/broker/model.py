"""One broker of a protocol's model, in step with its trace: `BrokerModel`.

The routing core is replayed on bit sets (`CoreModel`), every other protocol by its own handler (`handler`). The replay
compares answers; which model gives them is no concern of it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Hashable, Sequence
from contextlib import suppress
from copy import copy
from typing import NamedTuple

from attrs import evolve

from routeproof.checker.validate.broker.canonical import WITHDRAWS, CanonicalMessage, canonical_in_model
from routeproof.checker.validate.broker.comparison import blame, differ
from routeproof.checker.validate.broker.messages import MessageMeaning, Unreadable, model_message, publication
from routeproof.checker.validate.broker.reasons import Reasons
from routeproof.checker.validate.fast import Knowledge, Replica, publish
from routeproof.checker.validate.setting import Setting
from routeproof.model.filters import FilterError
from routeproof.model.messages import (
    Advertisement,
    Deliver,
    PackedSubscribe,
    PackedUnsubscribe,
    Publish,
    Subscribe,
    Subscription,
    Unsubscribe,
)
from routeproof.model.overlay import LOCAL, Node
from routeproof.model.protocol import NOTHING_KEPT, Kept
from routeproof.model.tables import Tables
from routeproof.traces import TraceTables

GONE = ("unadvertise", *WITHDRAWS)
"""Kinds of messages that remove entries."""

WITHDRAWN = 64
"""Number of withdrawn subscriptions that a model remembers, to say of a message that it comes from one of them."""

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
        self._gone: list[Subscription | Advertisement] = []
        """The entries that the message withdraws."""
        self._withdrawn = deque[tuple[Subscription, Node]](maxlen=WITHDRAWN)
        """The subscriptions that were withdrawn lately, each with by whom."""

    def handle(self, sender: Node, told: MessageMeaning) -> None:
        if told.is_control:
            known = self.knowledge
            named = known.sub_named if told.kind in WITHDRAWS else known.adv_named
            found = map(named, (item.of or item.id for item in told.items)) if told.kind in GONE else ()
            self._gone = [each for each in found if each is not None]
            message = model_message(told, self._ranks, known.sub_named, known.adv_named)
            self._wanted = () if message is None else self._replica.handle(known, sender, message)
            for each in self._gone:
                if isinstance(each, Subscription) and known.sub_named(each.id) is None:
                    self._withdrawn.append((each, sender))
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

    def before(self) -> Tables:
        """Tables before the step that was handled last."""
        tables, told = self.knowledge.tables(), self._told
        if not told.is_control:
            return tables
        if told.kind not in GONE:
            came = {item.of or item.id for item in told.items}
            if told.kind == "advertise":
                tables = evolve(tables, advs=tuple(each for each in tables.advs if each[0].id not in came))
            else:
                tables = evolve(tables, subs=tuple(each for each in tables.subs if each[0].id not in came))
        for each in self._gone:
            if isinstance(each, Subscription) and tables.sub_from(each) is None:
                tables = tables.with_sub(each, self._sender)
            elif isinstance(each, Advertisement) and tables.adv_from(each) is None:
                tables = tables.with_adv(each, self._sender)
        for to, message in self._wanted:
            sent = set(tables.sent_to(to))
            match message:
                case Subscribe(s):
                    sent.discard(s)
                case Unsubscribe(s):
                    sent.add(s)
                case PackedSubscribe(many):
                    sent.difference_update(many)
                case PackedUnsubscribe(many):
                    sent.update(many)
            tables = tables.with_sent(to, sent)
        return tables

    def with_tables(self, tables: Tables) -> CoreModel:
        """A model of the same broker that begins with other tables."""
        made = copy(self)
        made.knowledge = self._replica.knowledge(self.knowledge.node, tables)
        return made

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
        with suppress(FilterError):  # a trace may mix filters of two kinds, which cannot be compared
            return self._reasons().of(missing, extra, to)
        return "filters of two kinds, sets of events and predicates, cannot be compared"

    def unwanted(self, told: MessageMeaning, to: str) -> str:
        if to.startswith("@") or told.is_control:
            return ""
        return self._reasons().of_delivery(told.id, told.event if told.written != b"" else None, to)

    def _reasons(self) -> Reasons:
        gone = next((each for each in self._gone if isinstance(each, Subscription) and self._told.is_control), None)
        withdrawn = [each for each in reversed(self._withdrawn) if each[0] is not gone]
        tables = self.knowledge.tables()
        handled = "" if self._told.is_control else self._told.id
        return Reasons(tables, self._policy, self._name_of, self._sender, gone, withdrawn, self.before(), handled)
