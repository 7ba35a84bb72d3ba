"""A hostile command line, played in this process: thousands a minute.

Whatever the case, these are complaints: a traceback, an exit code that is not documented, a refusal of more or less
than one line, a hang, memory without bound, files that are left half written or were not asked for, inputs that
changed, processes, threads or temporary files that are left, and output that does not parse or that a terminal acts on.
"""

from __future__ import annotations

import contextlib
import gc
import io
import itertools
import multiprocessing
import os
import signal
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from fnmatch import fnmatch
from pathlib import Path
from types import FrameType, MappingProxyType

from attrs import Factory, frozen

from routeproof.checker.cli import main
from tests.attack.case import Played
from tests.attack.printed import complaints_of, json_complaints, text_complaints

SECONDS = 60.0
"""Wall-clock time that a case may take before it counts as a hang."""

MEMORY = 700 << 20
"""Bytes that a case may need more than the process had before."""

CODES = frozenset({0, 1, 2, 3})

ENDING = 0.3
"""Seconds in which a thread that has nothing more to do may end."""

DEVICES = {"full": "/dev/full", "null": "/dev/null", "zero": "/dev/zero", "random": "/dev/urandom"}
"""Links to devices that a case has in its directory. A case never names a device itself: a user who may write in /dev
loses the device where a command puts a file in its place."""

WRITTEN = ("--json", "--junit", "-o", "--output")
"""Options that name a file to write."""

HALVES = ("*.part", "*.partial", "*.tmp", "temporary-*")
"""Names of files that are still being written."""

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE)


@frozen
class Ran:
    """What a command did."""

    here: Path
    argv: tuple[str, ...]
    code: int
    out: bytes
    err: bytes

    def written(self, name: str) -> bytes | None:
        """The file that it wrote, if it is there."""
        try:
            path = self.here / name
            return path.read_bytes() if path.is_file() else None
        except (OSError, ValueError):  # no name that a file may have
            return None


def _nothing(_: Ran) -> Iterable[str]:
    return ()


@frozen
class Command:
    """A command line. `files` are there before, `leaves` are patterns of what the command may leave besides, `judge`
    complains of what is particular to the case, and `within` wraps the run, for a full disk, say."""

    about: str
    argv: tuple[str, ...]
    files: Mapping[str, bytes] = Factory(dict)
    leaves: tuple[str, ...] = ()
    codes: frozenset[int] = CODES
    judge: Callable[[Ran], Iterable[str]] = _nothing
    encoding: str = "utf-8"
    seconds: float = SECONDS
    within: Callable[[], contextlib.AbstractContextManager[None]] = contextlib.nullcontext

    def play(self, here: Path) -> Played:
        for name, data in self.files.items():
            path = here / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        for name, device in DEVICES.items():
            (here / name).symlink_to(device)
        before, threads = memory("VmRSS"), set(threading.enumerate())
        began = time.monotonic()
        with _alone(here), self.within():
            ran, raised = run_here(self.argv, here, self.encoding, self.seconds)
        took, more = time.monotonic() - began, memory("VmHWM") - before
        complaints = [raised] if raised else []
        if took > self.seconds:
            complaints.append(f"took {took:.1f} s; expected at most {self.seconds:g} s")
        if more > MEMORY:
            complaints.append(f"needed {more >> 20} MiB; expected at most {MEMORY >> 20} MiB")
        complaints += self._of_code(ran)
        complaints += printed_complaints(ran, self.encoding, self.files)
        complaints += self._of_files(here)
        complaints += _left_running(threads)
        if not raised:
            complaints += self.judge(ran)
        return Played(f"exit {ran.code}", complaints)

    def _of_code(self, ran: Ran) -> Iterator[str]:
        if ran.code not in self.codes:
            yield f"exit code {ran.code}; expected one of {sorted(self.codes)}; {ran.err[-300:]!r}"
        if b"Traceback" in ran.err or b"defect of routeproof" in ran.err:
            yield f"a traceback: {ran.err[-600:].decode('utf-8', 'replace')}"
        lines = [each for each in ran.err.splitlines() if not each.startswith(b"::")]
        if ran.argv[0] == "shrink" and "-" in ran.argv and ran.code == 0:
            lines = []  # the trace goes to standard output, and the summary here
        several = not all(b": cannot be written: " in each for each in lines)  # a line for each file is well
        if (len(lines) > 1 and several) or not all(each.startswith(b"routeproof: ") for each in lines):
            yield f"{len(lines)} lines on standard error: {ran.err[:300]!r}"
        if ran.code == 2 and not lines:
            yield "refused without a line"

    def _of_files(self, here: Path) -> Iterator[str]:
        for path in sorted(here.rglob("*")):
            name = str(path.relative_to(here))
            if name in DEVICES:
                if not path.is_symlink():
                    yield f"{name!r}, a device, was replaced"
                continue
            if path.is_symlink() or not path.is_file():
                if path.is_dir() and (name.startswith(".tcp-") or "/.tcp-" in name):
                    yield f"{name!r} is left"
                continue
            if name in self.files:
                if path.read_bytes() != self.files[name] and not self._may_leave(name):
                    yield f"{name!r} was changed"
            elif not self._may_leave(name) or any(fnmatch(path.name, pattern) for pattern in HALVES):
                yield f"{name!r} is left"
        for name in self.files:
            if not os.path.lexists(here / name):
                yield f"{name!r} is gone"

    def _may_leave(self, name: str) -> bool:
        return any(fnmatch(name, pattern) for pattern in self.leaves)


def printed_complaints(
    ran: Ran, encoding: str = "utf-8", files: Mapping[str, bytes] = MappingProxyType({})
) -> Iterator[str]:
    """Complaints about standard output and standard error, and about the files that the command was asked to write."""
    argv = ran.argv
    out, err = (
        data.decode(encoding, "surrogateescape").encode("utf-8", "surrogateescape") for data in (ran.out, ran.err)
    )
    yield from text_complaints("standard error", err)
    alone = any(a in ("--json", "-o") and b == "-" for a, b in itertools.pairwise(argv))
    if argv[0] == "--version":  # whatever comes after it
        alone = False
    if alone and "--json" in argv:
        if out:
            yield from json_complaints("standard output", out)
    else:
        yield from text_complaints("standard output", out)
    for option, name in itertools.pairwise(argv):
        data = ran.written(name) if option in WRITTEN and name != "-" else None
        if data is not None and data != files.get(name) and name not in DEVICES:
            yield from complaints_of(argv, option)(repr(name)[:40], data)


class Hang(BaseException):
    """The command did not end in time."""


def run_here(argv: tuple[str, ...], here: Path, encoding: str, seconds: float) -> tuple[Ran, str]:
    """Runs `routeproof argv` in this process; answers with what it did, and what it raised in words."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding=encoding, write_through=True) for _ in range(2))
    code, raised = -1, ""
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        signal.setitimer(signal.ITIMER_REAL, seconds)
        try:
            code = main(list(argv))
        except Hang:
            raised = f"no end within {seconds:g} s"
        except SystemExit as error:
            raised = f"SystemExit({error.code})"
        except BaseException:  # noqa: BLE001 - whatever leaves `main` is a complaint
            raised = traceback.format_exc()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    out.flush()
    err.flush()
    return Ran(here, argv, code, out.buffer.getvalue(), err.buffer.getvalue()), raised


@contextlib.contextmanager
def _alone(here: Path) -> Iterator[None]:
    """The directory, environment, signal handlers and temporary directory of the case; afterwards ours again."""
    there, environment = Path.cwd(), dict(os.environ)
    handlers = {number: signal.getsignal(number) for number in (*SIGNALS, signal.SIGALRM)}
    usual, sys.argv = sys.argv, ["routeproof"]
    os.chdir(here)
    signal.signal(signal.SIGALRM, _hang)
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the peak begins anew
    with tempfile.TemporaryDirectory(prefix="attack-") as temporary, warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", ResourceWarning)  # no user sees those
        tempfile.tempdir = os.environ["TMPDIR"] = temporary
        try:
            yield
        finally:
            left = [path.name for path in Path(temporary).iterdir()]
            tempfile.tempdir = None
            os.environ.clear()
            os.environ.update(environment)
            os.chdir(there)
            sys.argv = usual
            for number, handler in handlers.items():
                signal.signal(number, handler)
            for name in left:
                (here / f"temporary-{name}").touch()


def _hang(_number: int, _frame: FrameType | None) -> None:
    raise Hang


def _left_running(before: set[threading.Thread]) -> Iterator[str]:
    if late := set(threading.enumerate()) - before:
        gc.collect()
        for thread in late:
            thread.join(ENDING)
        if left := set(threading.enumerate()) - before:
            yield f"threads are left: {sorted(thread.name for thread in left)}"
    if children := multiprocessing.active_children():
        yield f"processes are left: {children}"


def memory(what: str) -> int:
    """VmRSS or VmHWM of this process, in bytes."""
    for text in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if text.startswith(f"{what}:"):
            return int(text.split()[1]) << 10
    return 0
