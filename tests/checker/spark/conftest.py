"""What the tests of Spark share: processes that are known by a mark, and a search path without Java."""

import os
import shutil
import time
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest

PATIENCE_SECONDS = 10.0

# What Spark's scripts call.
TOOLS = ("bash", "cat", "dirname", "env", "head", "ps", "sh", "sleep", "uname")

Left = Callable[[], list[str]]


@pytest.fixture
def left(monkeypatch: pytest.MonkeyPatch) -> Left:
    """The processes, of all that this test starts, that are still there once they had time to leave."""
    mark = f"ROUTEPROOF_TEST={uuid.uuid4()}"
    monkeypatch.setenv(*mark.split("="))

    def running() -> list[str]:
        limit = time.monotonic() + PATIENCE_SECONDS
        while (found := _marked(mark)) and time.monotonic() < limit:
            time.sleep(0.1)
        return found

    return running


def _marked(mark: str) -> list[str]:
    found = []
    for process in Path("/proc").iterdir():
        if not process.name.isdigit() or int(process.name) == os.getpid():
            continue
        try:
            if mark.encode() in (process / "environ").read_bytes().split(b"\0"):
                found.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except OSError:
            continue
    return found


@pytest.fixture
def no_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a machine where Java was never installed."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in TOOLS:
        if (program := shutil.which(name)) is not None:
            (tools / name).symlink_to(program)
    monkeypatch.setenv("PATH", str(tools))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    assert shutil.which("java") is None
