"""Memory: what this process has, what it may take at most, and sizes as users write them.

What a search may take is read from the system (`MemAvailable`), from every control group that the process is in, and
from the limit of its address space (`ulimit -v`), whichever leaves least. Where none can be read there is no limit.

Libraries that find too little address space while they are loaded end the process in their own way: OpenBLAS with exit
code 1, which would say that something fails, Arrow and Z3 by a signal. So a command that has too little for them is
refused in one line. And since Python itself may abort where an exception has no room any more, the work is `watched`:
it ends with a `MemoryError` while there is still room to end well.
"""

from __future__ import annotations

import argparse
import os
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from routeproof.checker.system.errors import Undetermined
from routeproof.checker.system.interrupts import held
from routeproof.model.filters.interface import quoted

MEGABYTE = 1 << 20

TO_LOAD: Mapping[str, int] = {"run": 416, "reproduce": 416, "bench": 416, "place": 416, "trees": 416, "prove": 224}
"""Megabytes of address space that libraries take at most until they are loaded, by command."""

TO_LOAD_ALL_OTHERS = 144

TO_LOAD_ARROW = 416
"""Megabytes that a command takes that reads or writes Parquet."""

SPARE = 32 * MEGABYTE
"""Bytes that are left when the work is ended."""

OFTEN = 0.02
"""Seconds between two looks."""

SHARE = 0.85
"""The part of what is available that searches take unless they are given a limit."""

UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}

LEAST = 1 << 20
"""The smallest limit that makes sense to write, in bytes."""

_GROUPS = Path("/sys/fs/cgroup")


def resident() -> int:
    """Bytes of memory that this process has; 0 where the system does not say."""
    with suppress(OSError, ValueError, IndexError):
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def most() -> int | None:
    """Bytes that this process may have by default; None where that cannot be found out."""
    left = [*_of_the_system(), *_of_groups(), *([] if (room := address_space_left()) is None else [room - SPARE])]
    return resident() + int(SHARE * max(0, min(left))) if left else None


def size(text: str) -> int:
    """A size as an option takes it: `500M`, `2G`, or bytes."""
    read = re.fullmatch(r"([0-9]{1,15})([KMGT]?)(?:i?B)?", text.strip(), re.IGNORECASE | re.ASCII)
    number = int(read[1]) * UNITS[read[2].upper()] if read else 0
    if not LEAST <= number < 1 << 62:
        raise argparse.ArgumentTypeError(f"found {quoted(text)}; expected a size from 1M up, such as 500M or 2G")
    return number


def _of_the_system() -> Iterator[int]:
    with suppress(OSError, ValueError):
        found = re.search(r"^MemAvailable:\s+(\d+) kB", Path("/proc/meminfo").read_text(), re.MULTILINE)
        if found:
            yield int(found[1]) << 10


def _of_groups() -> Iterator[int]:
    """Memory that each control group leaves, of version 2 or 1; files that can be given back count as free."""
    with suppress(OSError, ValueError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            _, kinds, name = line.split(":", 2)
            if not kinds:
                yield from _left(_GROUPS, name, "memory.max", "memory.current", "inactive_file")
            elif "memory" in kinds.split(","):
                names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
                yield from _left(_GROUPS / "memory", name, *names)


def _left(root: Path, name: str, limit: str, usage: str, free: str) -> Iterator[int]:
    group = root / name.lstrip("/")
    for each in (group, *group.parents):
        if each != root and root not in each.parents:
            return
        with suppress(OSError, ValueError):  # ValueError: `max`, no limit
            bound, used = int((each / limit).read_text()), int((each / usage).read_text())
            found = re.search(rf"^{free} (\d+)", (each / "memory.stat").read_text(), re.MULTILINE)
            yield bound - used + (int(found[1]) if found else 0)


def address_space_left() -> int | None:
    """Bytes of address space that this process may still take; None where there is no limit."""
    with suppress(ImportError, OSError, ValueError):  # a system without such limits, or that does not say
        import resource

        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        if limit != resource.RLIM_INFINITY:
            return limit - int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    return None


def refuse_too_little(command: str, words: Sequence[str]) -> None:
    """Refuses a command whose libraries cannot be loaded."""
    room = address_space_left()
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
    if address_space_left() is None:
        yield
        return
    from ctypes import c_ulong, py_object, pythonapi

    worker, done = c_ulong(threading.get_ident()), threading.Event()

    def watch() -> None:
        while not done.wait(OFTEN):
            room = address_space_left()
            if room is not None and room < SPARE:
                pythonapi.PyThreadState_SetAsyncExc(worker, py_object(MemoryError))
                return

    watcher = threading.Thread(target=watch, name="memory", daemon=True)
    try:
        with held():  # a thread that has half begun can be neither joined nor left alone
            watcher.start()
        yield
    finally:
        done.set()
        if watcher.ident is not None:
            watcher.join()
