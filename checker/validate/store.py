"""Lists of bytes by key, in one temporary file: what is set aside while a trace is read, and asked for at its end."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from types import TracebackType

Key = tuple[str, ...]


class Store:
    """Blocks come back in the order in which they were put. The file has no name, and is gone when it is closed."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115  # closed with the store
        self._places: dict[Key, list[tuple[int, int]]] = {}
        self._end = 0

    def put(self, key: Key, block: bytes) -> None:
        self._file.seek(self._end)
        self._file.write(block)
        self._places.setdefault(key, []).append((self._end, len(block)))
        self._end += len(block)

    def blocks(self, key: Key) -> Iterator[bytes]:
        for begin, size in self._places.get(key, ()):
            self._file.seek(begin)
            yield self._file.read(size)

    def stored(self) -> list[Key]:
        """The keys under which something was put, in order."""
        return sorted(self._places)

    def __enter__(self) -> Store:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._file.close()
