"""Files of some kilobytes that become gigabytes: what is read of them stays small, and is told in one line.

Each is read in a process of its own, whose peak of memory is its own.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from routeproof.traces.parquet_file import BATCH_BYTES, PAGES_BYTES, ParquetFile, pages
from tests.traces.samples import HEADER, to_bytes

ROOT = Path(__file__).resolve().parents[2]
MEMORY = 400 << 20
"""Bytes that reading any of them may take; Python, pyarrow and what is imported take some 90 MiB of these."""

READING = """
import sys
from pathlib import Path
from routeproof.checker.cli import main
code = main(sys.argv[1:])
peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
print(code, peak.split()[1], sep="\\t")
"""


def _peak(*argv: object) -> tuple[int, int, str]:
    """The exit code of a command, its peak of memory, and what it printed."""
    ran = subprocess.run(
        [sys.executable, "-c", READING, *map(str, argv)], capture_output=True, text=True, timeout=120, check=True
    )
    *said, last = ran.stdout.splitlines()
    code, peak = last.split("\t")
    assert "Traceback" not in ran.stderr
    return int(code), int(peak) << 10, "\n".join(said) + ran.stderr


def _zstd(path: Path, unit: bytes, mebibytes: int) -> None:
    machine = zstandard.ZstdCompressor(level=19).compressobj()
    chunk = unit * ((1 << 20) // len(unit))
    pieces = [machine.compress(to_bytes(HEADER)), *(machine.compress(chunk) for _ in range(mebibytes))]
    path.write_bytes(b"".join(pieces) + machine.flush())


def _parquet(path: Path, columns: dict[str, pa.Array], **options: object) -> None:
    header = {"routeproof": json.dumps(HEADER)}
    table = pa.table(columns).replace_schema_metadata(header)
    with pq.ParquetWriter(path, table.schema, compression="zstd", **options) as writer:
        writer.write_table(table)
        if not options.get("store_schema", True):
            writer.add_key_value_metadata(header)


def _one_text(path: Path) -> None:
    rows = {"broker": pa.array(["b1"]), "seq": pa.array([1]), "event": pa.array(["note"])}
    _parquet(path, {**rows, "text": pa.array(["x" * (PAGES_BYTES + (8 << 20))])}, use_dictionary=False)


def _one_text_for_all_rows(path: Path) -> None:
    """Plain strings in the schema: a reader that trusts it makes one of each row."""
    rows = 5000
    text = pa.array([json.dumps({"x": "y" * (1 << 20)})])
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), text)
    columns = {"broker": pa.array(["b1"] * rows), "seq": pa.array(range(rows)), "event": pa.array(["note"] * rows)}
    _parquet(path, {**columns, "tables": texts}, dictionary_pagesize_limit=16 << 20, store_schema=False)


def _one_text_among_many(path: Path) -> None:
    """The dictionary has more words than a batch has rows, and nearly all rows have the longest."""
    words = pa.array(["x" * (1 << 20), *(f"w{number}" for number in range(17_000))])
    rows = [0] * 2_000 + list(range(17_001))
    texts = pa.DictionaryArray.from_arrays(pa.array(rows, pa.int32()), words)
    many = len(rows)
    columns = {"broker": pa.array(["b1"] * many), "seq": pa.array(range(many)), "event": pa.array(["note"] * many)}
    _parquet(path, {**columns, "text": texts}, dictionary_pagesize_limit=16 << 20)


def _values_that_share_a_beginning(path: Path) -> None:
    """Each value is all of the one before and a little more: some bytes of the page."""
    rows = 1500
    texts = pa.array(["x" * (1 << 18) + str(number) for number in range(rows)])
    columns = {"broker": pa.array(["b1"] * rows), "seq": pa.array(range(rows)), "event": pa.array(["note"] * rows)}
    encoding = {"text": "DELTA_BYTE_ARRAY"}
    _parquet(path, {**columns, "text": texts}, use_dictionary=False, column_encoding=encoding)


BOMBS: dict[str, Callable[[Path], None]] = {
    "short lines": lambda path: _zstd(path, b"{}\n", 128),
    "empty lines": lambda path: _zstd(path, b"\n", 256),
    "a line": lambda path: _zstd(path, b"x", 500),
    "events": lambda path: _zstd(path, b'{"broker":"b1","seq":1,"event":"note"}\n', 64),
    "a text in Parquet": _one_text,
    "a text for all rows": _one_text_for_all_rows,
    "a text among many": _one_text_among_many,
    "values that share a beginning": _values_that_share_a_beginning,
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Makes a bomb, once: in a process of its own, since making one may take a gigabyte."""
    folder = tmp_path_factory.mktemp("bombs")

    def make(bomb: str) -> Path:
        path = folder / bomb.replace(" ", "-")
        if not path.exists():
            code = "import sys; from tests.traces.test_bombs import BOMBS, Path; BOMBS[sys.argv[1]](Path(sys.argv[2]))"
            subprocess.run([sys.executable, "-c", code, bomb, path], cwd=ROOT, check=True, timeout=120)
        return path

    return make


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak of memory is read from /proc")
@pytest.mark.parametrize("bomb", BOMBS)
def test_what_becomes_gigabytes_takes_little_memory(bomb: str, made: Callable[[str], Path]) -> None:
    path = made(bomb)
    assert path.stat().st_size < 1 << 20
    code, peak, said = _peak("show", path)
    assert peak < MEMORY, f"{peak >> 20} MiB"
    assert code in (0, 2)
    assert "could not be read" in said or "read it whole" in said


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak of memory is read from /proc")
@pytest.mark.parametrize("bomb", ["empty lines", "a text in Parquet", "a text among many"])
def test_judging_it_takes_little_memory(bomb: str, made: Callable[[str], Path]) -> None:
    code, peak, _ = _peak("validate", made(bomb))
    assert peak < MEMORY, f"{peak >> 20} MiB"
    assert code == 3


def test_the_headers_of_pages_are_what_pyarrow_reads(tmp_path: Path) -> None:
    """Both kinds of pages, with dictionaries and statistics: as many values as the metadata say."""
    path = tmp_path / "x.parquet"
    columns = {"broker": pa.array([f"b{n % 7}" for n in range(9000)]), "text": pa.array([f"t{n}" for n in range(9000)])}
    for version in ("1.0", "2.0"):
        _parquet(path, columns, data_page_version=version, data_page_size=4000)
        with path.open("rb") as file:
            metadata = pq.ParquetFile(path).metadata
            for number in range(2):
                column = metadata.row_group(0).column(number)
                begin = column.dictionary_page_offset or column.data_page_offset
                found = list(pages(file, begin, begin + column.total_compressed_size))
                assert sum(page.values for page in found if page.is_data) == 9000
                assert len(found) > 2
                # The size of the headers themselves is in the metadata's sum as well.
                assert 0 < sum(page.size for page in found) <= column.total_uncompressed_size


def test_rows_that_are_cut_are_all_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.parquet"
    texts = ["x" * (n % 50 * 1000) for n in range(500)]
    _parquet(path, {"broker": pa.array(["b"] * 500), "text": pa.array(texts)})
    monkeypatch.setattr("routeproof.traces.parquet_file.BATCH_BYTES", BATCH_BYTES >> 8)
    with path.open("rb") as file:
        parts = list(ParquetFile(file).parts(0, ["broker", "text"]))
    assert len(parts) > 50
    assert [part.first for part in parts] == [0, *(part.first + part.batch.num_rows for part in parts[:-1])]
    assert [text for part in parts for text in part.batch["text"].to_pylist()] == texts
