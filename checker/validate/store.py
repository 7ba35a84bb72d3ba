"""Lists of bytes by key, in one temporary file: what is set aside while a trace is read, and asked for at its end."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from struct import Struct
from types import TracebackType

from attrs import define

Key = tuple[str, ...]

HEAD = Struct("<qq")
"""Before each block: where the next one of its key begins, or 0, and how many bytes it has."""


@define
class _List:
    """Where its first block begins, and its last."""

    first: int
    last: int


class Store:
    """Blocks come back in the order in which they were put. The file has no name, and is gone when it is closed.

    In memory are the keys only: where a block is, the one before it knows.
    """

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115  # closed with the store
        self._lists: dict[Key, _List] = {}
        self._end = HEAD.size  # so that no block begins at 0

    def put(self, key: Key, block: bytes) -> None:
        begin = self._end
        self._file.seek(begin)
        self._file.write(HEAD.pack(0, len(block)) + block)
        self._end += HEAD.size + len(block)
        known = self._lists.get(key)
        if known is None:
            self._lists[key] = _List(begin, begin)
            return
        self._file.seek(known.last)
        self._file.write(begin.to_bytes(8, "little"))
        known.last = begin

    def blocks(self, key: Key) -> Iterator[bytes]:
        known = self._lists.get(key)
        at = 0 if known is None else known.first
        while at:
            self._file.seek(at)
            at, size = HEAD.unpack(self._file.read(HEAD.size))
            yield self._file.read(size)

    def stored(self) -> list[Key]:
        """The keys under which something was put, in order."""
        return sorted(self._lists)

    def __enter__(self) -> Store:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._file.close()
