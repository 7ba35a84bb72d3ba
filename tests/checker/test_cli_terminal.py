"""On a terminal: progress on standard error, colour on standard output, an interrupt. None of it in a pipe."""

import os
import pty
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from attrs import frozen

from tests.checker.command import COMMAND, environment

BAR = re.compile(r"\[0/\d\] \w+ \w+: [\d,]+ states, frontier [\d,]+, depth \d+, [\d,]+/s, \d+\.\d s")


@frozen
class OnTerminal:
    process: subprocess.Popen[bytes]
    terminal: int

    def until(self, pattern: re.Pattern[str] | None) -> str:
        """What the terminal shows, up to the pattern or to the end."""
        shown = ""
        while pattern is None or not pattern.search(shown):
            try:
                data = os.read(self.terminal, 1 << 16)
            except OSError:  # Linux: nobody has the other end open any more
                break
            if not data:
                break
            shown += data.decode()
        return shown


@contextmanager
def on_terminal(*argv: str, cwd: Path, stdout: bool = False, **more: str) -> Iterator[OnTerminal]:
    """The command with standard error on a terminal, or standard output."""
    terminal, theirs = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, *argv],
        cwd=cwd,
        env=environment(**more),
        stdin=subprocess.DEVNULL,
        stdout=theirs if stdout else subprocess.PIPE,
        stderr=subprocess.PIPE if stdout else theirs,
        start_new_session=True,
    )
    os.close(theirs)
    with process:
        yield OnTerminal(process, terminal)
    os.close(terminal)


def test_progress_is_drawn_and_taken_away(tmp_path: Path) -> None:
    with on_terminal("check", "star4", "--policy", "none", cwd=tmp_path) as running:
        shown = running.until(None)
        assert running.process.stdout is not None
        assert b"PASS: " in running.process.stdout.read()
    assert BAR.search(shown)
    *_, last = shown.rstrip("\r").split("\r")
    assert not last.strip(), "blanks over what was there"
    assert "\x1b" not in shown
    assert running.process.returncode == 0


def test_progress_of_several_processes(tmp_path: Path) -> None:
    with on_terminal(
        "check", "two4", "--policy", "none", "--workers", "2", "--seconds", "0.5", "pair3", cwd=tmp_path
    ) as running:
        assert BAR.search(running.until(None))
        assert running.process.stdout is not None
        running.process.stdout.read()
    assert running.process.returncode in (0, 3)


def test_an_interrupt_ends_it_with_what_is_there(tmp_path: Path) -> None:
    for workers in ("1", "2"):
        with on_terminal("check", "two4", "leave5", "--workers", workers, cwd=tmp_path) as running:
            shown = running.until(BAR)
            os.killpg(running.process.pid, signal.SIGINT)
            shown += running.until(None)
            assert running.process.stdout is not None
            out = running.process.stdout.read().decode()
        assert running.process.returncode == 130
        assert "Traceback" not in shown + out
        assert re.search(r"interrupted: \d searches of 8 did not finish", out)


def test_colour_on_a_terminal_only_where_it_is_wanted(tmp_path: Path) -> None:
    for more, coloured in (({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)):
        with on_terminal(
            "check", "tiny", "--policy", "none", cwd=tmp_path, stdout=True, **{"TERM": "xterm", **more}
        ) as running:
            assert ("\x1b[32m" in running.until(None)) == coloured
