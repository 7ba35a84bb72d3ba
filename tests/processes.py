"""Processes that a test starts: marked in their environment, so that whatever they start can be found."""

import os
import time
import uuid
from pathlib import Path

from attrs import field, frozen

PATIENCE_SECONDS = 10.0

NAME = "ROUTEPROOF_TEST"


@frozen
class Mark:
    """A mark that all processes of a test carry, and those that they start."""

    value: str = field(factory=lambda: str(uuid.uuid4()))

    @property
    def environment(self) -> dict[str, str]:
        return {NAME: self.value}

    def left(self) -> list[str]:
        """The commands of the marked processes that are still there once they had time to leave."""
        limit = time.monotonic() + PATIENCE_SECONDS
        while (found := self.running()) and time.monotonic() < limit:
            time.sleep(0.05)
        return list(found.values())

    def running(self) -> dict[int, str]:
        """The marked processes by number, this one left out."""
        mark = f"{NAME}={self.value}".encode()
        found = {}
        for process in Path("/proc").iterdir():
            if not process.name.isdigit() or int(process.name) == os.getpid():
                continue
            try:
                if mark in (process / "environ").read_bytes().split(b"\0"):
                    found[int(process.name)] = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except OSError:
                continue
        return found
