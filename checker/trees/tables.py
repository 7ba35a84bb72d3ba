"""Tables of links, documents and subscriptions: where they are, how they are read, and what is wrong with a row.

A row is a mapping from columns to values, whatever the format; `document_of` and its siblings make values of it, the
same in a worker of Spark as here. Rows have no order: of several that are wrong, the one with the least id is named.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import msgspec
from attrs import define, frozen

from routeproof.checker.system.errors import UsageError
from routeproof.impl.trees.matching import Interest, interest
from routeproof.model.filters.interface import quoted

TableRow: TypeAlias = "Mapping[str, Any]"
DocumentRow: TypeAlias = "tuple[str, str, int, list[str]]"
"""Id, publisher's broker, size, keywords."""
Value = TypeVar("Value")

COLUMNS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "network": (("from", "to"), ("cost",)),
    "documents": (("id", "publisher", "keywords"), ("size",)),
    "subscriptions": (("id", "broker", "keywords"), ("match",)),
}
"""For each table the columns that it must have, and those that it may have."""

SUFFIXES = {
    ".parquet": "parquet",
    ".csv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".orc": "orc",
}
LOCAL = ("parquet", "csv", "jsonl")
"""Formats that are read without Spark."""

MOST_SIZE = 1_000_000
"""Size of a document."""
MOST_FIELD = 1 << 24
"""Characters of a field of a CSV file."""
LARGEST = 1 << 53
"""Whole numbers below this are exact as floating-point numbers."""
AT_ONCE = 10_000
"""Rows that are read at once."""


class RowError(ValueError):
    """A row that makes no sense: what is wrong with it."""


@frozen
class TableSource:
    """A table: what it is of, its format and its name."""

    role: str
    format: str
    name: str
    given: str
    """The word of the command line, for messages."""

    @classmethod
    def of(cls, role: str, given: str, *, spark: bool) -> TableSource:
        """The table of one word: a path with a suffix that tells the format, FORMAT:PATH, or on Spark table:NAME."""
        kind, colon, rest = given.partition(":")
        if not (colon and kind.isidentifier() and rest):
            path = Path(given)
            if not path.exists():
                raise UsageError(f"{quoted(given)}: No such file or directory; expected the table of {role}")
            kind, rest = SUFFIXES.get(_suffix(path), ""), str(path.absolute())
            if not kind:
                known = ", ".join(SUFFIXES)
                raise UsageError(f"{quoted(given)}: the format is not known; expected one of {known}, or FORMAT:PATH")
        elif kind != "table":
            rest = rest if "://" in rest else str(Path(rest).absolute())
            kind = "jsonl" if kind == "json" else kind
        if not spark and kind not in LOCAL:
            raise UsageError(f"{quoted(given)}: only Spark reads this; give --engine spark as well")
        return cls(role, kind, rest, given)

    @property
    def shown(self) -> str:
        return quoted(self.given)

    def refuse_columns(self, names: list[str]) -> None:
        """Refuses a table without the columns that it must have."""
        missing = [name for name in COLUMNS[self.role][0] if name not in names]
        if missing:
            raise UsageError(
                f"{self.shown}: no column {' or '.join(map(quoted, missing))}; the table of {self.role} has the columns"
                f" {', '.join(COLUMNS[self.role][0])} (and may have {', '.join(COLUMNS[self.role][1])})"
            )

    @property
    def columns(self) -> list[str]:
        return [*COLUMNS[self.role][0], *COLUMNS[self.role][1]]


def _suffix(path: Path) -> str:
    """The suffix of a file, or of the first file in a directory."""
    if not path.is_dir():
        return path.suffix.lower()
    files = sorted(each for each in path.iterdir() if each.is_file() and each.name[0] not in "._")
    return path.suffix.lower() if path.suffix.lower() in SUFFIXES else files[0].suffix.lower() if files else ""


# -- reading without Spark ---------------------------------------------------------------------------------------------


def local_rows(source: TableSource) -> Iterator[TableRow]:
    """The rows of a file, or of the files in a directory."""
    path = Path(source.name)
    if path.is_dir():
        files = sorted(each for each in path.iterdir() if each.is_file() and each.name[0] not in "._")
        if not files:
            raise UsageError(f"{source.shown}: the directory has no files")
    else:
        files = [path]
    for file in files:
        yield from READERS[source.format](source, file)


def _parquet_rows(source: TableSource, file: Path) -> Iterator[TableRow]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(file) as found:
            names = found.schema_arrow.names
            source.refuse_columns(names)
            for batch in found.iter_batches(AT_ONCE, columns=[name for name in source.columns if name in names]):
                yield from batch.to_pylist()
    except (pa.ArrowException, UnicodeDecodeError) as error:
        raise UsageError(f"{source.shown}: cannot be read as Parquet: {' '.join(str(error).split())[:200]}") from None


def _csv_rows(source: TableSource, file: Path) -> Iterator[TableRow]:
    csv.field_size_limit(MOST_FIELD)
    try:
        with file.open(encoding="utf-8-sig", errors="replace", newline="") as lines:
            reader = csv.DictReader(lines)
            source.refuse_columns(list(reader.fieldnames or ()))
            yield from reader
    except csv.Error as error:
        raise UsageError(f"{source.shown}: cannot be read as CSV: {error}") from None


def _json_rows(source: TableSource, file: Path) -> Iterator[TableRow]:
    with file.open("rb") as lines:
        for line in lines:
            if line.strip():
                yield json_row(line.decode("utf-8", "replace"))  # as Spark reads text


def json_row(line: str) -> TableRow:
    """The row of a line; what is wrong with the line is under the empty column."""
    try:
        found = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return {"": "a line that is no JSON"}
    return found if isinstance(found, dict) else {"": "a line that is no JSON object"}


READERS: Mapping[str, Callable[[TableSource, Path], Iterator[TableRow]]] = {
    "parquet": _parquet_rows,
    "csv": _csv_rows,
    "jsonl": _json_rows,
}


# -- rows --------------------------------------------------------------------------------------------------------------


def _text(row: TableRow, column: str) -> str:
    found = _whole(row.get(column))
    if isinstance(found, int) and not isinstance(found, bool):
        return str(found)
    if found is None or found == "":
        raise RowError(f"without {column}")
    if not isinstance(found, str):
        raise RowError(f"the {column} is no text")
    if not _has_bytes(found):
        raise RowError(f"the {column} is no valid text")
    return found


def _whole(value: Any) -> Any:
    """A whole number for the decimal numbers of databases, and of Spark in place of unsigned numbers."""
    return int(value) if isinstance(value, Decimal) and value.is_finite() and value == int(value) else value


def _has_bytes(text: str) -> bool:
    return text.isascii() or not any("\ud800" <= c <= "\udfff" for c in text)


def _number(row: TableRow, column: str, most: int) -> int:
    """A whole number from 1; 1 where there is none."""
    found = _whole(row.get(column))
    if found is None or found == "":
        return 1
    try:
        number = int(found) if isinstance(found, int | str) and not isinstance(found, bool) else 0
    except ValueError:
        number = 0
    if isinstance(found, float) and found.is_integer():
        number = int(found)
    if not 1 <= number <= most:
        raise RowError(f"the {column} is {quoted(str(found)[:40])}; expected a whole number from 1 to {most:,}")
    return number


def _words(row: TableRow) -> list[str]:
    """Keywords: a list of texts, or one text with blanks between them."""
    found = row.get("keywords")
    words = found.split() if isinstance(found, str) else [] if found is None else found
    if not isinstance(words, list) or not all(isinstance(word, str) and word and _has_bytes(word) for word in words):
        raise RowError("the keywords are no list of texts")
    return sorted(set(words))


def _fine(row: TableRow) -> None:
    if "" in row:
        raise RowError(str(row[""]))


def link_of(row: TableRow) -> tuple[str, str, int]:
    """The two ends of a link, and its cost."""
    from routeproof.impl.trees.network import MOST_COST

    _fine(row)
    return _text(row, "from"), _text(row, "to"), _number(row, "cost", MOST_COST)


def document_of(row: TableRow) -> DocumentRow:
    _fine(row)
    return _text(row, "id"), _text(row, "publisher"), _number(row, "size", MOST_SIZE), _words(row)


def subscription_of(row: TableRow) -> tuple[str, str, Interest]:
    """Id, broker and interest: in any of the keywords, or in all of them where `match` says so."""
    _fine(row)
    id, broker, words = _text(row, "id"), _text(row, "broker"), _words(row)
    match = row.get("match") or "any"
    if match not in ("any", "all"):
        raise RowError(f"match is {quoted(str(match)[:40])}; expected any or all")
    if not words:
        raise RowError("without keywords")
    return id, broker, interest(words, match == "all")


@define
class RowFaults:
    """Rows that make no sense: how many, and the first by id."""

    count: int = 0
    first: tuple[str, str] = ("", "")

    def add(self, row: TableRow, reason: str, count: int = 1) -> None:
        named = (str(row[each]) for each in ("id", "from") if row.get(each) is not None)
        self.note(next(named, ""), reason, count)

    def note(self, id: str, reason: str, count: int = 1) -> None:
        if count:
            self.first = min(self.first, (id, reason)) if self.count else (id, reason)
            self.count += count

    def refuse(self, source: TableSource) -> None:
        """Refuses the table if a row is wrong."""
        if self.count:
            id, reason = self.first
            whose = f"the row of {quoted(id)}" if id else "a row"
            more = f" ({self.count - 1:,} more rows are wrong)" if self.count > 1 else ""
            raise UsageError(f"{source.shown}: {whose}: {reason}{more}")


def values_of(source: TableSource, rows: Iterator[TableRow], of: Callable[[TableRow], Value]) -> list[Value]:
    """The values of all rows. `UsageError` if a row is wrong, or if there is none."""
    faults = RowFaults()
    found = []
    for row in rows:
        try:
            found.append(of(row))
        except RowError as error:
            faults.add(row, str(error))
    faults.refuse(source)
    if not found:
        raise UsageError(f"{source.shown}: the table of {source.role} has no rows")
    return found
