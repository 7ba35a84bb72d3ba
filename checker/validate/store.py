"""Storage: lists of bytes by key in one temporary file (`Store`), and how names and rows become bytes.

A store is written while a trace is read, and read back at its end. `natural` orders names as people count: b2 before
b10.
"""

from __future__ import annotations

import re
import tempfile
from array import array
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from struct import Struct
from types import TracebackType
from typing import IO, Literal

import msgspec

Key = tuple[str, ...]

HEAD = Struct("<qq")
"""Before each block: where the one before it of its key begins, or 0, and how many bytes it has."""


class Store:
    """Blocks come back in the order in which they were put. The file has no name, and is gone when it is closed.

    In memory are the keys only, each with its last block: where a block is, the one after it knows. So the file is
    written from front to back.
    """

    def __init__(self, path: Path | None = None, last: Mapping[Key, int] | None = None) -> None:
        """`path`: a file that stays, for another process, which needs `last` as well to open it again."""
        mode: Literal["rb", "w+b"] = "w+b" if last is None else "rb"
        self._file: IO[bytes] = (
            tempfile.TemporaryFile() if path is None else path.open(mode)  # noqa: SIM115 - closed with the store
        )
        self._last: dict[Key, int] = dict(last or {})
        self._under: dict[Key, list[Key]] = {}
        for key in self._last:
            self._under.setdefault(key[:2], []).append(key)
        self._end = HEAD.size  # so that no block begins at 0
        self._is_at_end = False

    def put(self, key: Key, block: bytes) -> None:
        if not self._is_at_end:
            self._file.seek(self._end)
            self._is_at_end = True
        self._file.write(HEAD.pack(self._last.get(key, 0), len(block)))
        self._file.write(block)
        if key not in self._last:
            self._under.setdefault(key[:2], []).append(key)
        self._last[key] = self._end
        self._end += HEAD.size + len(block)

    def blocks(self, key: Key) -> Iterator[bytes]:
        places = array("q")
        at = self._last.get(key, 0)
        while at:
            places.append(at)
            at, _ = self._head(at)
        for at in reversed(places):
            _, size = self._head(at)
            yield self._file.read(size)

    def _head(self, at: int) -> tuple[int, int]:
        """Head of the block that begins there; the block itself comes next in the file."""
        self._is_at_end = False
        self._file.seek(at)
        before, size = HEAD.unpack(self._file.read(HEAD.size))
        return before, size

    @property
    def last(self) -> Mapping[Key, int]:
        """The keys, each with where its last block is."""
        return self._last

    def stored(self) -> list[Key]:
        """All keys under which something was put, in order."""
        return sorted(self._last)

    def under(self, run: str, kind: str) -> list[Key]:
        """The keys of one run and kind, in order. It takes no longer where there are many other runs."""
        return sorted(self._under.get((run, kind), ()))

    def __enter__(self) -> Store:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._file.close()


class Stores(Store):
    """A store together with others, whose blocks come first."""

    def __init__(self, others: Sequence[Store]) -> None:
        super().__init__()
        self._others = others

    def blocks(self, key: Key) -> Iterator[bytes]:
        for each in self._others:
            yield from each.blocks(key)
        yield from super().blocks(key)

    def stored(self) -> list[Key]:
        return sorted({*super().stored(), *(key for each in self._others for key in each.stored())})

    def under(self, run: str, kind: str) -> list[Key]:
        return sorted({*super().under(run, kind), *(key for each in self._others for key in each.under(run, kind))})

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        super().__exit__(kind, error, at)
        for each in self._others:
            each.__exit__(kind, error, at)


# -- names -------------------------------------------------------------------------------------------------------------

_NUMBER = re.compile("([0-9]+)")

Natural = tuple[tuple[str | int, ...], str]


@lru_cache(1 << 12)
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
