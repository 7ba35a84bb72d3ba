"""Footers of Parquet files that nest deeply, promise what is not there or are very long: one line of refusal."""

from __future__ import annotations

from pathlib import Path

import pytest

from routeproof.checker.cli import main
from routeproof.traces.parquet_file import FOOTER_BYTES

STRUCT, I32, BINARY, LIST, I64 = 12, 5, 8, 9, 6
"""Types of Thrift's compact protocol."""


def _number(number: int) -> bytes:
    """A number without a sign, seven bits a byte."""
    found = b""
    while number > 127:
        found, number = found + bytes([number & 127 | 128]), number >> 7
    return found + bytes([number])


def _group(children: int) -> bytes:
    """An element of a schema that has children: its name and their number."""
    return bytes([4 << 4 | BINARY]) + b"\x01a" + bytes([1 << 4 | I32]) + _number(children << 1) + b"\x00"


LEAF = bytes([1 << 4 | I32, 4, 2 << 4 | I32, 2, 1 << 4 | BINARY]) + b"\x01x" + b"\x00"


def _file(schema: list[bytes], rows: int = 0) -> bytes:
    elements = bytes([0xF0 | STRUCT]) + _number(len(schema)) + b"".join(schema)
    head = bytes([1 << 4 | I32, 2, 1 << 4 | LIST])
    footer = head + elements + bytes([1 << 4 | I64]) + _number(rows << 1) + bytes([1 << 4 | LIST, STRUCT, 0])
    return b"PAR1" + footer + len(footer).to_bytes(4, "little") + b"PAR1"


FOOTERS = {
    "a schema of 200 levels": _file([_group(1)] * 200 + [LEAF]),
    "a schema of 100,000 levels": _file([_group(1)] * 100_000 + [LEAF]),
    "more children than there are": _file([_group(2**31 - 1), LEAF]),
    "a million columns": _file([_group(1_000_000)] + [LEAF] * 1_000_000),
    "rows without row groups": _file([_group(1), LEAF], rows=2**62),
    "metadata of gigabytes": b"PAR1" + bytes(64) + (2**32 - 1).to_bytes(4, "little") + b"PAR1",
    "metadata that are too long": b"PAR1"
    + bytes(FOOTER_BYTES + 9)
    + (FOOTER_BYTES + 1).to_bytes(4, "little")
    + b"PAR1",
    "no metadata": b"PAR1" + bytes(4) + b"PAR1",
    "nothing": b"PAR1PAR1",
}


@pytest.mark.parametrize("what", FOOTERS)
@pytest.mark.parametrize("command", ["validate", "show"])
def test_a_hostile_footer_is_refused(
    what: str, command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.parquet"
    path.write_bytes(FOOTERS[what])
    assert main([command, str(path)]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    assert printed.err.startswith(f"routeproof: {path}: ")
    assert len(printed.err) < 400


def test_a_footer_of_the_same_making_is_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is refused above is not refused for how it is written: here only the header of the trace is missing."""
    path = tmp_path / "x.parquet"
    path.write_bytes(_file([_group(1), LEAF]))
    assert main(["validate", str(path)]) == 2
    assert "cannot be read" not in capsys.readouterr().err
