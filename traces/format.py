"""Headers and events: the content of one line of a trace.

`read_header` and `read_event` take what the JSON parser made of a line and give a typed value or a `TraceError`. They
are the reference for the format; `lines` reads the same events faster. Unknown keys are ignored: protocols and later
versions add their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Annotated, Literal, TypeAlias, cast

from attrs import Factory, frozen
from msgspec import UNSET, Meta, Struct, UnsetType, field
from msgspec import Raw as JsonText

from routeproof.model.filters import Dialect, FilterError, dialect
from routeproof.model.filters.interface import quoted, shown
from routeproof.model.plugins import plugins
from routeproof.traces.extensions import extensions
from routeproof.traces.fields import (
    Name,
    OptionalName,
    Raw,
    Sentence,
    TraceError,
    WholeNumber,
    integer,
    items,
    json_text,
    name,
    names,
    table,
    text,
)
from routeproof.traces.messages import Meanings, TraceMessage, lack, meanings_of, read_message
from routeproof.traces.tables import TraceTables, read_tables

VERSION = 1

NEEDED = ("routeproof", "run", "protocol", "overlay")
"""Keys that every header has."""

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

EventKind: TypeAlias = Literal["receive", "send", "deliver", "client", "snapshot", "drop", "crash", "restart", "note"]

NEEDS: Mapping[str, tuple[str, ...]] = {
    "receive": ("peer", "message"),
    "send": ("peer", "message"),
    "deliver": ("peer", "message"),
    "drop": ("peer", "message"),
    "client": ("message",),
    "snapshot": ("tables",),
}
"""Keys that an event of these kinds must have in addition to `broker` and `seq`."""

ON_A_LINK = frozenset({"receive", "send", "deliver"})
ENOUGH_WITH_ID = frozenset({"unadvertise", "unsubscribe", "publish"})
ENOUGH_WITH_FILTER = frozenset({"advertise", "subscribe"})

LINKS = 100_000
"""Edges in an overlay."""

KNOWN = ("routeproof", "run", "protocol", "policy", "overlay", "dialect", "observes")

TablesText: TypeAlias = Annotated[JsonText, Meta(extra_json_schema={"$ref": "#/$defs/Tables"})]


@frozen
class Header:
    """Line 1. `more` is what else it says: a counterexample's instance, actions and violation."""

    run: str
    protocol: str
    overlay: tuple[tuple[str, str], ...]
    policy: str = ""
    dialect: str = "strict"
    observes: tuple[str, ...] = ()
    observed: Mapping[str, tuple[str, ...]] = Factory(dict)
    """The kinds of events that each broker writes, where the header says so by broker; `observes` has all of them."""
    more: Raw = Factory(dict)


class Event(Struct, frozen=True, gc=False, eq=False):
    """Any other line. `run`, `broker` and `seq` identify it; an empty `run` is the header's.

    Equal events say the same, wherever in a file they stand.
    """

    broker: Name
    seq: WholeNumber
    event: EventKind
    peer: OptionalName = ""
    message: TraceMessage | None = None
    text: Sentence = ""
    tables_text: TablesText | UnsetType = field(default=UNSET, name="tables")
    run: OptionalName = ""
    time_ns: WholeNumber | UnsetType = field(default=UNSET, name="time")
    issued_ns: WholeNumber | UnsetType = field(default=UNSET, name="issued")
    done_ns: WholeNumber | UnsetType = field(default=UNSET, name="done")
    line: int = field(default=0, name="")
    """Where it stands. This and the next are the reader's, never the writer's."""
    meanings: Meanings | None = field(default=None, name=" ")
    """In which dialect a snapshot is to be read."""

    @property
    def time(self) -> int | None:
        """Nanoseconds, by whatever clock the broker has."""
        return None if self.time_ns is UNSET else self.time_ns

    @property
    def issued(self) -> int | None:
        """Time at which the client issued its operation, if that was before its broker took it."""
        return None if self.issued_ns is UNSET else self.issued_ns

    @property
    def done(self) -> int | None:
        """When the broker had handled it, where nothing came of it that would tell."""
        return None if self.done_ns is UNSET else self.done_ns

    @property
    def tables(self) -> TraceTables | None:
        """A snapshot's; `TraceError` where they cannot be read."""
        if self.event != "snapshot" or self.tables_text is UNSET:
            return None
        assert self.meanings is not None, "a snapshot that no reader has made"
        return read_tables(self.tables_text, self.meanings)

    def check(self) -> None:
        """`TraceError` where `tables`, or what the message means, cannot be read."""
        if self.message is not None and self.event != "note":
            self.message.check()
        _ = self.tables

    def __eq__(self, other: object) -> bool:
        return _said(self) == _said(other) if isinstance(other, Event) else NotImplemented

    def __ne__(self, other: object) -> bool:  # a Struct has one of its own, which does not ask __eq__
        return not self == other

    def __hash__(self) -> int:
        return hash((self.run, self.broker, self.seq))


def _said(e: Event) -> tuple[object, ...]:
    try:
        tables: object = e.tables
    except TraceError:  # then it is what was written
        tables = e.tables_text
    return e.run, e.broker, e.seq, e.event, e.peer, e.message, e.text, tables, e.time, e.issued, e.done


@frozen
class BadLine:
    """A line that is no event: kept with its number and the reason, so that nothing is lost in silence.

    Rows of Parquet that cannot be read have the number 0: their lines are unknown.
    """

    number: int
    reason: str


def broker_name(node: int) -> str:
    """Name of broker `node` in a trace of the model."""
    return f"b{node}"


# -- headers -----------------------------------------------------------------------------------------------------------


def read_header(raw: object) -> Header:
    row = table("the header", raw)
    missing = [key for key in NEEDED if key not in row]
    for key in row if missing else ():
        if key not in KNOWN and (near := get_close_matches(key.lower(), missing, 1)):
            raise TraceError(f"the header has the key {quoted(key)}, which is not read (did you mean {near[0]}?)")
    if "routeproof" not in row:
        raise TraceError('the header has no key "routeproof"; expected {"routeproof": 1, "run": ...}')
    if row["routeproof"] != VERSION or type(row["routeproof"]) is not int:
        raise TraceError(f'"routeproof": found {shown(row["routeproof"])}; expected the format\'s version, {VERSION}')
    observed = _observed(row)
    header = Header(
        run=name(row, "run"),
        protocol=name(row, "protocol"),
        overlay=tuple(_edge(each) for each in items(row, "overlay", LINKS)),
        policy=name(row, "policy", ""),
        dialect=name(row, "dialect", "strict"),
        observes=_observes(row, observed),
        observed=observed,
        more={key: value for key, value in row.items() if key not in KNOWN},
    )
    dialect_of(header)
    return header


def _observes(row: Raw, observed: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    if observed:
        return tuple(dict.fromkeys(kind for kinds in observed.values() for kind in kinds))
    return names(row, "observes", len(EVENTS)) if "observes" in row else ()


def _observed(row: Raw) -> dict[str, tuple[str, ...]]:
    """Returns what each broker writes; nothing where the header has one list for all brokers."""
    said = row.get("observes")
    if not isinstance(said, dict):
        return {}
    if not said:
        raise TraceError('"observes": found {}; expected kinds of events, or an object of brokers with such lists')
    return {broker: names(said, broker, len(EVENTS)) for broker in said}


def keeps_own(protocol: str) -> bool:
    """True if messages of the protocol keep keys that only its definition knows, as those of one from outside do."""
    if protocol in extensions():
        return extensions()[protocol].is_open
    return any(plugin.definition.name == protocol for plugin in plugins() if hasattr(plugin, "definition"))


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


# -- events ------------------------------------------------------------------------------------------------------------


def read_event(raw: object, dialect: Dialect, line: int = 0, *, own: bool = False) -> Event:
    """Returns one event; its filters are read later. `own`: messages keep the keys that their protocol adds."""
    row = table("an event", raw)
    if "unreadable" in row and "broker" not in row:  # a line that a converter could not read either
        raise TraceError(text(row, "unreadable"))
    kind = name(row, "event")
    if kind not in EVENTS:
        raise TraceError(f'"event": found {quoted(kind)}; expected one of {", ".join(EVENTS)}')
    meanings = meanings_of(dialect)
    event = Event(
        broker=name(row, "broker"),
        seq=integer(row, "seq"),
        event=cast(EventKind, kind),
        peer=name(row, "peer", ""),
        message=_message(kind, row, meanings, own),
        text=text(row, "text"),
        tables_text=json_text(row["tables"]) if "tables" in row else UNSET,
        run=name(row, "run", ""),
        time_ns=integer(row, "time") if "time" in row else UNSET,
        issued_ns=integer(row, "issued") if "issued" in row else UNSET,
        done_ns=integer(row, "done") if "done" in row else UNSET,
        line=line,
        meanings=meanings,
    )
    if (reason := gap(event)) is not None:
        raise TraceError(reason)
    return event


def _message(kind: str, row: Raw, meanings: Meanings, own: bool) -> TraceMessage | None:
    if row.get("message") is None:
        return None
    try:
        return read_message(row["message"], meanings, own=own)
    except TraceError:
        if kind == "note":  # it is for people: whatever it holds is its writer's business
            return None
        raise


def gap(event: Event) -> str | None:
    """A key that this event must have and has not, in words."""
    for key in NEEDS.get(event.event, ()):
        if key == "peer" and not event.peer:
            return '"peer" is missing; expected a string'
        if key == "message" and event.message is None:
            return f'"message" is missing; a {quoted(event.event)} event has one'
        if key == "tables" and event.tables_text is UNSET:
            return '"tables" is missing; a "snapshot" event has them'
    if event.message is not None and event.event == "client" and event.message.several:
        return '"of": found a list in a "client" event; only the entry of a broker stands for several subscriptions'
    return None if event.message is None or event.event == "note" else lack(event.message)


def is_usual(event: Event) -> bool:
    """Is it, seen at a glance, one of the many in which there is no gap?"""
    message = event.message
    return (
        message is not None
        and event.event in ON_A_LINK
        and bool(event.peer and message.id)
        and (
            message.kind in ENOUGH_WITH_ID or (message.kind in ENOUGH_WITH_FILTER and message.filter_text is not UNSET)
        )
    )
