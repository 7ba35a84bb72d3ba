"""The bytes of a trace, whatever they are kept in: plain, gzip or zstd, told by how the file begins.

`blocks` gives what can be read of a file, and then, where the rest cannot be, raises `Broken` with the reason. It is
fed a few hundred bytes at a time, which bounds what any input can make of itself in one step; and where a step fails,
it is taken again byte by byte, so that nothing before the fault is lost.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from typing import BinaryIO, Protocol

import zstandard
from attrs import frozen

from routeproof.traces.fields import TraceError

BLOCK = 1 << 18
"""Bytes that are handed on at once, about."""

PIECE = 512
"""Compressed bytes in one step. At worst they become 16 MiB (zstd) or half of one (gzip)."""

WINDOW = 1 << 27
"""What a zstd file may ask us to remember: what the zstd program itself allows, 128 MiB."""


class Broken(TraceError):
    """What is left of a file cannot be read."""


class Machine(Protocol):
    """Decompresses one gzip member or one zstd frame."""

    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, /) -> bytes: ...


@frozen
class Codec:
    """A way to compress: how its files begin, and how they are read."""

    name: str
    magic: tuple[bytes, ...]
    machine: Callable[[], Machine]
    padding: bytes = b""
    """What may stand between members, and means nothing."""


def _zstd() -> Machine:
    return zstandard.ZstdDecompressor(max_window_size=WINDOW).decompressobj()


CODECS = (
    Codec("gzip", (b"\x1f\x8b",), lambda: zlib.decompressobj(31), padding=b"\0"),
    Codec("zstd", (b"\x28\xb5\x2f\xfd", *(bytes((n,)) + b"\x2a\x4d\x18" for n in range(0x50, 0x60))), _zstd),
)

FAULTS = (zlib.error, zstandard.ZstdError, MemoryError)


def codec_of(beginning: bytes) -> Codec | None:
    return next((codec for codec in CODECS if beginning.startswith(codec.magic)), None)


def blocks(file: BinaryIO, beginning: bytes) -> Iterator[bytes]:
    """`beginning`: the file's first bytes, which are still to be read."""
    codec = codec_of(beginning)
    return _plain(file) if codec is None else _gathered(_decompressed(file, codec))


def limited(blocks: Iterator[bytes], most: int) -> Iterator[bytes]:
    """The same; refused where they are too many to be held."""
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
    """Small pieces as larger ones."""
    waiting: list[bytes] = []
    size = 0
    broken = None
    try:
        for piece in pieces:
            waiting.append(piece)
            size += len(piece)
            if size >= BLOCK:
                yield b"".join(waiting)
                waiting, size = [], 0
    except Broken as error:
        broken = error
    if waiting:
        yield b"".join(waiting)
    if broken is not None:
        raise broken


def _decompressed(file: BinaryIO, codec: Codec) -> Iterator[bytes]:
    machine: Machine | None = None
    end = start = given = 0  # of what was read; of the present member or frame; and what that has given
    while data := _read(file, PIECE):
        end += len(data)
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
                yield found
            data, machine = (machine.unused_data, None) if machine.eof else (b"", machine)
    if machine is not None:
        raise Broken(f"the {codec.name} data ends in the middle: the end was cut off")


def _up_to_the_fault(file: BinaryIO, codec: Codec, start: int, fault: int, data: bytes, given: int) -> Iterator[bytes]:
    """What the step that failed would have given before it failed: the member once more, the last step in bytes."""
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
