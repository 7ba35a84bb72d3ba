"""`parse`: the JSON value of some bytes, strict where parsers differ, and with words for what is wrong.

This is the reference. `lines` reads most lines with a faster parser that knows their types, and comes here for what
that one refuses: to hear why, or that it was right after all.
"""

from __future__ import annotations

import json
from typing import NoReturn

import msgspec

from routeproof.traces.fields import TraceError

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
