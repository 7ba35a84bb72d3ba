"""Sets of event numbers: the small algebra, for instances that are explored exhaustively."""

from __future__ import annotations

from functools import reduce

from attrs import field, frozen

from routeproof.model.filters.interface import Event, Filter, FilterError, shown

EVENT_NUMBER = 4095
"""The highest event number. The sets are bit masks, and one absurd number must not allocate one of a gigabyte."""


@frozen
class EventSet:
    """A non-empty set of event numbers as a bit mask: bit e is set where event e is in the set."""

    mask: int = field()

    @mask.validator
    def _not_empty(self, _: object, mask: int) -> None:
        if type(mask) is not int or not 0 < mask < 2 << EVENT_NUMBER:
            raise FilterError(
                f"a set of events: found the mask {shown(mask)}; expected at least one event from 0 to {EVENT_NUMBER}"
            )

    @classmethod
    def of(cls, events: object) -> EventSet:
        """The set of the numbers in a list, tuple, set or range."""
        if not isinstance(events, list | tuple | set | frozenset | range):
            raise FilterError(f"a set of events: found {shown(events)}; expected a list of event numbers")
        if not events:
            raise FilterError("a set of events: found an empty list; expected at least one event number")
        if len(events) > EVENT_NUMBER + 1:
            raise FilterError(f"a set of events: found {len(events)} of them; expected at most {EVENT_NUMBER + 1}")
        return cls(reduce(lambda mask, event: mask | 1 << read_event_number(event), events, 0))

    @property
    def events(self) -> tuple[int, ...]:
        return tuple(event for event in range(self.mask.bit_length()) if self.mask >> event & 1)

    def matches(self, event: Event) -> bool:
        if not isinstance(event, int):
            raise FilterError("a set of event numbers cannot match a table of attributes; expected an event number")
        return event >= 0 and bool(self.mask >> event & 1)

    def covers(self, other: Filter) -> bool:
        return not _mask(other) & ~self.mask

    def overlaps(self, other: Filter) -> bool:
        return bool(_mask(other) & self.mask)

    def to_json(self) -> list[object]:
        return list(self.events)

    def __str__(self) -> str:
        return "{" + ",".join(map(str, self.events)) + "}"


@frozen
class EventNumbers:
    """The dialect of `EventSet`: a filter is a list of event numbers, an event is a number."""

    name: str = "events"

    def parse(self, raw: object) -> EventSet:
        return EventSet.of(raw)

    def advertisement(self, raw: object) -> EventSet:
        return EventSet.of(raw)

    def event(self, raw: object) -> int:
        return read_event_number(raw)


EVENTS = EventNumbers()


def read_event_number(raw: object) -> int:
    if type(raw) is not int or not 0 <= raw <= EVENT_NUMBER:
        raise FilterError(f"an event: found {shown(raw)}; expected a whole number from 0 to {EVENT_NUMBER}")
    return raw


def _mask(other: Filter) -> int:
    if not isinstance(other, EventSet):
        raise FilterError("a set of events was compared with a predicate filter; expected filters of one kind")
    return other.mask
