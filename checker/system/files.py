"""Output files of commands: refused before any work starts, written whole or not at all.

A full disk or a directory that vanishes must not lose a verdict. A command that cannot write a result notes it
(`note_unwritten`) and goes on; `tell_unwritten` reports each in one line after the report and returns the exit code.
"""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from routeproof.checker.system.errors import UsageError
from routeproof.checker.system.terminal import complain, say

STDOUT = "-"

PART = ".part"
"""The end of the name of a file that is not yet whole. Before it stands the number of the process that writes it."""

UNWRITTEN_CODE = 2
"""The exit code of a command that succeeded or stayed undetermined, but could not write a result."""

_unwritten: list[str] = []


def refuse_unwritable(target: str | Path | None) -> None:
    """Refuses a file that cannot be written, before any work starts: two minutes of searching must not end so."""
    if target is None or str(target) == STDOUT:
        return
    path = Path(target)
    if not _can_be_named(path):
        raise UsageError(f"{path}: no file can have this name")
    if path.is_dir():
        raise UsageError(f"{path}: is a directory; expected a file to write")
    if not path.parent.is_dir():
        raise UsageError(f"{path}: there is no directory {path.parent}; create it first")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise UsageError(f"{path}: may not be written")
    if path.is_file() or not path.exists():  # it is replaced by one that is written next to it
        refuse_no_directory(path.parent, f"{path.name}")


def refuse_one_for_two(targets: Mapping[str, str | Path | None]) -> None:
    """Refuses two options that name one file: what is written second would replace what was written first."""
    taken: dict[Path, str] = {}
    for option, target in targets.items():
        if target is None or str(target) == STDOUT:
            continue
        path = Path(os.path.realpath(target))
        if path in taken:
            raise UsageError(f"{target}: {taken[path]} and {option} name the same file; give each its own")
        if not path.exists() or path.is_file():  # a device takes both
            taken[path] = option


def refuse_no_directory(target: Path | None, what: str = "traces") -> None:
    """A directory that is still to be made is fine; something else in its place, or one that is read-only, is not."""
    if target is None:
        return
    if not _can_be_named(target):
        raise UsageError(f"{target}: no directory can have this name")
    there = next((p for p in (target, *target.parents) if p.exists()), Path())
    if not there.is_dir():
        raise UsageError(f"{there}: is no directory; expected one for {what}")
    if not os.access(there, os.W_OK | os.X_OK):
        raise UsageError(f"{there}: may not be written; expected a directory for {what}")
    if there == target:
        try:
            tempfile.TemporaryFile(dir=there).close()
        except OSError as error:
            raise UsageError(
                f"{there}: may not be written ({error.strerror}); expected a directory for {what}"
            ) from None


def note_unwritten(target: str | Path, error: OSError | str) -> None:
    why = error if isinstance(error, str) else error.strerror or str(error)
    line = f"{target}: cannot be written: {why}"
    if line not in _unwritten:
        _unwritten.append(line)


def code_with_unwritten(verdict: int) -> int:
    """The exit code, given the verdict's. A failure that was found (1), and a signal (above 128), keep their own."""
    return UNWRITTEN_CODE if _unwritten and verdict in (0, 3) else verdict


def tell_unwritten(verdict: int) -> int:
    """Tells what was noted, and returns the exit code."""
    code = code_with_unwritten(verdict)
    for line in _unwritten:
        complain(line, code)
    _unwritten.clear()
    return code


def write_report(target: str | Path, text: str) -> None:
    """Writes a result whose loss must not lose the verdict: a failure to write is noted, and reported later."""
    try:
        write_text(target, text)
    except OSError as error:
        note_unwritten(target, error)


def write_result(target: str | Path, text: str) -> None:
    """Writes the one result of a command. `UsageError` if that fails."""
    from routeproof.traces.files import named

    try:
        write_text(target, text)
    except OSError as error:
        raise UsageError(f"{named(Path(target))}: cannot be written: {error.strerror or error}") from None


def write_text(target: str | Path, text: str) -> None:
    """Writes to a file, which appears whole or not at all, or to standard output for `-`."""
    if str(target) == STDOUT:
        say(text.removesuffix("\n"))
        return
    path = Path(target)
    if path.exists() and not path.is_file():  # a device or a pipe: there is nothing to replace
        path.write_text(text, encoding="utf-8", errors="surrogateescape")
        return
    with whole(path) as part, part.open("w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())  # some file systems only then say that they are full


def _can_be_named(path: Path) -> bool:
    """True if the name has bytes: half a character has none."""
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        return False
    return True


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """A name to write to instead of `path`, which gets what is there when the block ends well."""
    if not _can_be_named(path):
        raise OSError(errno.EILSEQ, "no file can have this name", str(path))
    part = path.with_name(f".{path.name[:100]}.{os.getpid()}{PART}")
    try:
        yield part
        part.replace(path)
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def clear_away_parts(directory: Path) -> None:
    """Removes what a process left in a directory that was killed while it wrote there."""
    for left in directory.glob(f".*{PART}"):
        owner = left.name.removesuffix(PART).rpartition(".")[2]
        if owner.isascii() and owner.isdigit() and not _runs(int(owner)):
            with suppress(OSError):
                shutil.rmtree(left) if left.is_dir() and not left.is_symlink() else left.unlink()


def _runs(process: int) -> bool:
    """True if there is a process of this number, ours or not."""
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True
