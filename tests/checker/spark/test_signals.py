"""A signal to any part of a validation on Spark, at any moment: an end within a stated time, one line, nothing left.

Few parts can be spared: Spark starts a daemon anew, say. Where the work goes on, the verdict is the right one.
"""

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

from tests.campaigns import daily
from tests.checker.command import COMMAND, Ran, environment, run
from tests.processes import Mark

pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="looks into /proc")

END_SECONDS = 30.0
"""Time from the signal to the end of the command where it ends early, and of everything that it started."""

PARTS = ("routeproof", "driver", "daemon", "worker")
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL)
SAYS = {signal.SIGINT: "interrupted", signal.SIGTERM: "ended by SIGTERM", signal.SIGHUP: "ended by SIGHUP"}

MOMENTS = 4
"""Moments for each part and signal in a campaign: drawn from the seconds after the part came into being."""


class Parts:
    """The processes of a running validation."""

    def __init__(self, mark: Mark, command: int) -> None:
        self._mark, self._command = mark, command

    def find(self, part: str) -> int | None:
        """The number of the first process that is this part, if there is one."""
        if part == "routeproof":
            return self._command
        running = self._mark.running()
        daemons = {pid for pid, command in running.items() if "pyspark.daemon" in command}
        for pid, command in sorted(running.items()):
            is_worker = pid in daemons and _parent(pid) in daemons
            if part == ("worker" if is_worker else "daemon" if pid in daemons else _kind(command)):
                return pid
        return None


def _kind(command: str) -> str:
    return "driver" if "org.apache.spark.deploy.SparkSubmit" in command else ""


def _parent(pid: int) -> int:
    with suppress(OSError):
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return 0


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    here = tmp_path_factory.mktemp("trace")
    assert run("run", "stock", "--scale", "0.001", "--trace", "--out", "t", cwd=here).code == 0
    return here / "t" / "trace.jsonl"


def cases() -> Iterator[tuple[str, signal.Signals, float]]:
    drawn = Random(17)
    for part in PARTS:
        for number in SIGNALS:
            for _ in range(MOMENTS):
                yield part, number, round(drawn.choice((0.0, drawn.uniform(0, 1), drawn.uniform(0, 8))), 2)


EVERY_DAY = ("routeproof", signal.SIGINT)
"""The part and the signal of the first of the cases, which is the one for every day."""


def drawn() -> list[object]:
    every = list(cases())
    first = next(case for case in every if case[:2] == EVERY_DAY)
    return daily(every, lambda case: case is first)


@pytest.mark.parametrize(("part", "number", "after"), drawn())
def test_one_line_and_nothing_is_left(
    part: str, number: signal.Signals, after: float, trace: Path, tmp_path: Path
) -> None:
    mark, temporary = Mark(), tmp_path / "temporary"
    temporary.mkdir()
    process = subprocess.Popen(
        [*COMMAND, "validate", str(trace), "--engine", "spark", "--json", "r.json"],
        cwd=tmp_path,
        env=environment(TMPDIR=str(temporary), **mark.environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        # The session first: what comes before it is what any command is while it starts.
        while not any(temporary.glob("routeproof-spark-*")):
            assert process.poll() is None
            time.sleep(0.01)
        parts = Parts(mark, process.pid)
        while (pid := parts.find(part)) is None and process.poll() is None:
            time.sleep(0.01)
        time.sleep(after)
        pid = pid if part != "worker" else parts.find(part)
        sent = False
        if pid is not None and process.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(pid, number)
                sent = True
        began = time.monotonic()
        out, err = process.communicate(timeout=3 * END_SECONDS)
        seconds = time.monotonic() - began
        left = mark.left()
    finally:
        for pid in [process.pid, *mark.running()]:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.wait()
    ran = Ran(process.returncode, out.decode(), err.decode())
    print(part, number.name, after, "sent" if sent else "too late", f"{ran.code} {seconds:.1f} s", repr(ran.err[:3000]))
    assert left == []
    if part == "routeproof" and number == signal.SIGKILL and sent:
        assert (ran.code, ran.err) == (-signal.SIGKILL, "")
        return
    assert list(temporary.iterdir()) == []
    if ran.code == 0:  # it came too late, or was of no account
        assert "accepted" in ran.out
        assert ran.err == ""
        return
    assert sent
    assert seconds < END_SECONDS
    assert ran.err.startswith("routeproof: ")
    assert ran.err.count("\n") == 1
    if part == "routeproof":
        assert (ran.code, ran.err) == (128 + number, f"routeproof: {SAYS[number]}\n")
    else:
        assert ran.code == 3
