"""Reading what arrives as JSON or TOML: shapes, types and sizes, before any meaning.

`read_predicates` and `read_attributes` are what a dialect needs; both refuse whatever they are not sure of with a
`FilterError` of one line, however strange the input, and never with anything else.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from routeproof.model.filters.attributes import Attributes, Value, exact
from routeproof.model.filters.interface import FilterError, named, shown
from routeproof.model.filters.predicate_filter import Predicate

# FLT-12: far above any real filter or event, and low enough that no answer takes noticeable time.
PREDICATES = 64
ATTRIBUTES = 1024
NAME_LENGTH = 256
CONSTANT_LENGTH = 1024
STRING_LENGTH = 1 << 20
NUMBER_BITS = 8192


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


def read_attributes(raw: object, reading: Callable[[Value], Value]) -> Attributes:
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


def read_value(raw: object, longest: int) -> Value:
    """A string, a boolean or a number that is exact from here on (FLT-1, FLT-2)."""
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
        return exact(raw)
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
