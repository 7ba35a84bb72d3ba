"""Names and rows: the order in which people count (b2 before b10), and how names and rows become bytes."""

from __future__ import annotations

import re

import msgspec

_NUMBER = re.compile("([0-9]+)")

Natural = tuple[tuple[str | int, ...], str]


def natural(name: str) -> Natural:
    """A key to sort by. Words and numbers alternate, so that two keys can always be compared."""
    parts = _NUMBER.split(name)
    return tuple(int(part) if at % 2 else part for at, part in enumerate(parts)), name


# -- bytes -------------------------------------------------------------------------------------------------------------


def key_of(name: str) -> bytes:
    """A name as a column can hold it: JSON has a way to write half a character, Arrow has none."""
    return name.encode("utf-8", "surrogatepass")


def name_of(key: bytes) -> str:
    return key.decode("utf-8", "surrogatepass")


HALF = "half a character (a lone surrogate) in the name of its run or broker"
"""The reason for a line that is not judged: its broker is unknown."""


def is_whole(*names: str) -> bool:
    """Can these names be written down?"""
    try:
        "".join(names).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def storable(text: str) -> str:
    """Replaces half characters by their escapes."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def packed(value: object) -> bytes:
    try:
        return msgspec.msgpack.encode(value)
    except UnicodeEncodeError:
        return msgspec.msgpack.encode(_storable(value))


def _storable(value: object) -> object:
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, dict):
        return {key: _storable(each) for key, each in value.items()}
    return [_storable(each) for each in value] if isinstance(value, list | tuple) else value
