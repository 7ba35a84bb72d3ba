"""Files that are written in bursts: plain, gzip or zstd, by the end of their names.

After each burst, everything that was given is in the file and can be read back, also where the process dies right
then: at most the last line, or the end mark of the compression, is missing.
"""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import BinaryIO, Protocol

import zstandard

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
