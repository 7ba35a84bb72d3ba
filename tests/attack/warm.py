"""A process that has imported every command and forks a child for each run of one, so that a run starts at once.

The child is a process like any other: it has a session, a directory and an environment of its own, gets real signals,
and does at its exit what was put off until then. What is missing is the start of the interpreter and its end, and its
workers are forked too where they are not asked to be spawned, as they are for users. `starts` attacks all of those.

Run as `python -m tests.attack.warm` it reads requests as lines of JSON, and answers each with two lines: the child's
number when the child is about to begin, and its exit code, as `subprocess` has it, when it has ended.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import json
import multiprocessing
import os
import pkgutil
import select
import signal
import subprocess
import sys
import tempfile
import threading
import warnings
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from attrs import frozen

import routeproof
from routeproof.checker.cli import main
from routeproof.checker.system import interrupts
from tests.checker.command import TOP, environment

ELSEWHERE = ("spark", "__main__")
"""Parts of the names of modules that no command of these attacks imports."""

CHUNK, LEAST = 32, 16
"""States that a search looks at before it looks for a signal: small searches are interrupted in the middle."""


# -- who asks ----------------------------------------------------------------------------------------------------------


@frozen
class Forked:
    """A child that runs a command."""

    number: int
    server: subprocess.Popen[bytes]

    def code(self, seconds: float) -> int | None:
        """Its exit code, or None if it has not ended within so many seconds."""
        assert self.server.stdout is not None
        ready, _, _ = select.select([self.server.stdout], [], [], seconds)
        return int(self.server.stdout.readline()) if ready else None


def run(argv: tuple[str, ...], here: Path, env: Mapping[str, str], *, spawns: bool) -> Forked:
    """Begins `routeproof argv` in the directory, with what it prints in `out.log` and `err.log`."""
    server = _server()
    assert server.stdin is not None
    assert server.stdout is not None
    request = {"argv": argv, "here": str(here), "env": dict(env), "spawns": spawns}
    server.stdin.write(json.dumps(request).encode() + b"\n")
    server.stdin.flush()
    return Forked(int(server.stdout.readline()), server)


@cache
def _server() -> subprocess.Popen[bytes]:
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.attack.warm"],
        cwd=TOP,
        env=environment(OPENBLAS_NUM_THREADS="1"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        bufsize=0,
        start_new_session=True,
    )
    atexit.register(_ended, server)
    return server


def _ended(server: subprocess.Popen[bytes]) -> None:
    server.kill()
    server.wait()


# -- who forks ---------------------------------------------------------------------------------------------------------


def serve() -> bool:
    """Answers requests until there are no more; true in a child that is to run a command."""
    _import_everything()
    assert threading.active_count() == 1, "a process with threads cannot be forked"
    signal.pthread_sigmask(signal.SIG_BLOCK, interrupts.SIGNALS)
    gc.collect()
    gc.freeze()
    for text in _lines():
        ready, begins = os.pipe()
        if not (child := os.fork()):
            _become(json.loads(text))
            os.close(ready)
            os.close(begins)
            return True
        os.close(begins)
        os.read(ready, 1)  # its end: the child has a session of its own, and hears nothing yet
        os.close(ready)
        os.write(1, b"%d\n" % child)
        _, status = os.waitpid(child, 0)
        os.write(1, b"%d\n" % os.waitstatus_to_exitcode(status))
    return False


def _lines() -> Iterator[bytes]:
    """What is asked, line by line. Nothing is read ahead that a child would have too."""
    text = b""
    while part := os.read(0, 1 << 16):
        text += part
        if text.endswith(b"\n"):
            yield text
            text = b""


def _import_everything() -> None:
    for found in pkgutil.walk_packages(routeproof.__path__, "routeproof."):
        if not any(part in found.name for part in ELSEWHERE):
            import_module(found.name)
    search: Any = import_module("routeproof.checker.explore.search")
    search.CHUNK, search.LEAST = CHUNK, LEAST


def _become(request: dict[str, Any]) -> None:
    """Makes this child what a process is that starts the command."""
    os.setsid()
    os.chdir(request["here"])
    for number, name, flags in ((0, os.devnull, os.O_RDONLY), (1, "out.log", os.O_WRONLY), (2, "err.log", os.O_WRONLY)):
        file = os.open(name, flags | os.O_CREAT | os.O_TRUNC)
        os.dup2(file, number)
        os.close(file)
    os.environ.clear()
    os.environ.update(request["env"])
    tempfile.tempdir = None
    sys.argv = ["routeproof", *request["argv"]]
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    if not request["spawns"]:
        fork = multiprocessing.get_context("fork")
        vars(multiprocessing)["get_context"] = lambda _method: fork
    vars(interrupts)["listening"] = _hearing(interrupts.listening)


def _hearing(listening: Any) -> Any:
    """What comes before the command listens waits until it does; else Python would answer."""

    @contextlib.contextmanager
    def hearing(*, until_exit: bool) -> Iterator[None]:
        with listening(until_exit=until_exit):
            signal.pthread_sigmask(signal.SIG_UNBLOCK, interrupts.SIGNALS)
            yield

    return hearing


def _run() -> NoReturn:
    """Runs the command, and ends as the interpreter does, but for the many modules that nobody else has imported."""
    warnings.simplefilter("ignore", DeprecationWarning)  # that threads are there when a worker is forked
    code = main()
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__" and serve():
    _run()
