"""What every filter and every dialect can do: the names the rest of routeproof is written against."""

from __future__ import annotations

from typing import Protocol, TypeAlias, runtime_checkable

from routeproof.model.filters.attributes import Attributes

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
        """What the filter's dialect parses back into an equal filter."""

    def __hash__(self) -> int: ...


@runtime_checkable
class Dialect(Protocol):
    """A language of filters: how one that arrives as JSON or TOML is read, and how an event is."""

    @property
    def name(self) -> str: ...

    def parse(self, raw: object) -> Filter: ...

    def event(self, raw: object) -> Event: ...
