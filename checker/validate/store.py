"""Lists of bytes by key, in one temporary file: written while a trace is read, and read back at its end."""

from __future__ import annotations

import tempfile
from array import array
from collections.abc import Iterator
from struct import Struct
from types import TracebackType

Key = tuple[str, ...]

HEAD = Struct("<qq")
"""Before each block: where the one before it of its key begins, or 0, and how many bytes it has."""


class Store:
    """Blocks come back in the order in which they were put. The file has no name, and is gone when it is closed.

    In memory are the keys only, each with its last block: where a block is, the one after it knows. So the file is
    written from front to back.
    """

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115  # closed with the store
        self._last: dict[Key, int] = {}
        self._under: dict[Key, list[Key]] = {}
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
