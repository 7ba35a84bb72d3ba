"""The filter over attributes: for each attribute that it constrains, the set of values it lets through."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from attrs import field, frozen

from routeproof.model.filters.interface import (
    Attributes,
    Constant,
    Event,
    Filter,
    FilterError,
    Value,
    exact,
    named,
    shown,
)
from routeproof.model.filters.sets import ANYTHING, ValueSet

# FLT-12: far above any real filter or event, and low enough that no answer takes noticeable time.
PREDICATES = 64
ATTRIBUTES = 1024
NAME_LENGTH = 256
CONSTANT_LENGTH = 1024
STRING_LENGTH = 1 << 20
NUMBER_BITS = 8192


@frozen
class Predicate:
    """One condition as it was written. Without a constant: None."""

    attribute: str
    operator: str
    constant: Constant | None = None

    @property
    def value(self) -> Value | None:
        return exact(self.constant) if isinstance(self.constant, float) else self.constant

    @property
    def condition(self) -> str:
        return self.operator if self.constant is None else f"{self.operator} {shown(self.constant)}"

    def to_json(self) -> list[object]:
        written: list[object] = [self.attribute, self.operator]
        return written if self.constant is None else [*written, self.constant]


@frozen(cache_hash=True)
class PredicateFilter:
    """A conjunction of predicates (FLT-7), made by a dialect's `parse`.

    `constraints` are sorted by attribute; no set among them is empty and none is `ANYTHING`. The filter's events are
    then a product of non-empty sets, one an attribute, which is why every question can be answered attribute by
    attribute (FLT-13), and why equal constraints are the same events (FLT-6). `written` has no part in equality.

    `rest` has the values of all other attributes: `ANYTHING`, but in an advertisement that promises less of what it
    does not mention. They may always be missing.
    """

    constraints: tuple[tuple[str, ValueSet], ...]
    written: tuple[Predicate, ...] = field(eq=False, repr=False)
    rest: ValueSet = ANYTHING
    by_name: Mapping[str, ValueSet] = field(init=False, eq=False, repr=False)
    is_open: bool = field(init=False, eq=False, repr=False)
    """True if attributes that are not mentioned may have any value."""

    @by_name.default
    def _by_name(self) -> Mapping[str, ValueSet]:
        return dict(self.constraints)

    @is_open.default
    def _is_open(self) -> bool:
        return self.rest is ANYTHING or self.rest == ANYTHING

    def matches(self, event: Event) -> bool:
        if not isinstance(event, Attributes):
            raise FilterError("a predicate filter cannot match an event number; expected a table of attributes")
        values = event.by_name
        for name, allowed in self.constraints:
            value = values.get(name)
            if not (allowed.missing if value is None else value in allowed):
                return False
        return self.is_open or all(value in self.rest for name, value in event.pairs if name not in self.by_name)

    def covers(self, other: Filter) -> bool:
        theirs = _predicates(other)
        by_name, rest = theirs.by_name, theirs.rest
        for name, mine in self.constraints:
            if not by_name.get(name, rest).within(mine):
                return False
        if self.is_open:
            return True
        others = (allowed for name, allowed in theirs.constraints if name not in self.by_name)
        return theirs.rest.within(self.rest) and all(allowed.within(self.rest) for allowed in others)

    def overlaps(self, other: Filter) -> bool:
        them = _predicates(other)
        theirs = them.by_name
        for name, mine in self.constraints:
            if name in theirs and not theirs[name].overlaps(mine):
                return False
        if self.is_open and them.is_open:
            return True
        mine_alone = all(them.rest.overlaps(allowed) for name, allowed in self.constraints if name not in theirs)
        return mine_alone and all(
            self.rest.overlaps(allowed) for name, allowed in them.constraints if name not in self.by_name
        )

    def to_json(self) -> list[object]:
        """FLT-14: the predicates as written, each once, by attribute."""
        return [predicate.to_json() for predicate in self.written]

    def __str__(self) -> str:
        return " and ".join(f"{each.attribute} {each.condition}" for each in self.written) or "any event"


def _predicates(other: Filter) -> PredicateFilter:
    if not isinstance(other, PredicateFilter):
        raise FilterError("a predicate filter was compared with a set of events; expected filters of one kind")
    return other


def read_predicates(raw: object) -> tuple[Predicate, ...]:
    """The predicates as written. Their operators and whether these fit their constants is the dialect's to say."""
    if not isinstance(raw, list | tuple):
        raise FilterError(f"a filter: found {shown(raw)}; expected a list of predicates")
    if len(raw) > PREDICATES:
        raise FilterError(f"a filter: found {len(raw)} predicates; expected at most {PREDICATES}")
    return tuple(_read_predicate(f"predicate {number}", entry) for number, entry in enumerate(raw, start=1))


def _read_predicate(where: str, raw: object) -> Predicate:
    if not isinstance(raw, list | tuple) or len(raw) not in (2, 3):
        size = f" of length {len(raw)}" if isinstance(raw, list | tuple) else ""
        raise FilterError(
            f"{where}: found {shown(raw)}{size}; expected [attribute, operator, constant] or [attribute, operator]"
        )
    attribute = _read_name(where, raw[0])
    if type(raw[1]) is not str:
        raise FilterError(f"{where}: found {shown(raw[1])} as the operator; expected a string")
    if len(raw) == 2:
        return Predicate(attribute, raw[1])
    try:
        read_value(raw[2], CONSTANT_LENGTH)
    except _Unreadable as error:
        raise FilterError(f"{where}: constant: {error}") from None
    return Predicate(attribute, raw[1], raw[2])


def read_attributes(raw: object, reading: Callable[[Constant], Value]) -> Attributes:
    """An event; `reading` is what the dialect makes of each value."""
    if not isinstance(raw, Mapping):
        raise FilterError(f"an event: found {shown(raw)}; expected a table of attributes")
    if len(raw) > ATTRIBUTES:
        raise FilterError(f"an event: found {len(raw)} attributes; expected at most {ATTRIBUTES}")
    values: dict[str, Value] = {}
    for key, value in raw.items():
        name = _read_name("an event", key)
        try:
            values[name] = reading(read_value(value, STRING_LENGTH))
        except _Unreadable as error:
            raise FilterError(f"an event: attribute {named(name)}: {error}") from None
    return Attributes.of(values)


class _Unreadable(ValueError):
    """A fault of a value. The caller adds where it stands."""


def read_value(raw: object, longest: int) -> Constant:
    """A string, a boolean or a number, as it was written (FLT-1)."""
    # Exact types: a subclass may compare and print as it likes, and JSON and TOML bring none.
    if type(raw) is bool:
        return raw
    if type(raw) is str:
        if len(raw) > longest:
            raise _Unreadable(f"found a string of {len(raw)} characters; expected at most {longest}")
        return raw
    if type(raw) is int:
        if raw.bit_length() > NUMBER_BITS:
            raise _Unreadable(f"found {shown(raw)}; expected at most {NUMBER_BITS} bits")
        return raw
    if type(raw) is float and math.isfinite(raw):
        return raw
    kind = "a finite number" if type(raw) is float else "a string, a boolean or a number"
    raise _Unreadable(f"found {shown(raw)}; expected {kind}")


def _read_name(where: str, raw: object) -> str:
    if type(raw) is not str:
        raise FilterError(f"{where}: found {shown(raw)} as an attribute; expected its name, a string")
    if not 0 < len(raw) <= NAME_LENGTH:
        raise FilterError(
            f"{where}: found a name of {len(raw)} characters as an attribute; expected 1 to {NAME_LENGTH}"
        )
    return raw
