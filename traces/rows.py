"""The lines of a trace on their way out: `header_row` and `event_row` make a line's object, `to_text` its text.

`header_of` and `row_of` do the same for what was read, so that it can be written again, in this format or another.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TypeAlias

import msgspec
from msgspec import UNSET

from routeproof.model.overlay import Node
from routeproof.traces.format import VERSION, BadLine, Event, Header, broker_name
from routeproof.traces.messages import PackedItem, TraceMessage
from routeproof.traces.strict_json import parse

Row: TypeAlias = Mapping[str, object]
"""One line's object."""


def header_row(
    run: str,
    protocol: str,
    policy: str,
    overlay: Iterable[tuple[Node | str, Node | str]],
    dialect: str,
    observes: Iterable[str],
    **more: object,
) -> dict[str, object]:
    """Line 1; `more` is written after what every trace has. A broker is its name, or its number in the model."""
    return {
        "routeproof": VERSION,
        "run": run,
        "protocol": protocol,
        "policy": policy,
        "overlay": [[_name(u), _name(v)] for u, v in overlay],
        "dialect": dialect,
        "observes": list(observes),
        **more,
    }


def _name(broker: Node | str) -> str:
    return broker if isinstance(broker, str) else broker_name(broker)


def event_row(broker: str, seq: int, event: str, peer: str = "", **more: object) -> dict[str, object]:
    """Any other line; `more` is its `message`, `text`, `tables`, `time`, `issued` or `done`."""
    return {"broker": broker, "seq": seq, "event": event, **({"peer": peer} if peer else {}), **more}


def to_text(rows: Iterable[Row]) -> str:
    """One object a line. In ASCII: an id with half a character in it still makes a file of valid UTF-8."""
    return "".join(json.dumps(row, allow_nan=False, default=_written) + "\n" for row in rows)


def to_json(value: object) -> str:
    """Encodes one value, faster and shorter."""
    try:
        text = msgspec.json.encode(value).decode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(value, allow_nan=False, default=_written)
    if "null" in text:  # what that makes of NaN; this refuses it
        return json.dumps(value, allow_nan=False, default=_written)
    return text


def _written(value: object) -> object:
    if isinstance(value, msgspec.Raw):
        return parse(bytes(value))
    raise TypeError(f"a {type(value).__name__} is not JSON")


# -- what was read -----------------------------------------------------------------------------------------------------


def header_of(header: Header) -> dict[str, object]:
    """The line that says the same."""
    return header_row(
        header.run,
        header.protocol,
        header.policy,
        header.overlay,
        header.dialect,
        header.observes,
        **header.more,
    )


def row_of(line: Event | BadLine) -> dict[str, object]:
    """The line that says the same. One that could not be read stays one that cannot be, for the same reason."""
    if isinstance(line, BadLine):
        return {"unreadable": line.reason}
    more = {
        "message": UNSET if line.message is None else _message(line.message),
        "text": line.text or UNSET,
        "tables": line.tables_text,
        "run": line.run or UNSET,
        "time": line.time_ns,
        "issued": line.issued_ns,
        "done": line.done_ns,
    }
    return event_row(line.broker, line.seq, line.event, line.peer, **_told(more))


def _message(message: TraceMessage) -> dict[str, object]:
    fields = {
        "kind": message.kind,
        "id": message.id or UNSET,
        "filter": message.filter_text,
        "items": UNSET if message.packed is UNSET else [_item(each) for each in message.packed],
        "of": message.of or UNSET,
        "event": message.number,
        "attributes": message.attributes_text,
        "to": message.to or UNSET,
        "distance": message.distance,
        "count": message.count,
        "cuts": message.cuts,
    }
    own = {} if message.own is UNSET else msgspec.json.decode(message.own)
    return _told(fields) | own


def _item(item: PackedItem) -> dict[str, object]:
    return _told({"id": item.id, "filter": item.filter_text, "of": item.of or UNSET})


def _told(fields: Row) -> dict[str, object]:
    return {key: value for key, value in fields.items() if value is not UNSET}
