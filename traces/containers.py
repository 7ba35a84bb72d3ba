"""Containers of traces: plain, gzip or zstd. `blocks` reads a file of any of them, `sink` writes one.

The first bytes of a file show its container. `blocks` gives what can be read of a file, and then, where the rest cannot
be, raises `Broken` with the reason. It is fed a few hundred bytes at a time, which bounds what any input can make of
itself in one step, and hands that on in blocks of `BLOCK` bytes; a file that becomes far longer than any trace does is
refused where that is found (`Growth`). If a step fails, it is taken again byte by byte, so that nothing before the
fault is lost.

The end of a file's name chooses the container to write. Files are written in bursts: after each, everything that was
given is in the file and can be read back, also where the process dies right then; at most the last line, or the end
mark of the compression, is missing.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, Protocol

import zstandard
from attrs import frozen

from routeproof.traces.fields import TraceError

BLOCK = 1 << 18
"""Bytes that are handed on at once, about."""

PIECE = 512
"""Compressed bytes in one step. At worst they become 16 MiB (zstd) or half of one (gzip)."""

GROWN = 1 << 25
"""Bytes that any compressed file may become, however short it is."""

TIMES = 1100
"""How many times as long as itself a longer file may become. Traces become 10 to 100 times as long; gzip cannot do more
than 1,032 times."""

WINDOW = 1 << 27
"""Largest window of a zstd file, in bytes: the zstd program itself allows 128 MiB."""


class Broken(TraceError):
    """The rest of a file cannot be read."""


class Decompressor(Protocol):
    """Decompresses one gzip member or one zstd frame."""

    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, /) -> bytes: ...


@frozen
class Compression:
    """A way to compress: how its files begin, and how they are read."""

    name: str
    magic: tuple[bytes, ...]
    machine: Callable[[], Decompressor]
    padding: bytes = b""
    """Bytes that may stand between members, and mean nothing."""


def _zstd() -> Decompressor:
    return zstandard.ZstdDecompressor(max_window_size=WINDOW).decompressobj()


CODECS = (
    Compression("gzip", (b"\x1f\x8b",), lambda: zlib.decompressobj(31), padding=b"\0"),
    Compression("zstd", (b"\x28\xb5\x2f\xfd", *(bytes((n,)) + b"\x2a\x4d\x18" for n in range(0x50, 0x60))), _zstd),
)

FAULTS = (zlib.error, zstandard.ZstdError, MemoryError)


def codec_of(beginning: bytes) -> Compression | None:
    return next((codec for codec in CODECS if beginning.startswith(codec.magic)), None)


def blocks(file: BinaryIO, beginning: bytes) -> Iterator[bytes]:
    """`beginning`: the file's first bytes, which are still to be read."""
    codec = codec_of(beginning)
    return _plain(file) if codec is None else _gathered(_decompressed(file, codec))


class Growth:
    """The bytes read of a compressed file and those that they became; `Broken` if these are out of all proportion."""

    def __init__(self) -> None:
        self.read = self.became = 0

    def add(self, became: int) -> None:
        self.became += became
        if self.became > max(GROWN, TIMES * self.read):
            raise Broken(
                f"the first {self.read} bytes become more than {GROWN >> 20} MiB; expected a trace, which never"
                f" becomes more than {TIMES:,} times as long; if it is one, decompress it first"
            )


def limited(blocks: Iterator[bytes], most: int) -> Iterator[bytes]:
    """Passes the blocks on; refuses them where they are too many to be held."""
    size = 0
    for block in blocks:
        size += len(block)
        if size > most:
            raise TraceError(f"longer than {most >> 20} MiB; expected at most {most >> 20} MiB to read it whole")
        yield block


def _plain(file: BinaryIO) -> Iterator[bytes]:
    while block := _read(file, BLOCK):
        yield block


def _gathered(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Small pieces as larger ones, and large pieces in blocks."""
    waiting: list[bytes] = []
    size = 0
    broken = None
    try:
        for piece in pieces:
            waiting.append(piece)
            size += len(piece)
            if size >= BLOCK:
                whole = b"".join(waiting)
                yield from (whole[at : at + BLOCK] for at in range(0, len(whole), BLOCK))
                waiting, size = [], 0
    except Broken as error:
        broken = error
    if waiting:
        yield b"".join(waiting)
    if broken is not None:
        raise broken


def _decompressed(file: BinaryIO, codec: Compression) -> Iterator[bytes]:
    machine: Decompressor | None = None
    end = start = given = 0  # of what was read; of the present member or frame; and what that has given
    growth = Growth()
    while data := _read(file, PIECE):
        end += len(data)
        growth.read = end
        while data:
            if machine is None:
                data = data.lstrip(codec.padding)
                if not data:
                    break
                machine, start, given = codec.machine(), end - len(data), 0
            try:
                found = machine.decompress(data)
            except FAULTS as error:
                yield from _up_to_the_fault(file, codec, start, end - len(data), data, given)
                raise Broken(f"the {codec.name} data cannot be read on from about byte {end}: {error}") from None
            if found:
                given += len(found)
                growth.add(len(found))
                yield found
            data, machine = (machine.unused_data, None) if machine.eof else (b"", machine)
    if machine is not None:
        raise Broken(f"the {codec.name} data ends in the middle: the end was cut off")


def _up_to_the_fault(
    file: BinaryIO, codec: Compression, start: int, fault: int, data: bytes, given: int
) -> Iterator[bytes]:
    """Bytes that the failed step would have given before it failed: the member once more, the last step in bytes."""
    if not file.seekable():
        return
    file.seek(start)
    machine = codec.machine()
    try:
        for at in range(start, fault, PIECE):
            given -= len(machine.decompress(_read(file, min(PIECE, fault - at))))
        for byte in data:
            found = machine.decompress(bytes((byte,)))
            yield found[max(0, given) :]
            given -= len(found)
    except FAULTS:
        return


def _read(file: BinaryIO, size: int) -> bytes:
    try:
        return file.read(size)
    except OSError as error:
        raise Broken(f"the file cannot be read on: {error.strerror or error}") from None


# -- writing -----------------------------------------------------------------------------------------------------------

GZIP_LEVEL = 1
ZSTD_LEVEL = 1
"""Traces are repetitive: higher levels take longer and save little."""


class Sink(Protocol):
    """Where bytes go. `write` is for a burst, not for a line."""

    def write(self, data: bytes) -> None: ...

    def close(self) -> None: ...


def sink(file: BinaryIO, name: str) -> Sink:
    """Returns the sink that the end of the name asks for; it never closes the file."""
    match Path(name).suffix:
        case ".gz":
            return _Gzip(file)
        case ".zst":
            return _Zstd(file)
    return _Plain(file)


class _Plain:
    def __init__(self, file: BinaryIO) -> None:
        self.file = file

    def write(self, data: bytes) -> None:
        self.file.write(data)
        self.file.flush()

    def close(self) -> None:
        self.file.flush()


class _Gzip(_Plain):
    def __init__(self, file: BinaryIO) -> None:
        super().__init__(file)
        self.machine = zlib.compressobj(GZIP_LEVEL, wbits=31)

    def write(self, data: bytes) -> None:
        super().write(self.machine.compress(data) + self.machine.flush(zlib.Z_SYNC_FLUSH))

    def close(self) -> None:
        super().write(self.machine.flush())


class _Zstd(_Plain):
    def __init__(self, file: BinaryIO) -> None:
        super().__init__(file)
        # The checksum is what tells a reader that bytes have changed and are still well-formed.
        self.machine = zstandard.ZstdCompressor(ZSTD_LEVEL, write_checksum=True).compressobj()

    def write(self, data: bytes) -> None:
        super().write(self.machine.compress(data) + self.machine.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK))

    def close(self) -> None:
        super().write(self.machine.flush(zstandard.COMPRESSOBJ_FLUSH_FINISH))
