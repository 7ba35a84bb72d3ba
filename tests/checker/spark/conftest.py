"""What the tests of Spark share: marked processes, a path without Java, a cluster, and a Python for its workers."""

import os
import shutil
import sys
import sysconfig
import time
import uuid
import venv
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.checker.spark.cluster import Cluster, standalone
from tests.checker.spark.shared import close_after

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


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with standalone(tmp_path_factory.mktemp("cluster")) as two:
        assert two.alive() == 2
        yield two


@pytest.fixture(scope="module")
def worker_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python with the libraries that are installed here, and without routeproof, however that is installed."""
    libraries = tmp_path_factory.mktemp("libraries")
    for key in ("purelib", "platlib"):
        for entry in Path(sysconfig.get_path(key)).iterdir():
            link = libraries / entry.name
            if "routeproof" not in entry.name and entry.suffix != ".pth" and not link.is_symlink():
                link.symlink_to(entry)
    python = bare_python(tmp_path_factory.mktemp("worker"))
    inside = f"python{sys.version_info.major}.{sys.version_info.minor}"
    site = python.parents[1] / "lib" / inside / "site-packages"
    (site / "libraries.pth").write_text(f"{libraries}\n", encoding="utf-8")
    return python


def bare_python(folder: Path) -> Path:
    venv.create(folder, symlinks=True)
    return folder / "bin" / "python"


def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    close_after(item, nextitem)
