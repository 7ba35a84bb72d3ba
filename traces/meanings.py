"""Meanings of filters and events: the JSON of one, read in a dialect, each different text once.

Reading a line of a trace is cheap, and finding out that its filter is a non-empty set of events is not. So a line keeps
the text of its filter, and a message asks `Meanings` when it is needed. A trace repeats the same filter at
every broker that it passes, so that recent readings are remembered, up to a limit.
"""

from __future__ import annotations

from functools import lru_cache

from msgspec import Raw

from routeproof.model.filters import Attributes, Dialect, EventSet, Filter, FilterError, dialect
from routeproof.traces.fields import TraceError
from routeproof.traces.strict_json import parse

FILTERS = 1 << 12
"""Largest number of cached filters (about 3 kB each)."""

PUBLICATIONS = 1 << 10
"""Largest number of cached events (about 2 kB each)."""

TEXT = 1 << 14
"""Largest text in bytes whose meaning is cached. A longer one is read again each time."""


class Meanings:
    """The meanings of one dialect. Build with `meanings_of`: all readers of the same dialect share one cache."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self._filter = lru_cache(FILTERS)(self._read_filter)
        self._attributes = lru_cache(PUBLICATIONS)(self._read_attributes)

    def filter(self, text: Raw) -> Filter:
        """The filter of this text; `TraceError` where it is none, or one that matches nothing."""
        written = bytes(text)
        return self._filter(written) if len(written) <= TEXT else self._read_filter(written)

    def attributes(self, text: Raw) -> Attributes:
        """The event of this text; `TraceError` where it is none."""
        written = bytes(text)
        return self._attributes(written) if len(written) <= TEXT else self._read_attributes(written)

    def _read_filter(self, text: bytes) -> Filter:
        raw = parse(text)
        try:
            # Event numbers are event numbers in every dialect: no predicate is a number.
            if isinstance(raw, list) and raw and all(type(each) is int for each in raw):
                return EventSet.of(raw)
            return self.dialect.parse(raw)
        except FilterError as error:
            raise TraceError(str(error)) from None

    def _read_attributes(self, text: bytes) -> Attributes:
        try:
            event = self.dialect.event(parse(text))
        except FilterError as error:
            raise TraceError(str(error)) from None
        if not isinstance(event, Attributes):  # a dialect of event numbers, which stand under "event"
            raise TraceError(f"attributes in a trace whose dialect is {self.dialect.name}; expected an event number")
        return event

    def __reduce__(self) -> tuple[object, ...]:
        """Pickled by name, for workers in other processes."""
        return _by_name, (self.dialect.name,)


_SHARED: dict[str, Meanings] = {}


def meanings_of(dialect: Dialect) -> Meanings:
    shared = _SHARED.get(dialect.name)
    if shared is None or shared.dialect is not dialect:
        shared = _SHARED[dialect.name] = Meanings(dialect)
    return shared


def _by_name(name: str) -> Meanings:
    return meanings_of(dialect(name))
