"""Names and rows as bytes. JSON has a way to write half a character, which nothing else can hold."""

from __future__ import annotations

import msgspec


def key_of(name: str) -> bytes:
    """A name as a column can hold it: JSON has a way to write half a character, Arrow has none."""
    return name.encode("utf-8", "surrogatepass")


def name_of(key: bytes) -> str:
    return key.decode("utf-8", "surrogatepass")


def packed(value: object) -> bytes:
    try:
        return msgspec.msgpack.encode(value)
    except UnicodeEncodeError:
        return msgspec.msgpack.encode(_storable(value))


def _storable(value: object) -> object:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, dict):
        return {key: _storable(each) for key, each in value.items()}
    return [_storable(each) for each in value] if isinstance(value, list | tuple) else value
