"""Memory that a search may take: what this process has, what it may have at most, and sizes as users write them.

The most is read from the system (`MemAvailable`) and from every control group that the process is in, whichever leaves
less. Where neither can be read there is no limit.
"""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from routeproof.checker.system.room import SPARE
from routeproof.checker.system.room import left as address_space_left
from routeproof.model.suggest import quoted

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
