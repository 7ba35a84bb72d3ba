"""Commands that a signal ends, as processes: the documented code, one line, and nothing is left, wherever it comes."""

import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from tests.campaigns import daily
from tests.checker.command import COMMAND, Ran, environment
from tests.processes import Mark

pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="looks into /proc")

SAYS = {
    signal.SIGINT: (130, "routeproof: interrupted\n"),
    signal.SIGTERM: (143, "routeproof: ended by SIGTERM\n"),
    signal.SIGHUP: (129, "routeproof: ended by SIGHUP\n"),
}

LONG = {
    "check": "check two4 leave5 --workers 2",
    "check here": "check two4 --policy none --workers 1",
    "fuzz": "check two4 leave5 --engine fuzz --examples 100000 --workers 2",
    "prove": "prove --workers 2",
    "reproduce": "reproduce --workers 2 --scale 0.05",
    "run": "run controlled --scale 0.2 --out out --trace",
    "run --tcp": "run zipf --scale 0.01 --tcp --out out",
    "bench": "bench explore",
}
"""Commands that take many seconds."""


class Running:
    """A command as a process, in a directory and with temporary files of its own."""

    def __init__(self, words: str, cwd: Path) -> None:
        self.mark, self.temporary = Mark(), cwd / "temporary"
        self.temporary.mkdir()
        self.process = subprocess.Popen(
            [*COMMAND, *words.split()],
            cwd=cwd,
            env=environment(TMPDIR=str(self.temporary), **self.mark.environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        limit = time.monotonic() + 20
        while not self.listens():
            assert time.monotonic() < limit
            time.sleep(0.001)

    def listens(self) -> bool:
        """True once the command hears SIGTERM, which Python itself leaves alone."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        caught = next(line for line in status.splitlines() if line.startswith("SigCgt:"))
        return bool(int(caught.split()[1], 16) >> (signal.SIGTERM - 1) & 1)

    def ended(self) -> Ran:
        try:
            out, err = self.process.communicate(timeout=30)
        finally:
            for pid in [self.process.pid, *self.mark.running()]:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        return Ran(self.process.returncode, out.decode(), err.decode())


def moments(count: int) -> list[object]:
    """Commands with signals and moments: some for every day, the others for campaigns."""
    drawn = random.Random(17)
    cases = [
        (name, number, round(drawn.uniform(0.3, 2.5), 2), i)
        for i in range(count)
        for name in LONG
        for number in (*SAYS, signal.SIGKILL)
    ]
    kinds = [*SAYS, signal.SIGKILL]
    return daily(cases, lambda case: case[3] == 0 and kinds[[*LONG].index(case[0]) % 4] in (case[1], signal.SIGKILL))


@pytest.mark.parametrize(("name", "number", "after", "i"), moments(20))
def test_nothing_is_left(name: str, number: signal.Signals, after: float, i: int, tmp_path: Path) -> None:
    running = Running(LONG[name], tmp_path)
    time.sleep(after)
    assert running.process.poll() is None, "it should take longer"
    running.process.send_signal(number)
    ran = running.ended()
    assert running.mark.left() == []
    if number == signal.SIGKILL:
        assert (ran.code, ran.err) == (-signal.SIGKILL, "")
        return
    assert (ran.code, ran.err) == SAYS[number]
    assert list(running.temporary.iterdir()) == []
    assert [file for file in tmp_path.rglob("*") if file.is_file()] == []


STARTING = [
    "check tiny",
    "list theorems",
    "run stock --scale 0.001 --out out",
    "reproduce 000-fig9 --scale 0.01",
    "validate none.jsonl",
    "prove NumbersCover",
    "show none.jsonl",
    "shrink none.jsonl -o small",
    "bench explore",
]


@pytest.mark.parametrize("words", STARTING)
def test_an_interrupt_while_a_command_starts(words: str, tmp_path: Path) -> None:
    """From the moment on at which routeproof listens, which is before it imports anything that takes time."""
    for i, milliseconds in enumerate((0, 20, 60, 150)):
        cwd = tmp_path / str(i)
        cwd.mkdir()
        running = Running(words, cwd)
        time.sleep(milliseconds / 1000)
        running.process.send_signal(signal.SIGINT)
        ran = running.ended()
        assert "Traceback" not in ran.err, milliseconds
        if milliseconds < 60:  # later, one that has nothing to do may have ended
            assert (ran.code, ran.err) == SAYS[signal.SIGINT], milliseconds
        assert running.mark.left() == []


def test_it_listens_before_it_imports_much() -> None:
    code = "import sys, routeproof.checker.cli; print(len(sys.modules), 'attr' in sys.modules, 'numpy' in sys.modules)"
    ran = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert ran.stdout.split()[1:] == ["False", "False"]


def test_a_signal_to_all_of_them_is_heard_once(tmp_path: Path) -> None:
    """As `timeout` and terminals send it: to every process of the group."""
    for i, number in enumerate(SAYS):
        cwd = tmp_path / str(i)
        cwd.mkdir()
        running = Running(LONG["check"], cwd)
        time.sleep(1)
        os.killpg(running.process.pid, number)
        ran = running.ended()
        assert (ran.code, ran.err) == SAYS[number]
        assert running.mark.left() == []


def test_a_worker_that_is_killed_is_one_line(tmp_path: Path) -> None:
    for words in (LONG["check"], LONG["prove"], LONG["reproduce"]):
        cwd = tmp_path / words.split()[0]
        cwd.mkdir()
        running = Running(words, cwd)
        limit = time.monotonic() + 20
        while not (workers := [pid for pid, command in running.mark.running().items() if "spawn_main" in command]):
            assert time.monotonic() < limit
            time.sleep(0.05)
        time.sleep(0.5)
        os.kill(workers[0], signal.SIGKILL)
        ran = running.ended()
        assert ran.code == 3
        assert ran.err.startswith("routeproof: a worker process died, most likely for want of memory; try --workers 1")
        assert ran.err.count("\n") == 1
        assert running.mark.left() == []
