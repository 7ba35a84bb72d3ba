"""Files of traces: sources that can be read once only (`stored`), and files that appear whole or not at all (`save`).

A trace is read more than once: its header, its events, and what shows a rejection once more. So standard input, a pipe
or a named pipe is copied into a temporary file first, as it is, compressed or not. Messages go on calling it by the
name that it was given by.
"""

from __future__ import annotations

import os
import secrets
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from routeproof.model.filters.interface import quoted
from routeproof.traces.fields import TraceError

STDIN = "-"
"""Name of standard input on a command line."""

MOST = 1 << 36
"""Bytes that are copied: 64 GiB. It ends what has no end."""

FIRST = 5 << 20
"""Bytes after which the header is looked at, so that what is no trace is not copied to its end."""

PIECE = 1 << 20

_called: dict[Path, str] = {}
"""The names by which messages call the temporary files."""


def called(path: Path) -> str:
    """The name that a file was given by."""
    return _called.get(path, str(path))


def named(path: Path) -> str:
    """A file's name in a message of one line."""
    name = called(path)
    return name if name.isprintable() else quoted(name)


@contextmanager
def stored(path: Path, most: int = MOST) -> Iterator[Path]:
    """The path itself if it is a regular file, or that of a copy, which is gone afterwards.

    `most`: bytes of a copy. `TraceError` for a directory, a device or a socket, and for what is not there.
    """
    if not is_stream(path):
        yield path
        return
    with temporary("standard input" if str(path) == STDIN else str(path)) as where:
        with _opened(path) as source, where.open("wb") as copy:
            _copy(source, copy, where, most)
        yield where


@contextmanager
def temporary(name: str) -> Iterator[Path]:
    """Yields a temporary file that messages call by this name; it is gone afterwards."""
    where = _temporary(name)
    _called[where] = name
    try:
        yield where
    finally:
        del _called[where]
        where.unlink(missing_ok=True)


def _temporary(named: str) -> Path:
    try:
        file, name = tempfile.mkstemp(prefix="routeproof-", suffix=".trace")
    except OSError as error:
        raise TraceError(f"{named}: cannot be copied into a temporary file: {error.strerror or error}") from None
    os.close(file)
    return Path(name)


def is_stream(path: Path) -> bool:
    """True for what can be read once only. `TraceError` for what is no file at all."""
    if str(path) == STDIN:
        if sys.stdin is None or sys.stdin.closed:
            raise TraceError("standard input is closed; expected a trace")
        try:
            mode = os.fstat(sys.stdin.fileno()).st_mode
            _refuse_odd("standard input", mode, is_terminal=os.isatty(sys.stdin.fileno()))
        except (OSError, ValueError):  # a stream of Python's without a file
            pass
        return True
    try:
        mode = path.stat().st_mode
        terminal = stat.S_ISCHR(mode) and _is_terminal(path)
    except (OSError, ValueError):
        return False  # to open it says what is wrong
    _refuse_odd(named(path), mode, is_terminal=terminal)
    # What is regular and stands among devices is this process's own: no other can open it by that name.
    return not stat.S_ISREG(mode) or str(path).startswith(("/dev/", "/proc/"))


def _refuse_odd(name: str, mode: int, *, is_terminal: bool) -> None:
    kinds = {stat.S_IFDIR: "a directory", stat.S_IFSOCK: "a socket", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device"}
    kind = kinds.get(stat.S_IFMT(mode))
    if kind is not None and not is_terminal:
        raise TraceError(f"{name}: is {kind}; expected a trace: a file or a pipe")


def _is_terminal(path: Path) -> bool:
    try:
        where = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
    except OSError:
        return False
    try:
        return os.isatty(where)
    finally:
        os.close(where)


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    if str(path) == STDIN:
        yield sys.stdin.buffer
        return
    try:
        file = path.open("rb")
    except OSError as error:
        raise TraceError(f"{named(path)}: cannot be read: {error.strerror or error}") from None
    with file:
        yield file


def _copy(source: BinaryIO, copy: BinaryIO, where: Path, most: int) -> None:
    name, size, is_seen = named(where), 0, False
    while True:
        try:
            data = source.read(PIECE)
        except OSError as error:
            raise TraceError(f"{name}: cannot be read: {error.strerror or error}") from None
        if not data:
            break
        size += len(data)
        if size > most:
            raise TraceError(f"{name}: longer than {most >> 20} MiB; expected at most so much from a pipe")
        try:
            copy.write(data)
            copy.flush()
        except OSError as error:
            folder = where.parent
            raise TraceError(
                f"{name}: cannot be copied into {folder}: {error.strerror or error}; write it to a file first, or set"
                " TMPDIR to a directory with more room"
            ) from None
        if size > FIRST and not is_seen:
            is_seen = True
            _refuse_no_trace(where)


def _refuse_no_trace(where: Path) -> None:
    """`TraceError` if what begins so is no trace. Parquet is left: its header stands at its end."""
    from routeproof.traces.reader import is_parquet, open_trace

    if not is_parquet(where):
        with open_trace(where):
            pass


# -- saving ------------------------------------------------------------------------------------------------------------


def save(path: Path, text: str, *, replace: bool) -> bool:
    """Writes a file that appears whole or not at all; returns false where there is one that may not be replaced."""
    temporary = beside(path)
    try:
        temporary.write_text(text, encoding="utf-8")
        return _put(temporary, path, replace)
    finally:
        temporary.unlink(missing_ok=True)


def beside(path: Path) -> Path:
    """A hidden name in the same folder that no other file has.

    `TraceError` if the path is a device or a pipe, whose place a file would take.
    """
    try:
        mode = path.stat().st_mode
    except OSError:
        mode = stat.S_IFREG  # there is none yet
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise TraceError(f"{named(path)}: is no regular file; a trace would take its place")
    return path.with_name(f".{path.name[:100]}.{secrets.token_hex(4)}")


def _put(temporary: Path, path: Path, replace: bool) -> bool:
    if not replace:
        try:
            path.hardlink_to(temporary)  # unlike a rename, this fails where the name is taken
            return True
        except FileExistsError:
            return False
        except OSError:  # a file system without links
            if path.exists():
                return False
    temporary.replace(path)
    return True
