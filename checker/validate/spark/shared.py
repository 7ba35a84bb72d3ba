"""The trace as a worker opens it: by the name that it has where the job was started."""

from __future__ import annotations

from io import BufferedReader
from pathlib import Path

from routeproof.traces import TraceError


def opened(path: Path) -> BufferedReader:
    try:
        return path.open("rb")
    except OSError as error:
        why = error.strerror or error
        raise TraceError(f"{path}: a worker cannot read it: {why}; workers read a trace by the same name") from None
