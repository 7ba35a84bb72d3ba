"""Names and rows as bytes. JSON has a way to write half a character, which nothing else can hold."""

from __future__ import annotations

import msgspec


def key_of(name: str) -> bytes:
    """A name as a column can hold it: JSON has a way to write half a character, Arrow has none."""
    return name.encode("utf-8", "surrogatepass")


def name_of(key: bytes) -> str:
    return key.decode("utf-8", "surrogatepass")


HALF = "half a character (a lone surrogate) in the name of its run or broker"
"""Why a line is not judged: nobody could say whose it is."""


def is_whole(*names: str) -> bool:
    """Can these names be written down?"""
    try:
        "".join(names).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def storable(text: str) -> str:
    """The same; half a character as its escape."""
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
