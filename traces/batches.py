"""Rows of a Parquet file to events: `read_batch`.

A batch whose columns are all that they should be becomes events by columns, which is some twenty times faster than row
by row. Any other is read by the reference, as if each row were a line, so that its errors have the same messages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import repeat
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET
from msgspec.structs import astuple

from routeproof.traces.columns import ADDED_TEXTS, Batch
from routeproof.traces.extensions import MessageKey
from routeproof.traces.fields import INTEGER, NAME_LENGTH, REFUSALS, TEXT_LENGTH, TraceError, parse
from routeproof.traces.format import EVENTS, BadLine, Event, gap, is_usual, read_event
from routeproof.traces.messages import ADDED, Meanings, PackedItem, PackedItems, TraceMessage
from routeproof.traces.parquet_file import viewed

T = TypeVar("T")

MESSAGE = {
    **{
        key: key
        for key in (*("kind", "id", "filter", "of", "to", "attributes", "items", "own"), *(key.name for key in ADDED))
    },
    "number": "event",
}
"""The columns of a message, and its keys in a line."""

JSON_TEXTS = ("filter", "attributes", "items", "own", "tables", *ADDED_TEXTS)


FEW = 16
"""If there are fewer rows, each string is read for itself."""

LIST = '["'
"""Text with which a list of ids begins, where a string is one id."""


class _Odd(Exception):
    """A batch that only the reference can judge."""


def read_batch(batch: Batch, first: int, columns: RowGroupColumns, meanings: Meanings) -> list[Event | BadLine]:
    """The events of some rows; `first` is the number of the first one, where they have no `line`."""
    import pyarrow as pa

    columns.turn_to(batch)
    try:
        return _by_columns(columns, first, meanings)
    except (_Odd, pa.ArrowException):
        return [_by_reference(row, first + at, meanings) for at, row in enumerate(batch.to_pylist())]


# -- row by row --------------------------------------------------------------------------------------------------------


def _by_reference(row: dict[str, object], number: int, meanings: Meanings) -> Event | BadLine:
    values = {key: value for key, value in row.items() if value is not None}
    line = values.pop("line", number)
    number = line if type(line) is int and 0 < line <= INTEGER else number
    try:
        for key in JSON_TEXTS:
            if key in values:
                values[key] = _parsed(key, values[key])
        message = {key: values.pop(column) for column, key in MESSAGE.items() if column in values}
        if str(message.get("of")).startswith(LIST):
            message["of"] = _parsed("of", message["of"])
        own = message.pop("own", None)
        message |= own if isinstance(own, dict) else {}
        return read_event(
            {**values, "message": message} if message else values, meanings.dialect, number, own=bool(own)
        )
    except TraceError as error:
        return BadLine(number, str(error))


def _parsed(key: str, value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        return parse(value.encode("utf-8"))
    except TraceError as error:
        raise TraceError(f'"{key}": {error}') from None


# -- by columns --------------------------------------------------------------------------------------------------------


class RowGroupColumns:
    """The columns of one row group, batch by batch.

    A batch brings the whole dictionary of a column along again, so what was made of the last one is kept. A column that
    is left out is as good as one of nulls.
    """

    def __init__(self) -> None:
        self.arrays: dict[str, Any] = {}
        self.rows = 0
        self._dictionaries: dict[str, tuple[Any, list[Any]]] = {}

    def turn_to(self, batch: Batch) -> None:
        self.arrays = dict(zip(batch.schema.names, batch.columns, strict=True))
        self.rows = batch.num_rows

    def is_empty(self, name: str) -> bool:
        return name not in self.arrays or self.arrays[name].null_count == self.rows

    def words(self, name: str, read: Callable[[str], object], nothing: object = None) -> Iterable[Any]:
        """Values that `read` makes of each string, or of each different one; null is `nothing`, or it is odd."""
        import pyarrow as pa

        if self.is_empty(name):
            return _all(nothing)
        array = self.arrays[name]
        if self.rows < FEW and pa.types.is_dictionary(array.type) and _is_string(array.type.value_type):
            strings = array.to_pylist()
            if nothing is None and None in strings:
                raise _Odd
            return [nothing if each is None else read(each) for each in strings]
        if not pa.types.is_dictionary(array.type):
            array = array.dictionary_encode()
        elif len(array.dictionary) > self.rows:  # most of the reason is dropped here
            array = _used(array)
        if not _is_string(array.type.value_type) or (nothing is None and array.null_count):
            raise _Odd
        values = self._values(name, array.dictionary, read, nothing)
        indices = viewed(array.indices, -1)
        return map(values.__getitem__, indices)

    def _values(self, name: str, dictionary: Any, read: Callable[[str], object], nothing: object) -> list[object]:
        """`nothing` is the last, so that -1 leads to it."""
        known = self._dictionaries.get(name)
        if known is not None and dictionary.equals(known[0]):
            return known[1]
        strings = dictionary.to_pylist()
        if nothing is None and None in strings:
            raise _Odd
        values = [*(nothing if each is None else read(each) for each in strings), nothing]
        self._dictionaries[name] = dictionary, values
        return values

    def numbers(self, name: str, nothing: object = None) -> Iterable[Any]:
        """Integers from 0 on; null is `nothing`, or it is odd."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if self.is_empty(name):
            return _all(nothing)
        array = self.arrays[name]
        if not pa.types.is_integer(array.type) or (nothing is None and array.null_count):
            raise _Odd
        array = array.cast(pa.int64())
        if pc.min(array).as_py() < 0:
            raise _Odd
        if array.null_count == 0:
            return viewed(array, -1).tolist()
        return [nothing if each < 0 else each for each in viewed(array, -1)]


def _all(nothing: object) -> Iterable[object]:
    if nothing is None:
        raise _Odd
    return repeat(nothing)


def _used(array: Any) -> Any:
    """Returns the array with a dictionary of only the words that occur. Never one word a row: it may be huge."""
    import pyarrow as pa
    import pyarrow.compute as pc

    words = pc.unique(array.indices.drop_null())
    return pa.DictionaryArray.from_arrays(pc.index_in(array.indices, words), array.dictionary.take(words))


def _is_string(type_: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(type_) or pa.types.is_large_string(type_))


def _by_columns(columns: RowGroupColumns, first: int, meanings: Meanings) -> list[Event | BadLine]:
    if not columns.is_empty("unreadable"):
        raise _Odd
    events = map(
        Event,
        columns.words("broker", _name),
        columns.numbers("seq"),
        columns.words("event", _event_kind),
        columns.words("peer", _name, ""),
        _messages(columns, meanings),
        columns.words("text", _sentence, ""),
        columns.words("tables", _json, UNSET),
        columns.words("run", _name, ""),
        columns.numbers("time", UNSET),
        columns.numbers("issued", UNSET),
        columns.numbers("done", UNSET),
        _lines(columns, first),
        repeat(meanings),
    )
    found: list[Event | BadLine] = list(events)
    for at, event in enumerate(found):
        assert type(event) is Event
        if not is_usual(event) and (reason := gap(event)) is not None:
            found[at] = BadLine(event.line, reason)
    return found


def _lines(columns: RowGroupColumns, first: int) -> Iterable[int]:
    places = range(first, first + columns.rows)
    if columns.is_empty("line"):
        return places
    return [own or place for own, place in zip(columns.numbers("line", 0), places, strict=True)]


def _messages(columns: RowGroupColumns, meanings: Meanings) -> Iterable[TraceMessage | None]:
    if columns.is_empty("kind"):
        if not all(columns.is_empty(name) for name in MESSAGE):
            raise _Odd
        return repeat(None)
    messages = map(
        TraceMessage,
        columns.words("kind", _name, ""),
        columns.words("id", _name, ""),
        columns.words("filter", _json, UNSET),
        columns.words("of", _id, ""),
        columns.words("to", _name, ""),
        columns.numbers("number", UNSET),
        columns.words("attributes", _json, UNSET),
        columns.words("items", _packed, UNSET),
        columns.words("own", _json, UNSET),
        repeat(meanings),
        repeat(()),
        *(_added(columns, key) for key in ADDED),
    )
    return messages if columns.arrays["kind"].null_count == 0 else _without_empty(messages, meanings)


def _without_empty(messages: Iterable[TraceMessage], meanings: Meanings) -> Iterator[TraceMessage | None]:
    nothing = astuple(TraceMessage("", meanings=meanings))
    for message in messages:
        if not message.kind and astuple(message) != nothing:
            raise _Odd
        yield message if message.kind else None


def _name(value: str) -> str:
    return _only_if(0 < len(value) <= NAME_LENGTH, value)


def _id(value: str) -> str:
    return _only_if(not value.startswith(LIST), _name(value))


def _sentence(value: str) -> str:
    return _only_if(len(value) <= TEXT_LENGTH, value)


def _event_kind(value: str) -> str:
    return _only_if(value in EVENTS, value)


def _only_if(is_well: bool, value: str) -> str:
    if not is_well:
        raise _Odd
    return value


_any_json = msgspec.json.Decoder(msgspec.Raw)
_packed_items = msgspec.json.Decoder(PackedItems)
_added_texts = {key.name: msgspec.json.Decoder(key.type) for key in ADDED if not key.is_number}


def _json(value: str) -> msgspec.Raw:
    return _decoded(value, _any_json)


def _packed(value: str) -> tuple[PackedItem, ...]:
    return _decoded(value, _packed_items)


def _added(columns: RowGroupColumns, key: MessageKey) -> Iterable[Any]:
    if key.is_number:
        return columns.numbers(key.name, UNSET)
    return columns.words(key.name, lambda text: _decoded(text, _added_texts[key.name]), UNSET)


def _decoded(value: str, decoder: msgspec.json.Decoder[T]) -> T:
    try:
        return decoder.decode(value)
    except REFUSALS:
        raise _Odd from None
