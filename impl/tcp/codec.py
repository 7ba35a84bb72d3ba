"""The wire format: messages as the JSON of traces (`docs/reference/trace-format.md`), and the frames that carry them.

A message carries the text of an id and not its rank, so brokers on TCP order ids by their text. A withdrawal carries
its filter. A `Greeting` is the first frame of each side: the connecting side names its run and itself.

A frame is a length of four bytes, the most significant first, and as many bytes of JSON, which is one object. `frame`
makes one, `FrameReader` finds them in bytes that come in any pieces. What is no frame is a `Refusal`.

What a client says is a frame at most. What a broker makes of it can be longer: a delivery names the subscription, 1e308
is written out, and a packed message (COV-7) has as many subscriptions as the broker's tables. The text of such a
message is cut, and every piece has a frame of its own, with the number of the message.
"""

from __future__ import annotations

import json
from asyncio import StreamReader
from collections.abc import Callable, Iterable, Iterator, Mapping
from hmac import compare_digest
from typing import Any, NoReturn, TypeAlias

from attrs import Factory, frozen

from routeproof.model.fields import Entity
from routeproof.model.filters import Dialect, Filter, FilterError
from routeproof.model.filters.interface import shown
from routeproof.model.messages import (
    CORE,
    Advertise,
    Advertisement,
    Message,
    MessageHeader,
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
    headers: Mapping[type[Message], type[MessageHeader]] = Factory(dict)
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
        self, raw: object, messages: tuple[type[Message], ...], headers: Mapping[type[Message], type[MessageHeader]]
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


Body: TypeAlias = dict[str, object]

HEAD = 4
FRAME = 1 << 20
"""Largest frame in bytes, by default."""

GREETING_MOST = 4096
"""Largest frame in bytes before the greeting."""


class Refusal(ValueError):
    """A message that cannot be accepted, in one line. It ends the connection that it came over, and nothing else."""


def frame(body: Mapping[str, object]) -> bytes:
    return framed(json.dumps(body, separators=(",", ":"), allow_nan=False).encode("ascii"))


def framed(text: bytes) -> bytes:
    return len(text).to_bytes(HEAD, "big") + text


class FrameReader:
    """`most` may be changed from one frame to the next."""

    def __init__(self, most: int = FRAME) -> None:
        self.most = most
        self._bytes = bytearray()

    @property
    def partial(self) -> bool:
        """A frame has begun and not ended."""
        return bool(self._bytes)

    def feed(self, data: bytes) -> Iterator[Body]:
        """The frames that are complete now. It holds no more than one that is not, and what came with it."""
        self._bytes += data
        while len(self._bytes) >= HEAD:
            end = HEAD + _length(self._bytes[:HEAD], self.most)
            if len(self._bytes) < end:
                return
            text = bytes(self._bytes[HEAD:end])
            del self._bytes[:end]
            yield parse(text)


async def read_frame(reader: StreamReader, most: int = FRAME) -> Body:
    """The next one of a stream; `IncompleteReadError` where the stream ends."""
    return parse(await reader.readexactly(_length(await reader.readexactly(HEAD), most)))


def _length(head: bytes | bytearray, most: int) -> int:
    length = int.from_bytes(head, "big")
    if length > most:
        raise Refusal(f"a frame of {length:,} bytes; expected at most {most:,}")
    return length


def parse(text: bytes) -> Body:
    """The caller bounds the nesting; the parser itself stops at Python's limit."""
    try:
        body = json.loads(text.decode("utf-8"), parse_constant=_no_number)
    except RecursionError:
        raise Refusal("a frame that is nested too deeply") from None
    except Refusal:
        raise
    except ValueError as error:  # no UTF-8, no JSON, or a number of some thousand digits
        raise Refusal(f"a frame that is not JSON: {error}") from None
    if type(body) is not dict:
        raise Refusal("a frame that is no JSON object")
    return body


def _no_number(constant: str) -> NoReturn:
    raise Refusal(f"a frame that is not JSON: {constant} is no number")


ENVELOPE = 64
"""Bytes of a frame that are not the message."""


def fits(text: bytes, most: int) -> bool:
    """Does a frame of `most` bytes hold this message, which is JSON?"""
    return len(text) + ENVELOPE <= most


def in_frames(number: int, text: bytes, most: int) -> bytes:
    """The message of this number, which is JSON in ASCII, in frames of at most `most` bytes."""
    if fits(text, most):
        return framed(b'{"n":%d,"m":%b}' % (number, text))
    length = (most - ENVELOPE) // 2  # in a string, a quotation mark takes two bytes
    *parts, rest = (text[at : at + length].decode("ascii") for at in range(0, len(text), length))
    return b"".join(frame({"n": number, "part": each}) for each in parts) + frame({"n": number, "rest": rest})


def joined(parts: Iterable[str]) -> Body:
    return parse("".join(parts).encode("utf-8", "replace"))
