"""Address space that a command needs before it begins, where the system limits it (`ulimit -v`).

Libraries that find too little while they are loaded end the process in their own way: OpenBLAS with exit code 1, which
would say that something fails, Arrow and Z3 by a signal. So a command that has too little for them is refused in one
line. And since Python itself may abort where an exception has no room any more, the work is `watched`: it ends with a
`MemoryError` while there is still room to end well.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from routeproof.checker.system.errors import Undetermined

MEGABYTE = 1 << 20

TO_LOAD: Mapping[str, int] = {"run": 416, "reproduce": 416, "bench": 416, "prove": 224}
"""Megabytes of address space that libraries take at most until they are loaded, by command."""

TO_LOAD_ALL_OTHERS = 144

TO_LOAD_ARROW = 416
"""Megabytes that a command takes that reads or writes Parquet."""


SPARE = 32 * MEGABYTE
"""Bytes that are left when the work is ended."""

OFTEN = 0.02
"""Seconds between two looks."""


def left() -> int | None:
    """Bytes of address space that this process may still take; None where there is no limit."""
    with suppress(ImportError, OSError, ValueError):  # a system without such limits, or that does not say
        import resource

        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        if limit != resource.RLIM_INFINITY:
            return limit - int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    return None


def refuse_too_little(command: str, words: Sequence[str]) -> None:
    """Refuses a command whose libraries cannot be loaded."""
    room = left()
    with_arrow = any(word.endswith(".parquet") or word.startswith("--metrics") for word in words)
    needed = TO_LOAD_ARROW if with_arrow else TO_LOAD.get(command, TO_LOAD_ALL_OTHERS)
    if room is not None and room < needed * MEGABYTE:
        raise Undetermined(
            f"out of memory: {command} needs {needed} MB of address space to begin, and {room // MEGABYTE} are left;"
            " raise the limit (ulimit -v)"
        )


@contextmanager
def watched() -> Iterator[None]:
    """Ends the block with a `MemoryError` before the limit does, wherever the thread is that entered it."""
    if left() is None:
        yield
        return
    from ctypes import c_ulong, py_object, pythonapi

    worker, done = c_ulong(threading.get_ident()), threading.Event()

    def watch() -> None:
        while not done.wait(OFTEN):
            room = left()
            if room is not None and room < SPARE:
                pythonapi.PyThreadState_SetAsyncExc(worker, py_object(MemoryError))
                return

    watcher = threading.Thread(target=watch, name="memory", daemon=True)
    try:
        watcher.start()
        yield
    finally:  # an interrupt may come while it starts
        done.set()
        if watcher.ident is not None:
            watcher.join()
