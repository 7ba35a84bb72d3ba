"""gzip and zstd: what can be read is read, the rest is one bad line with the reason, and nothing gets out of hand."""

from __future__ import annotations

import gzip
import io
import random
import tracemalloc
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from routeproof.traces import BadLine, Event, TraceError, read_trace
from routeproof.traces.containers import BLOCK, GROWN, PIECE, Broken, blocks
from tests.traces.samples import HEADER, ROW, lines_of, to_bytes

Compress = Callable[[bytes], bytes]


def zstd(data: bytes) -> bytes:
    """In blocks of some lines, as who writes while it happens makes them."""
    machine = zstandard.ZstdCompressor(write_checksum=True).compressobj()
    parts = (data[at : at + 10_000] for at in range(0, len(data), 10_000))
    blocks = (machine.compress(part) + machine.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK) for part in parts)
    return b"".join(blocks) + machine.flush()


CODECS: dict[str, Compress] = {"gzip": gzip.compress, "zstd": zstd}
DATA = to_bytes(HEADER, *({**ROW, "seq": seq, "peer": f"b{seq * seq % 977}"} for seq in range(2000)))


@pytest.fixture(params=CODECS)
def compress(request: pytest.FixtureRequest) -> Compress:
    return CODECS[request.param]


def steps(data: bytes) -> tuple[list[bytes], str]:
    """What can be read of it, in blocks, and why the rest cannot be."""
    found: list[bytes] = []
    try:
        found.extend(blocks(io.BytesIO(data), data[:4]))  # keeps what came before an exception
    except Broken as error:
        return found, str(error)
    return found, ""


def read(data: bytes) -> tuple[bytes, str]:
    found, why = steps(data)
    return b"".join(found), why


def test_the_name_of_the_file_says_nothing(compress: Compress, tmp_path: Path) -> None:
    path = tmp_path / "trace.txt"
    path.write_bytes(compress(DATA))
    assert len(read_trace(path).events) == 2000


def test_several_members_are_one_file(compress: Compress) -> None:
    parts = [compress(DATA[:10]), compress(b""), compress(DATA[10:])]
    assert read(b"".join(parts)) == (DATA, "")


def test_padding_behind_gzip() -> None:
    assert read(gzip.compress(DATA) + b"\0" * 1000 + gzip.compress(DATA) + b"\0") == (DATA * 2, "")


def test_a_frame_of_zstd_that_is_to_be_skipped() -> None:
    note = b"\x50\x2a\x4d\x18\x04\x00\x00\x00note"
    assert read(note + zstd(DATA) + note) == (DATA, "")


def test_other_bytes_behind_the_end(compress: Compress) -> None:
    data, why = read(compress(DATA) + b"these are no member")
    assert data == DATA
    assert "cannot be read on" in why


def test_where_it_was_cut(compress: Compress, tmp_path: Path) -> None:
    """Whatever the length: the lines before it, at most one that is cut, and the reason."""
    whole = compress(DATA)
    path = tmp_path / "trace"
    for length in range(len(whole) // 2, len(whole), 97):
        path.write_bytes(whole[:length])
        *lines, last = lines_of(path)
        assert isinstance(last, BadLine)
        assert last.reason.endswith("the end was cut off")
        assert all(isinstance(line, Event) for line in lines[:-1])  # the last one may be cut
        seqs = [line.seq for line in lines if isinstance(line, Event)]
        assert seqs == list(range(len(seqs)))


def test_nothing_before_a_fault_is_lost() -> None:
    """Stored blocks hold what they hold literally, so it is known how far a reader can come."""
    machine = zlib.compressobj(0, wbits=31)
    parts = [machine.compress(b"%07d\n" % n * 10) + machine.flush(zlib.Z_FULL_FLUSH) for n in range(500)]
    whole = bytearray(b"".join(parts))
    for block in (3, 77, 400):
        broken = whole[:]
        at = sum(map(len, parts[:block]))
        broken[at : at + 5] = b"\xff" * 5
        data, why = read(bytes(broken))
        assert len(data) == block * 80
        assert "cannot be read on" in why


def test_nothing_before_a_fault_is_lost_in_zstd() -> None:
    machine = zstandard.ZstdCompressor().compressobj()
    rng = random.Random(1)
    texts = [rng.randbytes(700) for _ in range(200)]
    parts = [machine.compress(text) + machine.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK) for text in texts]
    for block in (3, 77, 150):
        at = sum(map(len, parts[:block]))
        broken = bytearray(b"".join(parts))
        broken[at : at + 3] = b"\xff" * 3
        data, why = read(bytes(broken))
        assert data == b"".join(texts[:block])
        assert "cannot be read on" in why


@pytest.mark.parametrize("seed", range(60))
def test_any_damage(compress: Compress, tmp_path: Path, seed: int) -> None:
    """Never an exception; and damage that leaves all lines readable is still found, by the checksum."""
    rng = random.Random(seed)
    data = bytearray(compress(DATA))
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(12, len(data))
        data[at : at + rng.randint(0, 3)] = rng.randbytes(rng.randint(1, 4))
    path = tmp_path / "trace"
    path.write_bytes(bytes(data))
    try:
        found = read_trace(path).bad
    except TraceError as error:
        found = (BadLine(1, str(error)),)
    assert found
    assert all("\n" not in bad.reason for bad in found)


def test_a_bomb(compress: Compress, tmp_path: Path) -> None:
    """A line of two hundred megabytes in some kilobytes: refused, without ever being there."""
    path = tmp_path / "trace"
    path.write_bytes(compress(to_bytes(HEADER) + b"[" * (200 << 20)))
    assert path.stat().st_size < 1 << 18
    tracemalloc.start()
    try:
        bad, *more = lines_of(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert isinstance(bad, BadLine)
    if compress is zstd:  # it is left where it is longer than a trace can be
        (last,) = more
        assert isinstance(last, BadLine)
        assert "bytes become more than" in last.reason
    else:
        assert more == []
        assert bad.reason == "longer than 32 MiB"
    assert peak < 150 << 20


def test_a_file_may_become_a_hundred_times_as_long() -> None:
    """A file of real compression is read to its end, however long it becomes."""
    rng = random.Random(1)
    text = b"".join(rng.randbytes(100) + b"x" * 19_900 for _ in range(1800))
    assert len(text) > GROWN
    data, why = read(zstd(text))
    assert (data == text, why) == (True, "")


def test_one_step_is_bounded() -> None:
    """The worst that zstd can do: blocks of 128 KiB in four bytes each."""
    runs = b"".join((128 << 10 << 3 | 1 << 1).to_bytes(3, "little") + b"x" for _ in range(2000))
    bomb = b"\x28\xb5\x2f\xfd\x00\x58" + runs
    found, why = steps(bomb)
    assert "bytes become more than 32 MiB" in why
    assert sum(map(len, found)) <= GROWN + PIECE // 4 * (128 << 10)
    assert max(map(len, found)) <= BLOCK
