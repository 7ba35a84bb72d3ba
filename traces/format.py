"""Headers and events: what one line of a trace says, read from its JSON object.

`read_header` and `read_event` take what the JSON parser made of a line and give a typed value or a `TraceError`. Keys
that nobody here knows are left alone: protocols and later versions add their own.
"""

from __future__ import annotations

from attrs import Factory, frozen

from routeproof.model.filters import Dialect, FilterError, dialect
from routeproof.model.filters.wording import quoted, shown
from routeproof.traces.fields import Raw, TraceError, integer, items, name, names, table, text
from routeproof.traces.messages import TraceMessage, decode

VERSION = 1

EVENTS = {
    "receive": "taken from a peer and about to be handled",
    "send": "queued to a peer",
    "deliver": "handed to a client",
    "client": "an operation by a local client",
    "snapshot": "a broker's tables",
    "drop": "taken from a peer's link and lost",
    "crash": "the broker loses its tables",
    "restart": "the broker begins again with empty tables",
    "note": "for people; ignored",
}
"""Every kind of event and what it says."""

BETWEEN = ("receive", "send", "deliver", "drop")
"""Events that have a peer and a message."""

LINKS = 100_000
"""Edges in an overlay."""

KNOWN = ("routeproof", "run", "protocol", "policy", "overlay", "dialect", "observes")


@frozen
class Header:
    """Line 1. `more` is what else it says: a counterexample's instance, actions and violation."""

    run: str
    protocol: str
    overlay: tuple[tuple[str, str], ...]
    policy: str = ""
    dialect: str = "strict"
    observes: tuple[str, ...] = ()
    more: Raw = Factory(dict)


@frozen
class Event:
    """Any other line. `run`, `broker` and `seq` identify it; an empty `run` is the header's."""

    broker: str
    seq: int
    event: str
    peer: str = ""
    message: TraceMessage | None = None
    text: str = ""
    tables: Raw | None = None
    run: str = ""
    time: int | None = None


@frozen
class BadLine:
    """A line that is no event: kept with its number and the reason, so that nothing is lost in silence."""

    number: int
    reason: str


def broker_name(node: int) -> str:
    """What a trace of the model calls broker `node`."""
    return f"b{node}"


def read_header(raw: object) -> Header:
    row = table("the header", raw)
    if "routeproof" not in row:
        raise TraceError('the header has no key "routeproof"; expected {"routeproof": 1, "run": ...}')
    if row["routeproof"] != VERSION or type(row["routeproof"]) is not int:
        raise TraceError(f'"routeproof": found {shown(row["routeproof"])}; expected the format\'s version, {VERSION}')
    header = Header(
        run=name(row, "run"),
        protocol=name(row, "protocol"),
        overlay=tuple(_edge(each) for each in items(row, "overlay", LINKS)),
        policy=name(row, "policy", ""),
        dialect=name(row, "dialect", "strict"),
        observes=names(row, "observes", len(EVENTS)) if "observes" in row else (),
        more={key: value for key, value in row.items() if key not in KNOWN},
    )
    dialect_of(header)
    return header


def dialect_of(header: Header) -> Dialect:
    try:
        return dialect(header.dialect)
    except FilterError as error:
        raise TraceError(str(error)) from None


def _edge(raw: object) -> tuple[str, str]:
    if not isinstance(raw, list) or len(raw) != 2:
        raise TraceError(f'"overlay": found {shown(raw)} as a link; expected the names of two brokers')
    near, far = names({"overlay": raw}, "overlay", 2)
    return near, far


def read_event(raw: object, dialect: Dialect) -> Event:
    row = table("an event", raw)
    kind = name(row, "event")
    if kind not in EVENTS:
        raise TraceError(f'"event": found {quoted(kind)}; expected one of {", ".join(EVENTS)}')
    peer = name(row, "peer") if kind in BETWEEN else name(row, "peer", "")
    if (kind in BETWEEN or kind == "client") and "message" not in row:
        raise TraceError(f'"message" is missing; a {quoted(kind)} event has one')
    return Event(
        broker=name(row, "broker"),
        seq=integer(row, "seq"),
        event=kind,
        peer=peer,
        # A note is for people: whatever it holds is its writer's business.
        message=decode(row["message"], dialect) if "message" in row and kind != "note" else None,
        text=text(row, "text") if kind == "note" else "",
        tables=table('"tables"', row.get("tables")) if kind == "snapshot" else None,
        run=name(row, "run", ""),
        time=integer(row, "time") if "time" in row else None,
    )
