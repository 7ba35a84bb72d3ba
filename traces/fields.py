"""JSON from outside, checked: `parse` reads strictly, and the fields of an object are present, of their type and of a
sane size, or the object is refused.

`parse` is the reference reader. `lines` reads most lines with a faster parser that knows their types, and comes here
for what that one refuses, which gives the reason in words or the value after all. The limits of fields are written
twice from the same constants: as types, which msgspec checks at the speed of C and the JSON Schema is made of; and as
functions, which refuse with a `TraceError` of one line that names what was found and what was expected.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, NoReturn, TypeAlias

import msgspec
from msgspec import Meta

from routeproof.model.filters.interface import Constant, quoted, shown
from routeproof.model.filters.predicate_filter import ATTRIBUTES
from routeproof.model.filters.predicate_filter import NAME_LENGTH as ATTRIBUTE_LENGTH

Raw: TypeAlias = Mapping[str, object]
"""A JSON object as it was read."""

NAME_LENGTH = 256
"""Characters in a name: a run, a broker, a peer, an id."""

TEXT_LENGTH = 4096
"""Characters in a sentence: a note, a reason."""

TIMES = ("time", "issued", "done")
"""Keys of an event that are times."""

INTEGER = (1 << 63) - 1
"""The greatest sequence number or time: traces are also stored in columns of 64 bits."""

Name: TypeAlias = Annotated[str, Meta(min_length=1, max_length=NAME_LENGTH)]
OptionalName: TypeAlias = Annotated[str, Meta(max_length=NAME_LENGTH)]
"""Left out and empty are the same."""

Sentence: TypeAlias = Annotated[str, Meta(max_length=TEXT_LENGTH)]
WholeNumber: TypeAlias = Annotated[int, Meta(ge=0, le=INTEGER)]


class TraceError(ValueError):
    """A trace, a line or a field that cannot be read."""


def in_one_line(error: BaseException) -> str:
    """First line of a library's message about an input, without anything that a terminal would act on."""
    first = next(iter(str(error).splitlines()), "")
    return "".join(c if c.isprintable() else "?" for c in first[:200]) or type(error).__name__


def table(what: str, raw: object) -> Raw:
    if not isinstance(raw, dict):
        raise TraceError(f"{what}: found {shown(raw)}; expected an object")
    return raw


def name(raw: Raw, key: str, default: str | None = None) -> str:
    """A name; `default` where it is left out, refused where there is none."""
    return _string(raw, key, default, NAME_LENGTH)


def text(raw: Raw, key: str) -> str:
    """A sentence; empty where it is left out."""
    return _string(raw, key, "", TEXT_LENGTH) if key in raw else ""


def _string(raw: Raw, key: str, default: str | None, longest: int) -> str:
    value = raw.get(key, default)
    if value is None and key not in raw:
        raise TraceError(f"{quoted(key)} is missing; expected a string")
    if not isinstance(value, str):
        raise TraceError(f"{quoted(key)}: found {shown(value)}; expected a string")
    if len(value) > longest:
        raise TraceError(f"{quoted(key)}: found {len(value)} characters; expected at most {longest}")
    if not value and default is None:
        raise TraceError(f"{quoted(key)}: found an empty string; expected a name")
    return value


def integer(raw: Raw, key: str) -> int:
    if key not in raw:
        raise TraceError(f"{quoted(key)} is missing; expected a whole number")
    value = raw[key]
    if type(value) is not int or not 0 <= value <= INTEGER:
        unit = '; with "time_unit" in the header it may be a fraction or a date' if key in TIMES else ""
        raise TraceError(f"{quoted(key)}: found {shown(value)}; expected a whole number from 0 to 2^63 - 1{unit}")
    return value


def items(raw: Raw, key: str, most: int) -> list[object]:
    """A list; refused where it is left out."""
    if key not in raw:
        raise TraceError(f"{quoted(key)} is missing; expected a list")
    value = raw[key]
    if not isinstance(value, list):
        raise TraceError(f"{quoted(key)}: found {shown(value)}; expected a list")
    if len(value) > most:
        raise TraceError(f"{quoted(key)}: found {len(value)} entries; expected at most {most}")
    return value


def names(raw: Raw, key: str, most: int) -> tuple[str, ...]:
    """A list of names."""
    return tuple(name({key: each}, key) for each in items(raw, key, most))


# -- JSON --------------------------------------------------------------------------------------------------------------

REFUSALS = (msgspec.MsgspecError, RecursionError, ValueError)
"""Exceptions of the faster parser, for any input."""

NESTED = "not JSON that anybody wrote: nested too deeply"


def parse(text: bytes) -> object:
    """UTF-8 only, no key twice in an object, no NaN, no absurd number, no absurd nesting."""
    try:
        return _decode(text.decode("utf-8"))
    except json.JSONDecodeError as error:
        raise TraceError(f"not JSON: {error.msg} at character {error.pos + 1}") from None
    except UnicodeDecodeError as error:
        raise TraceError(f"not UTF-8: {error.reason} at byte {error.start + 1}") from None
    except RecursionError:
        raise TraceError(NESTED) from None
    except TraceError:
        raise
    except ValueError:  # Python refuses to read an integer of some thousand digits
        raise TraceError("a number with too many digits") from None


SMALL = 1 << 53
"""Above every plain number."""

PLAIN: msgspec.json.Decoder[dict[str, Constant]] = msgspec.json.Decoder(
    Annotated[
        dict[
            Annotated[str, Meta(min_length=1, max_length=ATTRIBUTE_LENGTH)],
            str | bool | Annotated[int, Meta(gt=-SMALL, lt=SMALL)] | Annotated[float, Meta(gt=-SMALL, lt=SMALL)],
        ],
        Meta(max_length=ATTRIBUTES),
    ]
)
"""A fast reader of plain attributes: unlike `parse` it takes names twice."""


def plain_table(text: bytes) -> dict[str, Constant] | None:
    """Attributes as `parse` reads them, a float that is a whole number as such; None if the text is not plain."""
    try:
        values = PLAIN.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    if text.count(b":") != len(values):  # with as many colons no name is there twice
        return None
    for key, value in values.items():
        if type(value) is float and value.is_integer():
            values[key] = int(value)
    return values


def json_text(value: object, *, in_order: bool = False) -> msgspec.Raw:
    """JSON of a value, in ASCII: half a character in it still makes valid UTF-8. `in_order`: keys are sorted."""
    try:
        return msgspec.Raw(json.dumps(value, sort_keys=in_order).encode("ascii"))
    except RecursionError:
        raise TraceError(NESTED) from None


def _table(pairs: list[tuple[str, object]]) -> dict[str, object]:
    table = dict(pairs)
    if len(table) < len(pairs):
        raise TraceError("an object has one key twice; which of the two was meant?")
    return table


def _no_number(constant: str) -> NoReturn:
    raise TraceError(f"{constant} is no JSON number")


_decode = json.JSONDecoder(object_pairs_hook=_table, parse_constant=_no_number).decode
