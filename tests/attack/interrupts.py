"""Interrupts within this process, at a moment of its own time: the work ends well, and goes on to the same result.

`signals` does this to whole processes, which is slow. Here a timer of CPU seconds raises the signal in a command that
runs in this process, so that thousands of moments are tried. A search is interrupted up to three times, in chunks that
are small, and taken up again; in the end its report is that of a search without an interrupt.
"""

from __future__ import annotations

import contextlib
import io
import json
import signal
import time
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from types import FrameType

from attr._compat import repr_context

from routeproof.checker.cli import main
from routeproof.checker.explore import search as search_module
from routeproof.checker.system import interrupts
from tests.attack import damage
from tests.attack.case import Case
from tests.attack.checkpoints import SEARCHES, comparable
from tests.attack.command import CODES, Command, Ran
from tests.attack.disks import WORKS, _traces

SIGNALS = (signal.SIGINT, signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
EXITS = CODES | {130, 143, 129}
CHUNK, LEAST = 32, 16
WEIGHTS = [1 if search[0] == "prune3" else 4 for search in SEARCHES]
"""One of the searches takes ten times as long as the others."""


def case(rng: Random) -> Case:
    number, share = rng.choice(SIGNALS), rng.uniform(0.0, 1.1)
    if rng.random() < 0.7:
        search, more = rng.choices(SEARCHES, WEIGHTS)[0], [rng.uniform(0.0, 1.0) for _ in range(rng.randrange(3))]
        at = share * _uninterrupted(search)[0]
        judge = partial(_other_result, search=search, number=number, more=more)
        about = f"{' '.join(search)}: {number.name} after {at * 1000:.1f} ms, and {len(more)} more"
        leaves = ("c", "r.json", "found/*.jsonl")
        return Command(about, _argv(search), {}, leaves, EXITS, judge, within=partial(_interrupted, number, at))
    work = rng.choice([work for work in WORKS if work.argv[0] != "check"])
    at = share * _seconds(work.argv)
    files = {name: b"".join(map(damage.line, rows)) for name, rows in _traces().items()}
    about = f"{' '.join(work.argv)}: {number.name} after {at * 1000:.1f} ms"
    return Command(about, work.argv, files, work.leaves, EXITS, within=partial(_interrupted, number, at))


def _argv(search: tuple[str, ...], folder: str = "") -> tuple[str, ...]:
    names = (f"{folder}c", f"{folder}r.json", f"{folder}found")
    return ("check", *search, "--workers", "1", "--checkpoint", names[0], "--json", names[1], "--traces", names[2])


@contextlib.contextmanager
def _interrupted(number: signal.Signals, at: float) -> Iterator[None]:
    """Raises the signal once, after so many CPU seconds of the command's work, if a command listens then."""

    def rings(_number: int, _frame: FrameType | None) -> None:
        if interrupts._ears:
            signal.raise_signal(number)

    def begins() -> None:
        began()
        signal.setitimer(signal.ITIMER_PROF, max(at, 1e-6))

    began: Callable[[], None] = interrupts.raising
    before = signal.signal(signal.SIGPROF, rings)
    chunks = search_module.CHUNK, search_module.LEAST
    search_module.CHUNK, search_module.LEAST = CHUNK, LEAST
    interrupts.raising = begins
    try:
        yield
    finally:
        repr_context.__dict__.clear()  # attrs takes a value whose `repr` was torn for one that it is writing for ever
        interrupts.raising = began
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
        search_module.CHUNK, search_module.LEAST = chunks


def _other_result(ran: Ran, search: tuple[str, ...], number: signal.Signals, more: list[float]) -> Iterator[str]:
    """Complaints where the search, interrupted again and taken up again, comes to another result."""
    argv, seconds = _argv(search, f"{ran.here}/"), _uninterrupted(search)[0]
    handlers = {each: signal.getsignal(each) for each in SIGNALS}
    for share in more:
        with _interrupted(number, share * seconds), _silent():
            code = main(argv)
        if code not in EXITS:
            yield f"interrupted again: exit code {code}"
    Path(argv[-3]).unlink(missing_ok=True)
    with _silent() as said:
        code = main(argv)
    for each, handler in handlers.items():
        signal.signal(each, handler)
    report = Path(argv[-3])
    if code not in (0, 1, 3) or not report.exists():
        yield f"taken up again: exit code {code}, {said.getvalue()[-300:]!r}"
    elif comparable(json.loads(report.read_bytes())) != _uninterrupted(search)[1]:
        yield "taken up again, the search has another result than without an interrupt"


@cache
def _uninterrupted(search: tuple[str, ...]) -> tuple[float, object]:
    """CPU seconds and report of a search that nothing interrupts."""
    with TemporaryDirectory() as folder, _interrupted(signal.SIGINT, 1e9):
        argv = _argv(search, f"{folder}/")
        seconds = _timed(argv)
        return seconds, comparable(json.loads(Path(argv[-3]).read_bytes()))


@cache
def _seconds(argv: tuple[str, ...]) -> float:
    """CPU seconds of a command that nothing interrupts."""
    with TemporaryDirectory() as folder:
        for name, rows in _traces().items():
            Path(folder, name).write_bytes(b"".join(map(damage.line, rows)))
        with contextlib.chdir(folder):
            return _timed(argv)


def _timed(argv: tuple[str, ...]) -> float:
    """CPU seconds of the second of two runs: the first one imports."""
    for _ in range(2):
        began = time.process_time()
        with _silent():
            main(argv)
    return time.process_time() - began


@contextlib.contextmanager
def _silent() -> Iterator[io.StringIO]:
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        yield said
