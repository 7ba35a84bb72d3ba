"""Signals to processes at any moment: a command ends soon, with a documented exit code, and leaves nothing behind.

Nothing is left running or half written. A search with a checkpoint gets up to three signals, in chunks that are small,
and is taken up again after each; its result is that of a search without any. The commands run in children of a process
that has imported everything (`warm`), so that thousands of moments are tried; `starts` does the same to commands that
start as users start them.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from random import Random
from secrets import token_hex
from tempfile import TemporaryDirectory

from attrs import frozen

from tests.attack import damage, sources, warm
from tests.attack.case import Case, Played
from tests.attack.checkpoints import SEARCHES, comparable
from tests.attack.command import HALVES, Ran, printed_complaints
from tests.checker.command import TOP, environment

SECONDS = 30.0
"""Wall-clock time until a command that got a signal has ended, with everything that it started."""

MARK = "ROUTEPROOF_ATTACK"
"""Environment variable by which the processes of a case are found."""

SIGNALS = (signal.SIGINT, signal.SIGINT, signal.SIGTERM, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL)


@frozen
class Work:
    """A command to interrupt, which is drawn as often as its weight says. `codes`: of a run that no signal ends."""

    argv: tuple[str, ...]
    weight: int
    codes: frozenset[int] = frozenset({0})


SAVED = ("--workers", "1", "--checkpoint", "c", "--json", "r.json", "--traces", "found")
FOUND = frozenset({0, 1, 3})
WORKS = (
    *(Work(("check", *search, *SAVED), 2 if "prune3" in search else 20, FOUND) for search in SEARCHES),
    Work(("check", "tiny", "loss2", "--policy", "active", "--workers", "2", "--json", "r.json"), 15, FOUND),
    Work(("check", "--engine", "fuzz", "tiny", "--examples", "3", "--workers", "2"), 6, frozenset({0, 3})),
    Work(("run", "stock", "--scale", "0.0005", "--out", "out", "--trace"), 12),
    Work(("run", "zipf", "--scale", "0.0001", "--tcp", "--out", "out", "--seconds", "30"), 1),
    Work(("validate", "t.jsonl", "--json", "r.json", "--metrics", "m"), 20),
    Work(("show", "found.jsonl", "-o", "s.txt"), 6),
    Work(("shrink", "found.jsonl", "-o", "small.jsonl"), 12),
    Work(("prove", "NumbersCover", "BooleansCover", "--workers", "2", "--traces", "found"), 4),
    Work(("reproduce", "001-fig8", "--scale", "0.001", "--out", "out", "--workers", "2"), 1),
)
WEIGHTS = [work.weight for work in WORKS]


@frozen
class Shot:
    """A signal to a command, to it alone or to all its processes (as a terminal does), after a share of its time."""

    signal: signal.Signals
    share: float
    to_all: bool

    def __str__(self) -> str:
        who = "to all its processes" if self.to_all else "to it alone"
        return f"{self.signal.name} {who} after {self.share:.3f} of its time"


def case(rng: Random) -> Case:
    work = rng.choices(WORKS, WEIGHTS)[0]
    shots = tuple(
        Shot(rng.choice(SIGNALS), rng.uniform(0.0, 1.1), to_all=rng.random() < 0.4)
        for _ in range(rng.choice((1, 1, 2, 3)) if "--checkpoint" in work.argv else 1)
    )
    return Interrupted(work, shots, spawns=rng.random() < 0.1)


@frozen
class Interrupted:
    """A command that gets a signal; a search that is taken up again gets another each time. `spawns`: its workers."""

    work: Work
    shots: tuple[Shot, ...]
    spawns: bool

    @property
    def about(self) -> str:
        return f"{' '.join(self.work.argv)}: {', then '.join(map(str, self.shots))}"

    def play(self, here: Path) -> Played:
        put_traces(here)
        outcome, complaints = "", list[str]()
        for shot in self.shots:
            code, said = self._shoot(here, shot)
            outcome, complaints = outcome or f"exit {code}", complaints + said
        if "--checkpoint" in self.work.argv and not complaints:
            complaints += self._of_going_on(here)
        return Played(outcome, complaints)

    def _shoot(self, here: Path, shot: Shot) -> tuple[int, list[str]]:
        for left in here.glob(".*.part"):  # by an earlier SIGKILL
            left.unlink()
        mark, temporary = token_hex(8), here / f"temporary-{token_hex(4)}"
        temporary.mkdir()
        usual, began = _usual(self.work, spawns=self.spawns), time.monotonic()
        forked = warm.run(self.work.argv, here, marked(mark, temporary), spawns=self.spawns)
        code = forked.code(shot.share * usual)
        interrupted = code is None
        if interrupted:
            with contextlib.suppress(ProcessLookupError):  # it ended just now
                (os.killpg if shot.to_all else os.kill)(forked.number, shot.signal)
            code = forked.code(SECONDS)
        else:
            _took(self.work, time.monotonic() - began, spawns=self.spawns)
        complaints = left_running(lambda: running_with(mark, forked.number))
        if code is None:
            complaints.append(f"no end within {SECONDS:g} s")
            code = forked.code(SECONDS)
            assert code is not None, "a process that was killed has ended"
        ran = Ran(here, self.work.argv, code, (here / "out.log").read_bytes(), (here / "err.log").read_bytes())
        complaints += complaints_of_end(ran, self.work.codes, shot.signal if interrupted else None, temporary)
        return code, complaints

    def _of_going_on(self, here: Path) -> Iterator[str]:
        """Complaints about what comes of the search when it is taken up again."""
        (here / "r.json").unlink(missing_ok=True)
        code = warm.run(self.work.argv, here, environment(), spawns=False).code(SECONDS)
        if code not in FOUND or not (here / "r.json").exists():
            yield f"taken up again: exit code {code}, {(here / 'err.log').read_bytes()[-300:]!r}"
        elif comparable(json.loads((here / "r.json").read_bytes())) != _uninterrupted(self.work):
            yield "taken up again, the search has another result than without a signal"


# -- how it goes without a signal --------------------------------------------------------------------------------------

_seconds: dict[tuple[Work, bool], float] = {}
"""Wall-clock seconds of each command; of late, since other work on the machine comes and goes."""


def _usual(work: Work, *, spawns: bool) -> float:
    if (work, spawns) not in _seconds:
        with TemporaryDirectory() as folder:
            put_traces(Path(folder))
            began = time.monotonic()
            code = warm.run(work.argv, Path(folder), environment(), spawns=spawns).code(10 * SECONDS)
            said = Path(folder, "err.log").read_text(encoding="utf-8")
            assert code in work.codes, f"exit code {code} of {' '.join(work.argv)}: {said}"
            _seconds[work, spawns] = time.monotonic() - began
    return _seconds[work, spawns]


def _took(work: Work, seconds: float, *, spawns: bool) -> None:
    """Notes how long a run took that ended before its signal."""
    _seconds[work, spawns] = (_usual(work, spawns=spawns) + seconds) / 2


@cache
def _uninterrupted(work: Work) -> object:
    with TemporaryDirectory() as folder:
        warm.run(work.argv, Path(folder), environment(), spawns=False).code(10 * SECONDS)
        return comparable(json.loads((Path(folder) / "r.json").read_bytes()))


# -- what must hold of it ----------------------------------------------------------------------------------------------


def put_traces(here: Path) -> None:
    for name, source in (("t", sources.good(Random(1))), ("found", sources.counterexample(Random(1)))):
        (here / f"{name}.jsonl").write_bytes(b"".join(map(damage.line, source.rows)))


def marked(mark: str, temporary: Path) -> dict[str, str]:
    """The environment of a command whose processes are to be found."""
    return environment(**{MARK: mark, "TMPDIR": str(temporary), "PYTHONPATH": str(TOP / "src")})


def complaints_of_end(ran: Ran, codes: frozenset[int], number: signal.Signals | None, temporary: Path) -> Iterator[str]:
    """Complaints about a command that got this signal before its end, or none."""
    by_signal = {3, 130, -number, 128 + number} if number else set()
    if ran.code not in codes | by_signal:
        yield f"exit code {ran.code}; {ran.err[-300:]!r}"
    if b"Traceback" in ran.err or ran.err.count(b"\n") > 1:
        yield f"on standard error: {ran.err[-800:].decode('utf-8', 'replace')}"
    if number == signal.SIGKILL:
        return
    yield from printed_complaints(ran)
    for path in sorted(ran.here.rglob("*")):
        if path.name.startswith(".") or (any(map(path.match, HALVES)) and not path.is_dir()):
            yield f"{str(path.relative_to(ran.here))!r} is left"
    for path in sorted(temporary.iterdir()):
        yield f"{path.name!r} is left in the directory of temporary files"


def left_running(running: Callable[[], list[int]]) -> list[str]:
    """Complaints about processes that have not gone after some time; they are killed."""
    began = time.monotonic()
    while (left := running()) and time.monotonic() - began < SECONDS:
        time.sleep(0.02)
    for number in left:
        os.kill(number, signal.SIGKILL)
    return [f"still running after {SECONDS:g} s: {left}"] if left else []


def running_with(mark: str, session: int) -> list[int]:
    """The processes of the session, and those that have the mark in their environment."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            # "12 (name with spaces) S 1 12 12 ...": its state, parent, group and session
            state, _, _, its = (path / "stat").read_bytes().rpartition(b")")[2].split()[:4]
            if state != b"Z" and (int(its) == session or f"{MARK}={mark}".encode() in (path / "environ").read_bytes()):
                found.append(int(path.name))
        except OSError:
            continue
    return found
