"""The wire format of messages: the JSON of traces (`docs/reference/trace-format.md`), with filters in withdrawals.

A message carries the text of an id and not its rank, so brokers on TCP order ids by their text.

A `Greeting` is the first frame of each side: the connecting side names its run and itself.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from hmac import compare_digest
from typing import Any

from attrs import Factory, frozen

from routeproof.impl.tcp.frames import Body, Refusal
from routeproof.model.fields import Entity
from routeproof.model.filters import Dialect, Filter, FilterError
from routeproof.model.filters.interface import shown
from routeproof.model.messages import (
    CORE,
    Advertise,
    Advertisement,
    Header,
    Message,
    Publication,
    Publish,
    Row,
    Subscribe,
    Subscription,
    Unadvertise,
    Unsubscribe,
    from_row,
    to_row,
)
from routeproof.model.overlay import LOCAL, Node

NO_RANK = 0
"""Rank of everything that came over a wire: ids are ordered by their text there."""

MOST = 1 << 31
"""The largest whole number in a field of a protocol's own, and below 0 the smallest."""

ID_LENGTH = 200
"""Characters in an id. In a trace it also stands behind `client-`, and names there have 256."""


@frozen
class Delivery:
    """A delivery, as a client receives it."""

    publication: str
    subscription: str


def encode(message: Message) -> bytes:
    """JSON in ASCII: half a character in an id is escaped, as everything beyond ASCII is.

    No neighbour is sent a number that it would refuse, whatever another neighbour has sent.
    """
    row = to_row(message, whole=True, bounded=lambda number: max(-MOST, min(number, MOST)))
    return json.dumps(row, separators=(",", ":"), allow_nan=False).encode("ascii")


# -- reading -----------------------------------------------------------------------------------------------------------


BY_CLIENTS = (Advertise, Unadvertise, Subscribe, Unsubscribe, Publish)
"""Kinds of messages that a client may send."""


@frozen
class Field:
    """A protocol's own field: the expected value, in words, and a test of it."""

    expected: str
    fits: Callable[[Any], bool]


@frozen
class Wire:
    """The messages that brokers of a protocol exchange, with the headers and the limits that the protocol adds."""

    messages: tuple[type[Message], ...] = CORE
    headers: Mapping[type[Message], type[Header]] = Factory(dict)
    own: Mapping[str, Field] = Factory(dict)
    operations: tuple[type[Message], ...] = ()
    """Kinds that a client may send in addition to those of `BY_CLIENTS`."""


@frozen
class Codec:
    """Reads what was sent, by the language of filters that all brokers of a run speak."""

    dialect: Dialect
    wire: Wire = Wire()

    def from_neighbour(self, raw: object) -> Message:
        return self._read(raw, self.wire.messages, self.wire.headers)

    def from_client(self, raw: object) -> Message:
        return self._read(raw, (*BY_CLIENTS, *self.wire.operations), {})

    def _read(
        self, raw: object, messages: tuple[type[Message], ...], headers: Mapping[type[Message], type[Header]]
    ) -> Message:
        row = _table(raw)
        kinds = {each.kind: each for each in messages}
        kind = row.get("kind")
        found = kinds.get(kind) if isinstance(kind, str) else None
        if found is None:
            raise Refusal(f"a message of the kind {shown(kind)}; expected one of {', '.join(kinds)}")
        message = from_row(row, found, headers.get(found), self)
        for key, own in self.wire.own.items():
            holder: object = message if hasattr(message, key) else getattr(message, "header", None)
            if hasattr(holder, key) and not own.fits(getattr(holder, key)):
                raise self.refuse(key, row.get(key), own.expected)
        return message

    # -- what `from_row` asks ------------------------------------------------------------------------------------------

    def advertisement(self, row: object) -> Advertisement:
        row = _table(row)
        return Advertisement(NO_RANK, text(row, "id"), self._filter(row, self.dialect.advertisement))

    def subscription(self, row: object) -> Subscription:
        row = _table(row)
        return Subscription(NO_RANK, text(row, "id"), self._filter(row, self.dialect.parse))

    def publication(self, row: object) -> Publication:
        row = _table(row)
        try:
            event = self.dialect.event(row["event"] if "event" in row else row.get("attributes"))
        except FilterError as error:
            raise Refusal(str(error)) from None
        return Publication(NO_RANK, text(row, "id"), text(row, "of"), event)

    def find(self, kind: type[Entity], id: str) -> Entity | None:
        """Nothing: who reads a single message knows no ids."""
        return None

    def refuse(self, key: str, raw: object, expected: str) -> Exception:
        own = self.wire.own.get(key)
        return Refusal(f'"{key}": found {shown(raw)}; expected {expected if own is None else own.expected}')

    def _filter(self, row: Row, read: Callable[[object], Filter]) -> Filter:
        try:
            return read(row.get("filter"))
        except FilterError as error:
            raise Refusal(str(error)) from None


def delivery(raw: object) -> Delivery:
    """Reads a broker's message to a client."""
    row = _table(raw)
    if row.get("kind") != "publish":
        raise Refusal(
            f"a message of the kind {shown(row.get('kind'))}; expected publish, the only kind that a client receives"
        )
    return Delivery(text(row, "id"), text(row, "to"))


def _table(raw: object) -> Row:
    if not isinstance(raw, dict):
        raise Refusal(f"a message: found {shown(raw)}; expected an object")
    return raw


def text(row: Row, key: str) -> str:
    """A name that may stand in a trace."""
    value = row.get(key)
    if not isinstance(value, str) or not 0 < len(value) <= ID_LENGTH:
        raise Refusal(f'"{key}": found {shown(value)}; expected a string of 1 to {ID_LENGTH} characters')
    return value


VERSION = 1


@frozen
class Greeting:
    """`node` is the broker that speaks, or LOCAL: then it is a client, and `client` its name for this session."""

    to: Node
    node: Node = LOCAL
    client: str = ""


def hello(token: str, greeting: Greeting) -> Body:
    who: Body = {"node": greeting.node} if greeting.node != LOCAL else {"client": greeting.client}
    return {"hello": VERSION, "run": token, "to": greeting.to, **who}


def read_hello(body: Body, token: str) -> Greeting:
    """Reads a stranger's greeting; nothing but the version and the token is looked at before both are right."""
    if "hello" not in body:
        raise Refusal("no hello")
    if type(body["hello"]) is not int or body["hello"] != VERSION:
        raise Refusal(f"version {shown(body['hello'])} of the protocol; expected {VERSION}")
    run = body.get("run")
    if not isinstance(run, str) or not compare_digest(run.encode("utf-8", "replace"), token.encode("utf-8")):
        raise Refusal("the token of another run, or none")
    if "node" in body:
        return Greeting(_node(body, "to"), _node(body, "node"))
    return Greeting(_node(body, "to"), client=text(body, "client"))


def welcome(node: Node) -> Body:
    return {"welcome": VERSION, "node": node}


def read_welcome(body: Body, node: Node) -> None:
    if body != welcome(node):
        raise Refusal(f"no welcome of b{node} in version {VERSION} of the protocol")


def _node(body: Body, key: str) -> Node:
    number = body.get(key)
    if type(number) is not int or number < 1:
        raise Refusal(f'"{key}": found {shown(number)}; expected the number of a broker')
    return number
