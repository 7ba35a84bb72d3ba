"""`ParquetFile` reads a Parquet file of any writer in bounded memory.

A Parquet file of some kilobytes can hold a text of gigabytes, or one text for millions of rows, and the sizes in its
metadata need not be true. So `pages` reads the headers of a row group's pages (Thrift's compact protocol) before the
group is decompressed: pyarrow allocates by them. Columns of texts are read as dictionaries, so that a text is in memory
once and not once a row, and batches are cut so that their rows, written out, are not too much either.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import Any, BinaryIO

from attrs import frozen

from routeproof.traces.columns import ORDER, Batch
from routeproof.traces.fields import TraceError, in_one_line

ROWS = 1 << 14
"""Rows that are read at once. Each batch brings its dictionaries along again, so fewer would be slower."""

BATCH_BYTES = 1 << 25
"""Bytes of texts in the rows that are handed on at once. A single row may have more."""

ROW_BYTES = 32 << 20
"""The longest row, as a line of JSON may be long."""

PAGES_BYTES = 128 << 20
"""Bytes that the largest pages of all columns of a row group may become, together."""

FOOTER_BYTES = 32 << 20
"""The longest metadata: those of a file with ten thousand row groups."""

ROWS_A_BYTE = 100
"""Rows that a byte of a file may stand for. A row has a `seq` of its own, and takes some bytes."""

FREE_ROWS = 1 << 20
"""Rows that any file may have."""

DELTA_BYTE_ARRAY = 7
"""An encoding in which each value may be as long as all of its page."""

FAULTS = (OSError, ValueError, MemoryError, OverflowError, KeyError, IndexError, TypeError)
"""Exceptions of pyarrow for broken files, in addition to its own ones."""


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
        try:
            byte = self.data[self.at]
        except IndexError:
            raise _Cut from None
        self.at += 1
        return byte

    def _skip(self, count: int) -> None:
        self.at += count
        if self.at > len(self.data):
            raise _Cut

    def _varint(self) -> int:
        if (byte := self._byte()) < 128:
            return byte
        value, shift = byte & 127, 7
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


# -- the file ----------------------------------------------------------------------------------------------------------


def whole_numbers(values: Any) -> Any:
    """An Arrow array of the whole numbers in a buffer of 64 bits each.

    `pyarrow.array` and `pyarrow.scalar` would import pandas where it is installed, which takes a third of a second.
    """
    import pyarrow as pa

    buffer = pa.py_buffer(values)
    return pa.Array.from_buffers(pa.int64(), buffer.size // 8, [None, buffer])


def words_array(words: Sequence[str]) -> Any:
    """An Arrow array of strings."""
    import pyarrow as pa

    texts = [word.encode("utf-8") for word in words]
    ends = array("i", accumulate(map(len, texts), initial=0))
    return pa.Array.from_buffers(pa.string(), len(texts), [None, pa.py_buffer(ends), pa.py_buffer(b"".join(texts))])


def filled(values: Any, missing: int) -> Any:
    """An array of whole numbers in which this one stands for null."""
    import pyarrow as pa

    values = values.cast(pa.int64())
    return values.fill_null(whole_numbers(array("q", (missing,)))[0]) if values.null_count else values


def viewed(values: Any, missing: int) -> memoryview:
    """The whole numbers of an Arrow array, 64 bits each; this one stands for null.

    `to_numpy` would import pandas, as above.
    """
    values = filled(values, missing)
    found = values.buffers()[1]
    numbers = memoryview(b"" if found is None else found).cast("B")
    begin = 8 * values.offset
    return numbers[begin : begin + 8 * len(values)].cast("q")


@frozen
class RowSlice:
    """Some rows of a row group, from `first` on. `is_too_long`: it is a single row that is longer than `ROW_BYTES`."""

    batch: Batch
    first: int
    texts: int
    """Bytes of texts, or more."""
    is_too_long: bool = False


class ParquetFile:
    """An open file. `TraceError` if it cannot be one of a trace. `every`: columns with other names are read too."""

    def __init__(self, file: BinaryIO, *, every: bool = False) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        self._file = file
        self._size = _size(file)
        try:
            about = pq.ParquetFile(file, pre_buffer=False)
            file.seek(0)
            self.opened: Any = pq.ParquetFile(
                file,
                metadata=about.metadata,
                page_checksum_verification=True,
                pre_buffer=False,
                read_dictionary=_texts(about, every),
            )
            self.metadata: Any = self.opened.metadata
            self.keys: dict[bytes, bytes] = self.opened.schema_arrow.metadata or {}
            self.names = [name for name in self.opened.schema_arrow.names if every or name in ORDER]
            nested = [name for name in self.names if pa.types.is_nested(self.opened.schema_arrow.field(name).type)]
        except (pa.ArrowException, *FAULTS) as error:
            raise TraceError(f"Parquet that cannot be read: {in_one_line(error)}") from None
        if nested:
            raise TraceError(f"Parquet whose column {nested[0]} is nested; expected texts and numbers")
        rows, most = self.metadata.num_rows, max(FREE_ROWS, ROWS_A_BYTE * self._size)
        if not 0 <= rows <= most:
            raise TraceError(f"Parquet of {self._size} bytes with {rows} rows; expected at most {most}")

    @property
    def sizes(self) -> list[int]:
        """The number of rows of each row group."""
        return [int(self.metadata.row_group(group).num_rows) for group in range(self.metadata.num_row_groups)]

    def told(self, group: int) -> dict[str, Any]:
        """Statistics of the columns of a row group, as the file states them: `pyarrow.parquet.Statistics`."""
        row_group = self.metadata.row_group(group)
        columns = map(row_group.column, range(row_group.num_columns))
        return {each.path_in_schema: each.statistics for each in columns if each.statistics is not None}

    def parts(self, group: int, names: Sequence[str]) -> Iterator[RowSlice]:
        """Yields some columns of a row group. A fault of the file is one of pyarrow's exceptions or of `FAULTS`."""
        done = 0
        rows = self._rows_at_once(group, names)
        for batch in self.opened.iter_batches(rows, row_groups=[group], columns=list(names), use_threads=False):
            batch.validate(full=True)
            for part in _cut(batch):
                yield RowSlice(part.batch, done + part.first, part.texts, part.is_too_long)
            done += batch.num_rows
            del batch  # it need not stay until there is the next

    def _rows_at_once(self, group: int, names: Sequence[str]) -> int:
        """So many rows that no batch takes far more than `BATCH_BYTES`; ValueError if a page alone does."""
        largest = a_row = 0
        row_group = self.metadata.row_group(group)
        for number in range(row_group.num_columns):
            column = row_group.column(number)
            if column.path_in_schema not in names:
                continue
            found = list(self._pages(column))
            largest += max((page.size for page in found), default=0)
            a_row += max((_a_value(page) for page in found if page.is_data), default=0)
        if largest > PAGES_BYTES:
            raise ValueError(f"its pages become {largest >> 20} MiB; expected at most {PAGES_BYTES >> 20} MiB at once")
        return max(1, min(ROWS, BATCH_BYTES // max(1, a_row)))

    def _pages(self, column: Any) -> Iterator[Page]:
        """From where pyarrow begins."""
        begin = column.data_page_offset
        if column.has_dictionary_page and 0 < column.dictionary_page_offset < begin:
            begin = column.dictionary_page_offset
        return pages(self._file, begin, min(begin + column.total_compressed_size, self._size))


def _size(file: BinaryIO) -> int:
    """The size of a file, whose metadata are not too long."""
    try:
        size = file.seek(0, 2)
        file.seek(max(0, size - 8))
        footer = int.from_bytes(file.read(4), "little")
        file.seek(0)
    except OSError as error:
        raise TraceError(f"Parquet that cannot be read: {error.strerror or error}") from None
    if FOOTER_BYTES < footer < size:
        raise TraceError(f"Parquet with {footer >> 20} MiB of metadata; expected at most {FOOTER_BYTES >> 20} MiB")
    return size


def _texts(opened: Any, every: bool) -> list[str]:
    columns = opened.schema
    found = (columns.column(number) for number in range(len(columns)))
    return [column.path for column in found if column.physical_type == "BYTE_ARRAY" and (every or column.path in ORDER)]


def _a_value(page: Page) -> int:
    """Bytes that a value of this page takes in memory, on average or at most."""
    return page.size if page.encoding == DELTA_BYTE_ARRAY else -(-page.size // max(1, page.values))


def _cut(batch: Batch) -> Iterator[RowSlice]:
    """A batch in pieces whose texts are not too much."""
    import pyarrow.compute as pc

    found = [each for each in map(_lengths, batch.columns) if each is not None]
    most = batch.num_rows * sum(longest for _, longest in found)
    if most <= BATCH_BYTES:
        yield RowSlice(batch, 0, most)
        return
    each_row = found[0][0]()
    for column, _ in found[1:]:
        each_row = pc.add(each_row, column())
    first = total = 0
    for at, length in enumerate(each_row.to_pylist()):
        if at > first and total + length > BATCH_BYTES:
            yield RowSlice(batch.slice(first, at - first), first, total, total > ROW_BYTES)
            first, total = at, 0
        total += length
    if first < batch.num_rows:
        yield RowSlice(batch.slice(first), first, total, total > ROW_BYTES)


def _lengths(column: Any) -> tuple[Callable[[], Any], int] | None:
    """Returns a function for the bytes of each row of a column of texts, and the bytes of the longest."""
    import pyarrow as pa
    import pyarrow.compute as pc

    is_dictionary = pa.types.is_dictionary(column.type)
    texts = column.dictionary if is_dictionary else column
    if len(texts) == 0 or not _has_length(texts.type):
        return None
    lengths = pc.binary_length(texts)
    return lambda: filled(lengths.take(column.indices) if is_dictionary else lengths, 0), pc.max(lengths).as_py() or 0


def _has_length(type_: Any) -> bool:
    import pyarrow as pa

    kinds = (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_large_binary)
    return any(kind(type_) for kind in kinds)
