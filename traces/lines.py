"""Lines of JSON: `read_block` and `read_lines` make events of them, fast; `header_row` and `event_row` write them.

`line_blocks` hands out lines to a caller that reads them as it needs them.

Almost all lines of almost all traces are well-formed. So a block of lines is read by a parser that is compiled for the
types in `format` and `messages`. Only what it refuses goes to the reference, line by line, which is some twenty times
slower: to hear why, in words, or that it is an event after all. The tests hold the two to each other.

`header_of` and `row_of` give the object of a line that was read, so that it can be written again, in this format or
another; `to_text` and `to_json` give its text.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

import msgspec
from msgspec import UNSET
from msgspec.structs import force_setattr

from routeproof.model.filters import Dialect
from routeproof.model.overlay import Node
from routeproof.traces.containers import Broken
from routeproof.traces.fields import REFUSALS, TraceError, in_one_line, parse
from routeproof.traces.format import VERSION, BadLine, Event, Header, broker_name, gap, is_usual, read_event
from routeproof.traces.messages import ADDED, SHORT, PackedItem, TraceMessage, meanings_of, own_keys

LINE_BYTES = 32 << 20
"""The longest line: a snapshot of some hundred thousand subscriptions."""

EXPLAINED_BYTES = 4 << 20
"""The longest line that the reference reads: what it makes of JSON is many times as large."""

_decode = msgspec.json.Decoder(Event).decode


def read_lines(
    blocks: Iterator[bytes], number: int, dialect: Dialect, *, checked: bool = False, own: bool = False
) -> Iterator[list[Event | BadLine]]:
    """The events of blocks of whole lines. `number`: that of the first line."""
    try:
        for block in blocks:
            yield read_block(block, number, dialect, checked=checked, own=own)
            number += block.count(b"\n")
    except Broken as error:
        yield [BadLine(number, str(error))]


def line_blocks(
    blocks: Iterator[bytes], number: int, dialect: Dialect, *, own: bool = False
) -> Iterator[LineBlock | BadLine]:
    """Yields the same lines before they are events."""
    try:
        for block in blocks:
            lines = _split(block)
            yield LineBlock(lines, number, dialect, own=own)
            number += block.count(b"\n")
    except Broken as error:
        yield BadLine(number, str(error))


def whole_lines(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """Blocks that end anywhere as blocks that end with a line. A line that is too long stays so, but not in full."""
    begun: list[bytes] = []
    size = 0
    broken = None
    try:
        for block in blocks:
            first = block.find(b"\n") + 1 if begun else 0
            if first:
                yield b"".join((*begun, block[:first]))
                begun, size = [], 0
            last = block.rfind(b"\n") + 1
            if first < last:
                yield block[first:last]
            rest = block[max(first, last) :]
            if rest and size <= LINE_BYTES:
                begun.append(rest)
                size += len(rest)
    except Broken as error:
        broken = error
    if begun:
        yield b"".join(begun)
    if broken is not None:
        raise broken


def read_block(
    block: bytes, number: int, dialect: Dialect, *, checked: bool = False, own: bool = False
) -> list[Event | BadLine]:
    """Whole lines, the first of which has this number. `checked`: also what filters and publications mean. `own`:
    messages keep the keys that their protocol adds."""
    lines = _split(block)
    try:
        found = _typed(block, lines)
    except REFUSALS:
        if not block.strip():
            return []
        events = [_read_line(line, at, dialect, own) for at, line in enumerate(lines, number) if line.strip()]
    else:
        events = _completed(found, lines, number, dialect, own)
    return checked_lines(events) if checked else events


def _split(block: bytes) -> list[bytes]:
    lines = block.split(b"\n")
    if not lines[-1]:
        lines.pop()
    return lines


def checked_lines(lines: list[Event | BadLine]) -> list[Event | BadLine]:
    """Replaces events that have no meaning by bad lines."""
    return [_checked(line) for line in lines]


def _typed(block: bytes, lines: list[bytes]) -> list[Event | BadLine]:
    if len(block) > LINE_BYTES:  # blocks are much smaller: this one is a single line
        raise ValueError(f"longer than {LINE_BYTES >> 20} MiB")
    if not block.isascii():
        str(block, "utf-8")  # strings under unknown keys are skipped, and no other code would check them
    return list(map(_decode, lines))


class LineBlock:
    """Lines of a trace, for a caller that needs little of most events, and can come back to a line.

    `number`: that of the first line. `own` as in `read_block`.
    """

    def __init__(self, lines: list[bytes], number: int, dialect: Dialect, *, own: bool = False) -> None:
        self._lines = lines
        self._numbers: Sequence[int] = range(number, number + len(lines))
        self._dialect, self._own = dialect, own
        self._read: list[Event | BadLine] = []
        """The events, if the fast parser refuses one of the lines."""

    def events(self) -> list[Event | BadLine]:
        """Returns their events, but for what `complete` adds. Blank lines are left out."""
        try:
            return _typed(b"\n".join(self._lines), self._lines)
        except REFUSALS:
            there = [place for place, line in enumerate(self._lines) if line.strip()]
            self._lines, self._numbers = [self._lines[at] for at in there], [self._numbers[at] for at in there]
            lines = zip(self._lines, self._numbers, strict=True)
            self._read = [_read_line(line, number, self._dialect, self._own) for line, number in lines]
            return self._read

    def complete(self, place: int) -> Event | BadLine:
        """The event of one line, with its number and its dialect."""
        if self._read:
            return self._read[place]
        line = self._lines[place]
        return _completed([_decode(line)], [line], self._numbers[place], self._dialect, self._own)[0]

    def completed(self, events: list[Event | BadLine]) -> list[Event | BadLine]:
        """Completes all `events` of this block."""
        return self._read or _completed(events, self._lines, self._numbers[0], self._dialect, self._own)

    def parts(self, size: int) -> Iterator[LineBlock]:
        """Yields these lines in blocks of at most so many."""
        for begin in range(0, len(self._lines), size):
            yield LineBlock(self._lines[begin : begin + size], self._numbers[begin], self._dialect, own=self._own)


def _completed(
    events: list[Event | BadLine], lines: list[bytes], number: int, dialect: Dialect, own: bool
) -> list[Event | BadLine]:
    """Gives events their places and their dialect; those that lack something become bad lines."""
    meanings = meanings_of(dialect)
    for at, event in enumerate(events):
        assert type(event) is Event
        force_setattr(event, "line", number + at)
        message = event.message
        if message is not None:
            force_setattr(message, "meanings", meanings)
        if own and message is not None:
            events[at] = _with_own(event, lines[at], every=True)
        if not is_usual(event):
            force_setattr(event, "meanings", meanings)
            if not own and message is not None and message.kind not in SHORT:
                events[at] = _with_own(event, lines[at], every=False)
            if (reason := gap(event)) is not None:
                events[at] = BadLine(number + at, reason)
    return events


def _with_own(event: Event, line: bytes, *, every: bool) -> Event | BadLine:
    """Reads the line once more, for the keys of its message that have no field."""
    try:
        if len(line) > EXPLAINED_BYTES:
            raise TraceError(f"longer than {EXPLAINED_BYTES >> 20} MiB, with a message of a kind that the core has not")
        row = parse(line)
    except TraceError as error:
        return BadLine(event.line, str(error))
    if isinstance(row, dict) and isinstance(row.get("message"), dict) and event.message is not None:
        force_setattr(event.message, "own", own_keys(row["message"], every=every))
    return event


def _read_line(line: bytes, number: int, dialect: Dialect, own: bool) -> Event | BadLine:
    try:
        return _completed(_typed(line, [line]), [line], number, dialect, own)[0]
    except REFUSALS as error:
        if len(line) > EXPLAINED_BYTES:
            return BadLine(number, in_one_line(error))
    try:
        return read_event(parse(line), dialect, number, own=own)
    except TraceError as error:
        return BadLine(number, str(error))


def _checked(line: Event | BadLine) -> Event | BadLine:
    if isinstance(line, Event):
        try:
            line.check()
        except TraceError as error:
            return BadLine(line.line, str(error))
    return line


# -- writing -----------------------------------------------------------------------------------------------------------

Row: TypeAlias = Mapping[str, object]
"""One line's object."""


def header_row(
    run: str,
    protocol: str,
    policy: str,
    overlay: Iterable[tuple[Node | str, Node | str]],
    dialect: str,
    observes: Iterable[str] | Mapping[str, Iterable[str]],
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
        "observes": _observed(observes),
        **more,
    }


def _observed(observes: Iterable[str] | Mapping[str, Iterable[str]]) -> object:
    if isinstance(observes, Mapping):
        return {broker: list(kinds) for broker, kinds in observes.items()}
    return list(observes)


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
        header.observed or header.observes,
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
        "items": UNSET if message.packed is UNSET else [item_row(each) for each in message.packed],
        "of": message.of or message.several or UNSET,
        "event": message.number,
        "attributes": message.attributes_text,
        "to": message.to or UNSET,
        **{key.name: getattr(message, key.name) for key in ADDED},
    }
    own = {} if message.own is UNSET else msgspec.json.decode(message.own)
    return _told(fields) | own


def item_row(item: PackedItem) -> dict[str, object]:
    return _told({"id": item.id, "filter": item.filter_text, "of": item.of or item.several or UNSET})


def _told(fields: Row) -> dict[str, object]:
    return {key: value for key, value in fields.items() if value is not UNSET}
