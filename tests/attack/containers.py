"""Hostile containers: damaged gzip, zstd and Parquet, bombs, wrong names, pipes, and files that are none of these."""

from __future__ import annotations

import contextlib
import errno
import gzip
import io
import os
import struct
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pyarrow as pa
import zstandard

from routeproof.traces import to_parquet
from tests.attack import damage, sources
from tests.attack.case import Case, joined
from tests.attack.command import Command
from tests.attack.sources import Source
from tests.attack.traces import spoil
from tests.attack.verdicts import too_good

NAMES = ("t.jsonl", "t.jsonl.gz", "t.jsonl.zst", "t.parquet", "t")

Packer = Callable[[bytes], bytes]


def case(rng: Random) -> Case:
    drawn = rng.random()
    if drawn < 0.02:
        return _read(rng, Source("bomb", []), *bomb(rng))
    if drawn < 0.1:
        return _read(rng, Source("alien", []), *alien(rng))
    source = sources.good(rng)
    about, data = spoil(rng, source.copied()) if rng.random() < 0.5 else ("", _lines(source))
    if drawn < 0.4:
        return _read(rng, source, *_parquet(rng, source))
    if drawn < 0.5:
        return _piped(rng, source, about, data)
    name, pack = rng.choice(PACKERS)
    packed = pack(data)
    if not about or rng.random() < 0.3:
        packed, about = damage.flip(packed, rng), joined((about, "bytes of the container are damaged"))
    if rng.random() < 0.1:
        packed, about = (
            packed + rng.choice((b"\0" * 100, b"PAR1", packed, b"{}\n")),
            joined((about, "and more after it")),
        )
    return _read(rng, source, joined((name, about)), packed)


def _lines(source: Source) -> bytes:
    return b"".join(map(damage.line, source.rows))


def _read(rng: Random, source: Source, about: str, data: bytes) -> Command:
    name = rng.choice(NAMES)
    if rng.random() < 0.15:
        how = rng.choice((("--format", "mermaid", "-o", "d.mmd"), ()))
        return Command(joined((f"show {source.name}", about)), ("show", name, *how), {name: data}, ("d.mmd",))
    argv = ("validate", name, "--level", rng.choice(("exact", "observable")), "--json", "r.json")
    metrics = ("--metrics", "metrics") if rng.random() < 0.1 else ()
    judge = partial(too_good, good=source.good, name=name)
    leaves = ("r.json", "metrics/*.parquet")
    return Command(joined((source.name, about)), (*argv, *metrics), {name: data}, leaves, judge=judge)


# -- compressed --------------------------------------------------------------------------------------------------------


def _zstd(level: int, *, checksum: bool = False, size: bool = True) -> Packer:
    return zstandard.ZstdCompressor(level, write_checksum=checksum, write_content_size=size).compress


def _members(data: bytes) -> bytes:
    middle = len(data) // 2
    return gzip.compress(data[:middle]) + gzip.compress(b"") + gzip.compress(data[middle:])


def _frames(data: bytes) -> bytes:
    middle = len(data) // 2
    skipped = b"\x50\x2a\x4d\x18" + struct.pack("<I", 5) + b"aside"
    return _zstd(3)(data[:middle]) + skipped + _zstd(19, checksum=True)(data[middle:])


PACKERS: tuple[tuple[str, Packer], ...] = (
    ("gzip", gzip.compress),
    ("gzip of several members", _members),
    ("gzip in gzip", lambda data: gzip.compress(gzip.compress(data))),
    ("deflated without a head", zlib.compress),
    ("zstd", _zstd(3)),
    ("zstd with a checksum", _zstd(1, checksum=True)),
    ("zstd without its size", _zstd(3, size=False)),
    ("zstd of several frames", _frames),
    ("zstd in gzip", lambda data: gzip.compress(_zstd(3)(data))),
    ("plain", bytes),
)


# -- bombs -------------------------------------------------------------------------------------------------------------

BLOCK = 16 << 20
"""Bytes that one member or frame of a bomb becomes."""


@cache
def _block(content: bytes, codec: str) -> bytes:
    data = (content * (BLOCK // len(content) + 1))[:BLOCK]
    return gzip.compress(data, 9) if codec == "gzip" else _zstd(19)(data)


def bomb(rng: Random) -> tuple[str, bytes]:
    """A few kilobytes that become gigabytes: one line without an end, or a line again and again."""
    header = damage.line(sources.good(rng).rows[0])
    codec = rng.choice(("gzip", "zstd"))
    pack: Packer = gzip.compress if codec == "gzip" else _zstd(3)
    match rng.randrange(4):
        case 0:
            return f"a {codec} bomb without a line's end", pack(header) + _block(b"x", codec) * 128
        case 1:
            return f"a {codec} bomb of a header", _block(b'{"x":', codec) * 128
        case 2:
            return f"a {codec} bomb of a string", pack(header + b'{"broker": "') + _block(b"b", codec) * 128
        case _:
            return "a Parquet bomb", parquet_bomb(rng.choice((1 << 26, 1 << 28)))


@cache
def parquet_bomb(size: int) -> bytes:
    """One text of that many bytes in a row group of a few kilobytes."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "t.parquet"
        _write(Source("", sources.good(Random(0)).rows), path)
        table = pa.parquet.read_table(path)
        column = next(name for name in table.column_names if pa.types.is_string(table.schema.field(name).type))
        texts = pa.array(["x" * size, *[None] * (table.num_rows - 1)], pa.large_string())
        table = table.set_column(table.column_names.index(column), column, texts)
        return _as_bytes(table, compression="zstd", compression_level=19)


def alien(rng: Random) -> tuple[str, bytes]:
    """Files of another kind, and of none."""
    return rng.choice(
        (
            ("empty", b""),
            ("a line feed", b"\n"),
            ("null characters", b"\0" * 5000),
            ("an executable", b"\x7fELF\x02\x01\x01\0\0" * 9),
            ("a zip", b"PK\x03\x04" + bytes(200)),
            ("the beginning of gzip", b"\x1f\x8b"),
            ("the beginning of zstd", b"\x28\xb5\x2f\xfd"),
            ("zstd with the largest window", b"\x28\xb5\x2f\xfd\x00\xff" + bytes(60)),
            ("the beginning of Parquet", b"PAR1"),
            ("Parquet of nothing", b"PAR1" + bytes(4) + b"PAR1"),
            ("Parquet with a footer of 2 GiB", b"PAR1" + b"x" * 50 + struct.pack("<I", 0x7FFFFFFF) + b"PAR1"),
            ("UTF-16", "{}".encode("utf-16")),
            ("noise", rng.randbytes(3000)),
            ("brackets", b"[" * 200_000),
            ("an open string", b'"' + b"x" * 3_000_000),
            ("lines of nothing", b"{}\n" * 20_000),
        )
    )


# -- Parquet -----------------------------------------------------------------------------------------------------------


def _write(source: Source, path: Path) -> None:
    plain = path.with_suffix(".jsonl")
    plain.write_bytes(_lines(source))
    to_parquet(plain, path)
    plain.unlink()


@cache
def _plain_parquet(lines: bytes) -> bytes:
    with TemporaryDirectory() as folder:
        plain, path = Path(folder) / "t.jsonl", Path(folder) / "t.parquet"
        plain.write_bytes(lines)
        to_parquet(plain, path)
        return path.read_bytes()


def _parquet(rng: Random, source: Source) -> tuple[str, bytes]:
    data = _plain_parquet(_lines(source))
    if rng.random() < 0.5:
        return "bytes of Parquet are damaged", damage.flip(data, rng)
    table = pa.parquet.read_table(io.BytesIO(data))
    about = []
    for _ in range(rng.choice((1, 1, 2))):
        change = rng.choice(
            (_without, _of_another_type, _with_other_values, _again, _in_another_order, _with_other_metadata)
        )
        try:
            said, table = change(rng, table)
        except (pa.ArrowException, ValueError, TypeError, OverflowError):
            continue
        about.append(said)
    how = rng.choice(
        ({}, {"compression": "gzip"}, {"row_group_size": 1}, {"use_dictionary": False}, {"version": "1.0"})
    )
    return joined(about), _as_bytes(table, **how)


def _as_bytes(table: pa.Table, **how: object) -> bytes:
    out = io.BytesIO()
    pa.parquet.write_table(table, out, **how)
    return out.getvalue()


def _without(rng: Random, table: pa.Table) -> tuple[str, pa.Table]:
    at = rng.randrange(table.num_columns)  # of two of one name, one
    return f"no column {table.column_names[at]}", table.remove_column(at)


def _of_another_type(rng: Random, table: pa.Table) -> tuple[str, pa.Table]:
    at = rng.randrange(table.num_columns)
    name, many = table.column_names[at], table.num_rows
    column = rng.choice(
        (
            pa.array([1.5] * many),
            pa.array([b"\xff\xfe"] * many, pa.binary()),
            pa.array([[1, None]] * many),
            pa.array([{"a": 1}] * many),
            pa.array([None] * many, pa.null()),
            pa.array([1 << 63] * many, pa.uint64()),
            pa.array([True] * many),
            pa.array([0] * many, pa.timestamp("ns")),
            pa.array(["x"] * many).dictionary_encode(),
        )
    )
    return f"column {name} is of the type {column.type}", table.set_column(at, name, column)


def _with_other_values(rng: Random, table: pa.Table) -> tuple[str, pa.Table]:
    at, row = rng.randrange(table.num_columns), rng.randrange(table.num_rows)
    values = table.column(at).to_pylist()
    values[row] = damage.value(rng)
    column = pa.array(values, table.schema.field(at).type)
    return f"row {row} of column {table.column_names[at]} is {values[row]!r:.40}", table.set_column(
        at, table.schema.field(at), column
    )


def _again(rng: Random, table: pa.Table) -> tuple[str, pa.Table]:
    at = rng.randrange(table.num_columns)
    return f"column {table.column_names[at]} twice", table.append_column(table.column_names[at], table.column(at))


def _in_another_order(rng: Random, table: pa.Table) -> tuple[str, pa.Table]:
    rows = list(range(table.num_rows))
    rng.shuffle(rows)
    return "rows are shuffled", table.take(rows)


def _with_other_metadata(rng: Random, table: pa.Table) -> tuple[str, pa.Table]:
    found = dict(table.schema.metadata or {})
    key = rng.choice([*found, b"x"])
    found[key] = rng.choice((b"", b"{}", b"null", b"\xff", damage.flip(found.get(key, b"x"), rng)))
    return f"other metadata {key!r}", table.replace_schema_metadata(found)


# -- pipes -------------------------------------------------------------------------------------------------------------


def _piped(rng: Random, source: Source, about: str, data: bytes) -> Command:
    """The trace comes over a named pipe, once: whole, or as much of it as is written before the writer goes."""
    if rng.random() < 0.2:
        data, about = data[: rng.randrange(len(data))], joined((about, "the writer goes in the middle"))
    argv = ("validate", "pipe", "--level", rng.choice(("exact", "observable")), "--json", "r.json")
    return Command(
        joined(("a pipe", source.name, about)), argv, leaves=("r.json",), seconds=5, within=partial(_pipe, data)
    )


@contextlib.contextmanager
def _pipe(data: bytes) -> Iterator[None]:
    """A named pipe in the current directory, with somebody who writes to it as soon as it is read."""
    path, over = Path("pipe").absolute(), threading.Event()
    os.mkfifo(path)
    writer = threading.Thread(target=_feed, args=(path, data, over), daemon=True)
    writer.start()
    try:
        yield
    finally:
        over.set()
        writer.join(5)
        path.unlink()


def _feed(path: Path, data: bytes, over: threading.Event) -> None:
    while not over.is_set():
        try:
            pipe = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
        except OSError as error:
            if error.errno != errno.ENXIO:
                return
            time.sleep(0.001)
            continue
        left = memoryview(data)
        with contextlib.suppress(BrokenPipeError):
            while left and not over.is_set():
                try:
                    left = left[os.write(pipe, left[: 1 << 14]) :]
                except BlockingIOError:
                    time.sleep(0.001)
        os.close(pipe)
        return
