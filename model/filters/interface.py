"""Interface of filters and dialects: the names that the rest of routeproof is written against.

`shown` writes whatever was found on one short line of a message.
"""

from __future__ import annotations

import json
from typing import Protocol, TypeAlias, runtime_checkable

from routeproof.model.filters.attributes import Attributes

LONGEST = 40
"""Characters shown of a string; digits shown of a number."""


def shown(value: object) -> str:
    """Scalars as JSON writes them, anything else by its kind only: it may be huge, nested or recursive."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        # Before str(): Python refuses to write out a number of some thousand digits.
        bits = value.bit_length()
        return f"an integer of {bits} bits" if bits > 3 * LONGEST else str(int(value))
    if isinstance(value, float):
        return repr(float(value))
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, dict):
        return "a table"
    return f"a value of type {type(value).__name__}"


def quoted(text: str) -> str:
    """Escaped as JSON does: no line break, and no lone surrogate that a terminal could not print."""
    return json.dumps(text if len(text) <= LONGEST else text[:LONGEST] + "...")


def named(name: str) -> str:
    """An attribute or operator, which a message must not take for a string constant."""
    return f"'{quoted(name)[1:-1]}'"


Event: TypeAlias = int | Attributes
"""An event number for `EventSet`, attributes for a predicate filter."""


class FilterError(ValueError):
    """A filter or an event that cannot be read: one line that says what was found and what was expected."""


@runtime_checkable
class Filter(Protocol):
    """A set of events that is never empty. Frozen and hashable; equal where the same events match (FLT-6)."""

    def matches(self, event: Event) -> bool: ...

    def covers(self, other: Filter) -> bool:
        """Whether every event that `other` matches matches here too. Reflexive."""

    def overlaps(self, other: Filter) -> bool:
        """Whether some event matches both."""

    def to_json(self) -> list[object]:
        """Returns JSON that the filter's dialect parses back into an equal filter."""

    def __hash__(self) -> int: ...


@runtime_checkable
class Dialect(Protocol):
    """A language of filters: how one that arrives as JSON or TOML is read, and how an event is."""

    @property
    def name(self) -> str: ...

    def parse(self, raw: object) -> Filter: ...

    def event(self, raw: object) -> Event: ...
