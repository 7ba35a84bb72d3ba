"""`HandlerModel`: the broker of any protocol, replayed by the protocol's own handler.

It serves a protocol that has no faster model. Each process makes the handler anew from the header (`HandledProtocol`).
The codec that follows from the declared fields reads messages; a withdrawal names an entity that this node knows.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Hashable, Mapping
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Any

import msgspec
from attrs import evolve, field, frozen
from msgspec import UNSET

from routeproof.checker.system.errors import UsageError
from routeproof.checker.validate.broker.canonical import CanonicalMessage, canonical_in_model, canonical_in_trace
from routeproof.checker.validate.broker.comparison import FLOODED, blame, differ
from routeproof.checker.validate.broker.messages import MessageMeaning, Unreadable
from routeproof.checker.validate.broker.model import BrokerModel, Sends
from routeproof.checker.validate.broker.reasons import Reasons, does_not_match, matches
from routeproof.checker.validate.fast import Replica
from routeproof.checker.validate.setting import Setting
from routeproof.model.definition import Definition
from routeproof.model.fields import Entity, entities_in
from routeproof.model.filters import Filter
from routeproof.model.instance import Instance
from routeproof.model.instance_file import parse_instance
from routeproof.model.messages import CORE, Advertisement, Deliver, Message, Publication, Subscription, from_row, to_row
from routeproof.model.overlay import LOCAL, Node
from routeproof.model.plugins import VARIABLE
from routeproof.model.protocol import NOTHING_KEPT, Kept, Local, Outcome, Protocol
from routeproof.model.protocols import DEFINITIONS
from routeproof.model.reading import InstanceError
from routeproof.model.tables import Tables
from routeproof.traces import Header, TraceMessage, TraceTables
from routeproof.traces.fields import in_one_line, json_text
from routeproof.traces.lines import item_row

OF_CORE = frozenset(each.kind for each in CORE)


@frozen(slots=False)
class HandledProtocol:
    """A protocol, a policy and the table of an instance. Another process makes the same handler from them."""

    name: str
    policy: str
    table: Mapping[str, Any] = field(eq=False)

    @property
    def definition(self) -> Definition:
        return DEFINITIONS[self.name]

    @cached_property
    def instance(self) -> Instance:
        """The instance, as far as a trace tells it; `UsageError` where the protocol wants more than the header has."""
        try:
            return parse_instance(self.table, "the header")
        except InstanceError as error:
            raise UsageError(str(error)) from None

    @cached_property
    def handler(self) -> Protocol:
        return self.definition.make(self.definition.handler, self.instance, self.policy)

    @cached_property
    def kinds(self) -> Mapping[str, type[Message]]:
        return {each.kind: each for each in self.definition.messages}

    def __getstate__(self) -> tuple[Any, ...]:
        """The data alone, and where another process finds the modules of protocols from outside."""
        return self.name, self.policy, self.table, os.environ.get(VARIABLE, ""), str(Path.cwd())

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        *values, named, where = state
        if named:
            os.environ[VARIABLE] = named
        if where not in sys.path:
            sys.path.append(where)
        for name, value in zip(("name", "policy", "table"), values, strict=True):
            object.__setattr__(self, name, value)


def completed(setting: Setting, header: Header) -> Setting:
    """The setting with the protocol's handler and all nodes of its topology.

    The instance is the header's `instance`, or one of the overlay with the protocol's sections of the header, in which
    brokers have numbers in the order of their names.
    """
    name = setting.protocol_name
    table = header.more.get("instance")
    sections = {each.key for each in DEFINITIONS[name].sections}
    names: tuple[str, ...] = setting.names
    if not isinstance(table, dict):
        table = {
            "name": "trace",
            "protocol": name,
            "policy": header.policy,
            "overlay": [[u, v] for u, v in setting.overlay.edges],
            **{key: header.more[key] for key in sections if key in header.more},
        }
        handled = HandledProtocol(name, header.policy, table)
        topology = handled.definition.topology(handled.instance)
        others = topology.nodes[len(names) :]
    else:
        handled = HandledProtocol(name, header.policy, {**table, "protocol": name})
        topology = handled.definition.topology(handled.instance)
        brokers = tuple(topology.name(node) for node in topology.having("broker"))
        if set(brokers) != set(names):
            raise UsageError("the header's overlay has other brokers than its instance; expected the same")
        names, others = brokers, topology.nodes[len(brokers) :]
    names = (*names, *(topology.name(node) for node in others))
    node = {each: number for number, each in enumerate(names, 1)}
    _ = handled.handler
    return evolve(
        setting,
        overlay=handled.instance.overlay,
        protocol=handled,
        names=names,
        node=node,
        channels=topology.channels,
    )


@frozen(cache_hash=True)
class OwnMessage(CanonicalMessage):
    """A canonical message, with the advertisement of a publication and with what the protocol adds."""

    under: str = ""
    own: str = ""

    def __str__(self) -> str:
        return f"{super().__str__()}{f' with {self.own}' if self.own else ''}"


def _own_text(row: Mapping[str, Any]) -> str:
    return bytes(json_text(dict(row), in_order=True)).decode() if row else ""


class OwnMeaning(MessageMeaning):
    """A message of a protocol that has keys or kinds of its own. `base`: without these, as clients get it."""

    __slots__ = ("base", "message")

    def __init__(self, kinds: Mapping[str, type[Message]], base: MessageMeaning, message: TraceMessage) -> None:
        for name in MessageMeaning.__slots__:
            setattr(self, name, getattr(base, name))
        self.base, self.message = base, message
        if message.kind not in OF_CORE:
            self.items = ()
            self.is_control = message.kind not in kinds or kinds[message.kind].control
        if message.own is not UNSET:
            hashed = blake2b(base.digest.to_bytes(8, "big", signed=True), digest_size=8)
            hashed.update(bytes(message.own))
            self.digest = int.from_bytes(hashed.digest(), "big", signed=True)

    @property
    def content(self) -> int:
        return self.base.content

    @property
    def said(self) -> CanonicalMessage:
        return own_in_trace(self.message)


def own_in_trace(message: TraceMessage) -> CanonicalMessage:
    """Canonical form of a trace's message; `TraceError` if its filter or event cannot be read."""
    said = canonical_in_trace(message)
    about = said.about if message.kind in OF_CORE else ((message.id, None),) if message.id else ()
    own = "" if message.own is UNSET else bytes(message.own).decode()
    return OwnMessage(said.kind, about, said.event, message.of if message.kind == "publish" else "", own)


def own_in_model(message: Hashable) -> CanonicalMessage:
    """Canonical form of one of the model's messages."""
    assert isinstance(message, Message)
    row = msgspec.json.decode(msgspec.json.encode(to_row(message)))
    if message.kind in OF_CORE:
        said = canonical_in_model(message)
        held = {"kind", "id", "of", "filter", "event", "attributes", "items", "to"}
        of = message.publication.of if message.kind == "publish" and message.publication is not None else ""
        return OwnMessage(said.kind, said.about, said.event, of, _own_text({k: row[k] for k in row if k not in held}))
    about = ((row["id"], None),) if "id" in row else ()
    held = {"kind", "id", "of", "filter", "event", "attributes"}
    return OwnMessage(message.kind, about, None, "", _own_text({k: row[k] for k in row if k not in held}))


class _Reader:
    """Reads what a message is about; entities without a filter are those that the node knows already."""

    def __init__(self, message: TraceMessage, known: dict[tuple[type, str], Entity], ranks: Mapping[str, int]) -> None:
        assert message.meanings is not None, "a message that no reader has made"
        self._meanings = message.meanings
        self._known, self._ranks = known, ranks

    def advertisement(self, row: Any) -> Advertisement:
        found = self._announced(Advertisement, row)
        assert isinstance(found, Advertisement)
        return found

    def subscription(self, row: Any) -> Subscription:
        found = self._announced(Subscription, row)
        assert isinstance(found, Subscription)
        return found

    def publication(self, row: Any) -> Publication:
        if "event" not in row and "attributes" not in row:
            raise Unreadable(f"publication {row.get('id')} without its event")
        event = row["event"] if "event" in row else self._meanings.attributes(json_text(row["attributes"]))
        return Publication(0, str(row.get("id")), str(row.get("of", "")), event)

    def find(self, kind: type[Entity], id: str) -> Entity | None:
        return self._known.get((kind, id))

    def refuse(self, key: str, raw: Any, expected: str) -> Exception:
        return Unreadable(f"'{key}': found {raw!r}; expected {expected}")

    def _announced(self, kind: Any, row: Any) -> Entity:
        id, known = str(row.get("id")), self._known.get((kind, str(row.get("of") or row.get("id"))))
        if "filter" not in row:
            if known is None:
                raise _UnknownIdError
            return known
        read = self._meanings.advertised if kind is Advertisement else self._meanings.filter
        wanted: Filter = read(json_text(row["filter"]))
        if known is not None and not isinstance(known, Publication) and known.filter != wanted:
            raise Unreadable(f"{id} announced with another filter than the one by which the broker knows it")
        found: Entity = kind(self._ranks.get(id, 0), id, wanted)
        return found


class _UnknownIdError(Exception):
    """A withdrawal of an entity that the node does not know."""


class HandlerModel(BrokerModel):
    """The handler of one node, on its own local states."""

    def __init__(self, setting: Setting, replica: Replica, broker: str, tables: Tables | None) -> None:
        assert isinstance(setting.protocol, HandledProtocol)
        self._protocol, self._handler = setting.protocol, setting.protocol.handler
        self._setting = setting
        self._node = setting.node.get(broker, LOCAL)
        self._local: Local = self._handler.initial(self._node) if self._node != LOCAL else Tables()
        self._known: dict[tuple[type, str], Entity] = {}
        self._outcome = Outcome(self._local)
        self._told: MessageMeaning
        self._sender = LOCAL

    def handle(self, sender: Node, told: MessageMeaning) -> None:
        assert isinstance(told, OwnMeaning)
        self._told, self._sender, self._outcome = told, sender, Outcome(self._local)
        try:
            message = self.message(told.message)
        except _UnknownIdError:
            return  # RTE-8
        for each in entities_in(message):
            self._known[type(each), each.id] = each
        try:
            if self._handler.may_refuse and not self._handler.accepts(self._node, self._local, sender, message):
                raise Unreadable(f"{told.said}, which {self._protocol.name} does not accept in this state")
            self._outcome = self._handler.handle(self._node, self._local, sender, message)
        except (AssertionError, LookupError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
            if isinstance(error, Unreadable):
                raise
            what = f"{told.said}, at which the handler of {self._protocol.name} fails"
            raise Unreadable(f"{what}: {in_one_line(error)}") from None
        self._local = self._outcome.local

    def message(self, message: TraceMessage) -> Message:
        """The model's message; `Unreadable` where the protocol has none of this kind or it lacks something."""
        cls = self._protocol.kinds.get(message.kind)
        if cls is None:
            raise Unreadable(f"a message of the kind '{message.kind}', which the protocol does not have")
        reader = _Reader(message, self._known, self._setting.ranks)
        try:
            return from_row(_row(message), cls, self._protocol.definition.headers.get(cls), reader)
        except (KeyError, TypeError, ValueError) as error:
            if isinstance(error, Unreadable):
                raise
            raise Unreadable(f"a {message.kind} that cannot be read: {in_one_line(error)}") from None

    def answer(self) -> Sends:
        return [(to, message) for to, message in self._outcome.sends]

    def original(self, told: MessageMeaning, id: str) -> MessageMeaning:
        assert isinstance(told, OwnMeaning)
        sent = (m.publication for _, m in self._outcome.sends if isinstance(m, Deliver) and m.publication.id == id)
        publication = next(sent, None)
        if told.kind == "publish" or publication is None:
            return told.base
        message = TraceMessage("publish", id, of=publication.of, meanings=told.message.meanings)
        if isinstance(publication.event, int):
            return MessageMeaning(msgspec.structs.replace(message, number=publication.event), publication.event)
        text = json_text(publication.event.to_json())
        return MessageMeaning(msgspec.structs.replace(message, attributes_text=text), bytes(text))

    def restart(self) -> None:
        self._local = self._handler.initial(self._node)

    def known_ids(self) -> set[str]:
        return {id for kind, id in self._known if kind is Subscription}

    @property
    def size(self) -> int:
        return len(self._local.subs) if isinstance(self._local, Tables) else 0

    def kept(self) -> Kept:
        return self._handler.kept(self._local) if self._handler.may_hold else NOTHING_KEPT

    def difference(self, told: TraceTables) -> tuple[str, str] | None:
        """Compares the tables of the core; a node that has none has nothing to compare."""
        return differ(self._local, told, self._setting.name_of) if isinstance(self._local, Tables) else None

    def blame(self, missing: CanonicalMessage | None, extra: CanonicalMessage | None) -> str:
        """The rule of a message of the protocol's own, or the core's, where the handler applied it, else its first."""
        rules = sorted(self._outcome.rules)
        for each in (missing, extra):
            kind = None if each is None else self._protocol.kinds.get(each.kind)
            if kind is not None and kind.rule in rules:
                return kind.rule
        if isinstance(self._local, Tables):
            rule = blame(self._told.kind, self._local, self._setting.policy, missing, extra)
            if rule in rules or not rules:
                return rule
        said = missing or extra
        return rules[0] if rules else FLOODED.get("" if said is None else said.kind, "TRC-5")

    def reason(self, missing: CanonicalMessage | None, extra: CanonicalMessage | None, to: Node) -> str:
        said = missing or extra
        if said is None or said.kind != "publish" or said.event is None:
            return ""
        if isinstance(self._local, Tables):
            reasons = Reasons(self._local, self._setting.policy, self._setting.name_of, self._sender)
            return reasons.of(missing, extra, to) if self.blame(missing, extra) == "RTE-5" else ""
        due = self._setting.judging.due
        found = None if due is None else due(self._setting.name_of, self._local, said.event, to)
        if found is not None:
            return matches(said, found[0], found[1]) if missing is not None else ""
        if missing is not None or due is None:
            return ""
        return f"no subscription toward {self._setting.name_of(to)} matches {said.about[0][0]} ({said.event})"

    def unwanted(self, told: MessageMeaning, to: str) -> str:
        if to.startswith("@") or told.kind != "publish":
            return ""
        s = self._known.get((Subscription, to))
        if not isinstance(s, Subscription):
            return f"{to} is not known here"
        event = told.event if told.written != b"" else None
        return "" if event is None or s.filter.matches(event) else does_not_match(s, told.id, event)

    def canonical(self, message: Hashable) -> CanonicalMessage:
        return own_in_model(message)


def _row(message: TraceMessage) -> dict[str, Any]:
    """The message as a row of the codec."""
    texts = {"filter": message.filter_text, "attributes": message.attributes_text, "event": message.number}
    row: dict[str, Any] = {"kind": message.kind, "id": message.id, "of": message.of}
    for key, each in texts.items():
        if each is not UNSET:
            row[key] = each if isinstance(each, int) else msgspec.json.decode(each)
    if message.packed is not UNSET:
        row["items"] = msgspec.json.decode(msgspec.json.encode([item_row(each) for each in message.packed]))
    if message.own is not UNSET:
        row |= msgspec.json.decode(message.own)
    return {key: value for key, value in row.items() if value != ""}
