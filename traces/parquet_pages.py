"""Headers of Parquet's pages: what each becomes when it is decompressed, without decompressing it.

`pages` goes from header to header (Thrift's compact protocol). It ends where one cannot be read, as pyarrow does.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from attrs import frozen

HEADER = 1 << 12
"""Bytes that are read of a page to begin with."""

LONGEST = 1 << 20
"""The longest header; the statistics in one may be long."""

DATA, DICTIONARY, DATA_V2 = 5, 7, 8
"""The fields of a page header that say what kind of page it is."""

ENCODING = {DATA: 2, DATA_V2: 4}
"""Where in these fields its encoding stands. The number of values is the first."""

STOP, TRUE, FALSE, BYTE, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = 0, 1, 2, 3, 7, 8, 9, 10, 11, 12
WHOLE = (4, 5, 6)
DEPTH = 16


@frozen
class Page:
    """One page: how many bytes it becomes, and how many values it has."""

    size: int
    values: int
    is_data: bool
    encoding: int


class _Cut(Exception):
    """The header goes on after the bytes that are there."""


def pages(file: BinaryIO, begin: int, end: int) -> Iterator[Page]:
    """Yields the pages between two places of a file. ValueError for a header that is absurdly long."""
    at = begin
    while 0 <= at < end:
        file.seek(at)
        found = _header(file)
        if found is None:
            return
        page, header, compressed = found
        yield page
        if compressed < 0:
            return
        at += header + compressed


def _header(file: BinaryIO) -> tuple[Page, int, int] | None:
    data, wanted = b"", HEADER
    while True:
        data += file.read(wanted - len(data))
        reading = _Thrift(data)
        try:
            fields = reading.struct(0)
        except _Cut:
            if len(data) < wanted:
                return None
            if wanted >= LONGEST:
                raise ValueError(f"the header of a page is longer than {LONGEST >> 20} MiB") from None
            wanted = LONGEST
            continue
        except ValueError:
            return None
        size, compressed = fields.get(2), fields.get(3)
        if not isinstance(size, int) or not isinstance(compressed, int):
            return None
        kind = next((key for key in (DATA, DATA_V2, DICTIONARY) if isinstance(fields.get(key), dict)), 0)
        about = fields.get(kind)
        inner = about if isinstance(about, dict) else {}
        values, encoding = inner.get(1), inner.get(ENCODING.get(kind, 0))
        page = Page(
            max(0, size),
            values if isinstance(values, int) else 0,
            kind != DICTIONARY,
            encoding if isinstance(encoding, int) else 0,
        )
        return page, reading.at, compressed


class _Thrift:
    """The part of the compact protocol that reads whole numbers and skips the rest."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def struct(self, depth: int) -> dict[int, object]:
        if depth > DEPTH:
            raise ValueError("nested too deeply")
        fields: dict[int, object] = {}
        last = 0
        while (head := self._byte()) & 15 != STOP:
            last = last + (head >> 4) if head >> 4 else self._zigzag()
            fields[last] = self._value(head & 15, depth)
        return fields

    def _value(self, kind: int, depth: int) -> object:
        if kind in (TRUE, FALSE):
            return kind == TRUE
        if kind == BYTE:
            return self._byte()
        if kind in WHOLE:
            return self._zigzag()
        if kind == STRUCT:
            return self.struct(depth + 1)
        if kind == DOUBLE:
            self._skip(8)
            return None
        if kind == BINARY:
            self._skip(self._varint())
            return None
        if kind in (LIST, SET):
            self._list(depth + 1)
            return None
        raise ValueError(f"no kind of value in a page header: {kind}")

    def _list(self, depth: int) -> None:
        head = self._byte()
        count = self._varint() if head >> 4 == 15 else head >> 4
        for _ in range(count):
            if head & 15 in (TRUE, FALSE):
                self._byte()
            else:
                self._value(head & 15, depth)

    def _byte(self) -> int:
        if self.at >= len(self.data):
            raise _Cut
        self.at += 1
        return self.data[self.at - 1]

    def _skip(self, count: int) -> None:
        self.at += count
        if self.at > len(self.data):
            raise _Cut

    def _varint(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7
            if shift > 63:
                raise ValueError("a number that does not end")

    def _zigzag(self) -> int:
        value = self._varint()
        return value >> 1 ^ -(value & 1)
