"""Signals to commands that are started as users start them: from the first moment of the interpreter on.

`signals` attacks many more moments of what comes after it.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random
from secrets import token_hex
from tempfile import TemporaryDirectory

from attrs import frozen

from tests.attack.case import Case, Played
from tests.attack.checkpoints import comparable
from tests.attack.command import Ran
from tests.attack.signals import SECONDS, SIGNALS, complaints_of_end, left_running, marked, put_traces, running_with
from tests.checker.command import COMMAND, environment

STARTING = 0.5
"""Seconds in which the interpreter may still be starting, and answer to a signal in its own words."""

SEARCH = ("check", "two4", "--policy", "lazy", "--checkpoint", "c", "--json", "r.json")
"""A search of a second or two."""


@frozen
class Work:
    """A command to interrupt. `seconds`: how long it takes, about; `codes`: of a run that ends before the signal."""

    argv: tuple[str, ...]
    seconds: float
    codes: frozenset[int] = frozenset({0})


WORKS = (
    Work((*SEARCH, "--max-states", "60000"), 3.0, frozenset({0, 3})),
    Work(
        ("check", "--policy", "active", "--max-states", "3000", "--workers", "2", "--json", "r.json"),
        3.0,
        frozenset({0, 1, 3}),
    ),
    Work(("check", "--engine", "fuzz", "star4", "--examples", "200", "--workers", "2"), 3.0, frozenset({0, 3})),
    Work(("run", "stock", "--scale", "0.01", "--out", "out", "--trace"), 2.0),
    Work(("run", "zipf", "--scale", "0.0005", "--tcp", "--out", "out", "--seconds", "30"), 4.0),
    Work(("validate", "t.jsonl", "--json", "r.json", "--metrics", "m"), 0.8),
    Work(("prove", "--workers", "2", "--traces", "found"), 4.0),
    Work(("reproduce", "000-fig7", "--scale", "0.01", "--out", "out", "--workers", "2"), 3.0),
)


def case(rng: Random) -> Case:
    work = rng.choice((WORKS[0], WORKS[0], *WORKS))
    # Beginnings and endings are where things are half done.
    after = rng.choice((rng.uniform(0.0, 0.5), rng.uniform(0.1, work.seconds)))
    return Interrupted(work, rng.choice(SIGNALS), after, to_all=rng.random() < 0.4)


@frozen
class Interrupted:
    """A command that gets a signal, it alone or its processes with it (as a terminal does), after some seconds."""

    work: Work
    signal: signal.Signals
    after: float
    to_all: bool

    @property
    def about(self) -> str:
        who = "to all its processes" if self.to_all else "to it alone"
        return f"{' '.join(self.work.argv)}: {self.signal.name} {who} after {self.after:.2f} s"

    def play(self, here: Path) -> Played:
        mark, temporary = token_hex(8), here / "temporary-files"
        temporary.mkdir()
        put_traces(here)
        env = marked(mark, temporary)
        out, err = here / "out.log", here / "err.log"
        with out.open("wb") as outs, err.open("wb") as errs:
            process = subprocess.Popen(
                [*COMMAND, *self.work.argv], cwd=here, env=env, stdout=outs, stderr=errs, stdin=subprocess.DEVNULL,
                start_new_session=True,
            )  # fmt: skip
            time.sleep(self.after)
            interrupted = process.poll() is None
            if interrupted:
                (os.killpg if self.to_all else os.kill)(process.pid, self.signal)
            complaints = []
            try:
                process.wait(SECONDS)
            except subprocess.TimeoutExpired:
                complaints.append(f"no end within {SECONDS:g} s")
        complaints += left_running(lambda: running_with(mark, process.pid))
        code = process.wait()
        ran = Ran(here, self.work.argv, code, out.read_bytes(), err.read_bytes())
        early = interrupted and self.after < STARTING
        if not (early and b"Traceback" in ran.err and b"/routeproof/checker/" not in ran.err):
            complaints += complaints_of_end(ran, self.work.codes, self.signal if interrupted else None, temporary)
        if self.work.argv[:2] == SEARCH[:2]:
            complaints += self._of_going_on(here, env)
        return Played(f"exit {code}", complaints)

    def _of_going_on(self, here: Path, env: dict[str, str]) -> Iterator[str]:
        """Complaints about what comes of the search when it is taken up again."""
        (here / "r.json").unlink(missing_ok=True)
        done = subprocess.run(
            [*COMMAND, *SEARCH],
            cwd=here,
            env=env,
            capture_output=True,
            check=False,
            timeout=120,
            stdin=subprocess.DEVNULL,
        )
        if done.returncode not in (0, 1) or not (here / "r.json").exists():
            yield f"taken up again: exit code {done.returncode}, {done.stderr[-300:]!r}"
        elif comparable(json.loads((here / "r.json").read_bytes())) != _uninterrupted():
            yield "taken up again, the search has another result than without an interrupt"


@cache
def _uninterrupted() -> object:
    with TemporaryDirectory() as folder:
        subprocess.run(
            [*COMMAND, *SEARCH], cwd=folder, env=environment(), capture_output=True, check=False, timeout=120
        )
        return comparable(json.loads((Path(folder) / "r.json").read_bytes()))
