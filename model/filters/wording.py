"""How messages show what was found: on one line, short, and whatever it is."""

from __future__ import annotations

import json

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
