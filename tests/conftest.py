"""How the tests are run: the whole of them on every core, a file to each; those that are named, in one process."""

import ctypes
import gc
import os
import resource
import signal
import sys
import warnings
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from attrs import define

from routeproof.checker.check import cores
from tests import digests, progress, shown
from tests.shown import asked_again  # noqa: F401 - a fixture of every test

TOGETHER = {
    "tests/checker/spark/test_session.py": "one session of Spark",
    "tests/checker/validate/spark/": "one session of Spark",
    "tests/checker/explore/": "full searches",
    "tests/spec/test_claims.py": "full searches",
}
"""Folders and files that one worker runs, one after the other, since they share what takes long to make: by what."""

FIRST = (
    "checker/spark/test_session.py",  # before the session is set to anything
    "checker/validate/spark/",
    "checker/prove/test_theorems.py",
    "checker/prove/test_refine_everywhere.py",
    "checker/explore/",
    "spec/test_claims.py",
    "checker/spark/",
    "checker/reproduce/",
    "checker/prove/",
    "pruning/",
    "quality/",
    "trees/",
    "spec/",
    "traces/test_bombs.py",
)
"""Where files or single tests take long: begun last, one of them would go on alone when all others are done."""

GREW_MB = 100
"""A test after which a worker's largest memory has grown by more is named with `--memory`."""

GIVE_BACK_MB = 150
"""A worker that has grown by more gives back what is free."""

STATM = Path("/proc/self/statm")
LIBC = ctypes.CDLL(None)

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell that puts the tests in the background has them ignore the interrupt, and with them all that they start.
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:  # so does `nohup`
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


gc.disable()  # until all is collected


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--memory", action="store_true", help="print the largest memory of each worker process at its end")
    parser.addoption("--rest", action="store_true", help="leave out what has passed of the campaign with this code")


def pytest_configure(config: pytest.Config) -> None:
    progress.begin(config)


def scope(nodeid: str) -> str:
    """Returns what is given to one worker with this test."""
    return next(
        (shared for place, shared in TOGETHER.items() if nodeid.startswith(place)), nodeid.split("::", maxsplit=1)[0]
    )


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Makes a scheduler that gives a file to one worker, and places of `TOGETHER` that share something."""
    if config.getvalue("dist") != "loadfile":
        return None
    scheduler = import_module("xdist.scheduler").LoadFileScheduling(config, log)
    vars(scheduler)["_split_scope"] = scope
    return scheduler


_grew: list[str] = []


def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Passes a test at once that passed when all that it comes from was as it is now (`tests/shown.py`)."""
    return True if shown.is_known(pyfuncitem) else None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    report = yield
    if call.when == "call" and call.excinfo is None and isinstance(item, pytest.Function):
        shown.note(item)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result = yield
    more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024
    if more > GREW_MB:
        _grew.append(f"  +{more} MB in {item.nodeid}")
    HELD.give_back()
    return result


@define
class Held:
    """Memory that this process holds. After a large test the allocator keeps in small pieces what Z3 and Arrow have
    freed, and the process would grow from test to test.
    """

    mb: int = 0

    def give_back(self) -> None:
        """Gives to the system what is free, where the process has grown much since that was done last."""
        if self._now() > self.mb + GIVE_BACK_MB and hasattr(LIBC, "malloc_trim"):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of what some earlier test left: it is not the next one's fault
                gc.collect()
            LIBC.malloc_trim(0)
            self.mb = self._now()

    def _now(self) -> int:
        return int(STATM.read_text().split()[1]) * resource.getpagesize() >> 20 if STATM.exists() else 0


HELD = Held()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """The largest resident memory of this process and of the largest that it started."""
    if session.config.getoption("memory"):
        name = os.environ.get("PYTEST_XDIST_WORKER", "main")
        whose = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
        (own, seconds), (child, theirs) = (
            (used.ru_maxrss // 1024, _seconds(used)) for used in map(resource.getrusage, whose)
        )
        line = (
            f"{name}: at most {own} MB and {seconds:.0f} CPU s; children: at most {child} MB each, {theirs:.0f} CPU s"
        )
        print(line, *_grew, sep="\n", file=sys.__stderr__, flush=True)


def _seconds(used: resource.struct_rusage) -> float:
    return used.ru_utime + used.ru_stime


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Of `-n auto`, which is the default: two more than there are cores, since tests of processes wait a lot."""
    return cores() + 2 if config.args_source is pytest.Config.ArgsSource.TESTPATHS else 0


def pytest_collection_finish(session: pytest.Session) -> None:
    """Keeps the collector of cycles away from all that was imported and collected, which is half a million objects.
    While they were made it was off, and saved a third of the time.
    What is recorded begins here (`tests/digests.py`).
    """
    gc.collect()
    gc.freeze()
    gc.enable()
    digests.begin()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items[:] = filter(shown.is_asked, items)
    items.sort(key=lambda item: next((place for place, at in enumerate(FIRST) if at in item.nodeid), len(FIRST)))
