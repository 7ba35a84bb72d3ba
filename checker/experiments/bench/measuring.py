"""Measuring: each in a fresh process, so that one does not pay for another's memory."""

from __future__ import annotations

import os
import resource
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from routeproof.checker.system.processes import in_processes

Row = dict[str, Any]

P = ParamSpec("P")
T = TypeVar("T")

KILO = 1024 if sys.platform != "darwin" else 1
"""Unit of a process's peak memory, in bytes."""


def afresh(measure: Callable[P, T], *arguments: P.args, **more: P.kwargs) -> T:
    """Returns what `measure` gives in a process of its own."""
    [answer] = in_processes(_called, [partial(measure, *arguments, **more)], 1)
    return answer


def _called(measure: Callable[[], T]) -> T:
    return measure()


def keep_to(cores: int) -> None:
    """This process, and all that it starts from now on, have so many; where the system cannot keep them to that, they
    have what there is."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])


def peak_megabytes() -> int:
    """The most memory that this process has had. Where the system says it of the program and not of the process: that
    begins with what the one who started it had."""
    with suppress(OSError):
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) >> 10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * KILO >> 20


def aim(reached: bool, what: str) -> str:
    return f"{what}: {'reached' if reached else 'NOT reached'}"


class Clock:
    """Seconds of processor time and of the wall since it was made."""

    def __init__(self) -> None:
        self._cpu, self._wall = time.process_time(), time.perf_counter()

    @property
    def cpu(self) -> float:
        return time.process_time() - self._cpu

    @property
    def wall(self) -> float:
        return time.perf_counter() - self._wall
