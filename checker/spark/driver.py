"""Spark's Java process, the driver: started, bounded in time, and ended with everything that it started.

PySpark would start one itself for a session, waits for as long as it takes, prints what it likes on standard error and
keeps it until Python exits. This one writes into a log, answers within a time or is killed, and is gone afterwards. A
signal ends it at once (`-Xrs`, in `session`): Java's own way, to clean up first, may have no end.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from attrs import field, frozen

from routeproof.checker.spark.java import Java
from routeproof.checker.system.errors import UsageError

START_SECONDS = 60.0
"""From nothing to a Java process that listens: two seconds, or ten on a machine that is busy."""

END_SECONDS = 10.0
"""For a driver to end once its standard input is closed."""

GONE_SECONDS = 1.0
POLL_SECONDS = 0.02
LONGEST_QUOTE = 200

TELLING = re.compile(r"error|exception|cannot|not found|no such|denied|failed", re.IGNORECASE)


@frozen
class Driver:
    """A running driver. `log` is the file that it writes to; `port` and `secret` are for `pyspark.java_gateway`."""

    process: subprocess.Popen[bytes]
    log: Path
    port: int
    secret: str
    _expired: threading.Event = field(factory=threading.Event)

    @contextmanager
    def within(self, seconds: float, otherwise: str) -> Iterator[None]:
        """Spark's calls wait for as long as its retries take: past this time the driver is killed, and they fail."""
        timer = threading.Timer(seconds, self._expire)
        timer.daemon = True
        timer.start()
        try:
            yield
        except BaseException:
            if self._expired.is_set():
                raise UsageError(otherwise) from None
            raise
        finally:
            timer.cancel()

    def gone(self) -> bool:
        """Its connections are closed a moment before it has ended."""
        try:
            self.process.wait(GONE_SECONDS)
        except subprocess.TimeoutExpired:
            return False
        return True

    def _expire(self) -> None:
        self._expired.set()
        kill(self.process)


@contextmanager
def driver(
    spark_home: Path, java: Java, settings: Mapping[str, str], scratch: Path, log: Path | None = None
) -> Iterator[Driver]:
    """A driver with these settings; what it prints goes to `log`, or into `scratch`."""
    log, hello = log or scratch / "spark.log", scratch / "hello"
    command = [str(spark_home / "bin" / "spark-submit")]
    for name, value in settings.items():
        command += ["--conf", f"{name}={value}"]
    environment = {
        **os.environ,
        "JAVA_HOME": str(java.home),
        "SPARK_HOME": str(spark_home),
        "SPARK_CONNECT_MODE": "0",
        "_PYSPARK_DRIVER_CONN_INFO_PATH": str(hello),
    }
    with log.open("wb") as out:
        try:
            # A session of its own: an interrupt at the terminal is for Python, which then ends this in order. Where
            # Python cannot, the driver notices that its standard input was closed.
            process = subprocess.Popen(
                [*command, "pyspark-shell"],
                stdin=subprocess.PIPE,
                stdout=out,
                stderr=out,
                env=environment,
                start_new_session=True,
            )
            _running.append(process)
        except OSError as error:
            raise UsageError(f"Spark cannot be started: {command[0]}: {error.strerror}; is it installed?") from None
    try:
        port, secret = _hello(process, hello, log)
        yield Driver(process, log, port, secret)
    finally:
        end(process)
        _running.remove(process)


_running: list[subprocess.Popen[bytes]] = []
"""The driver that runs, if one does."""


def kill_last() -> None:
    """Kills the driver that runs, if one does. A signal's handler may call it at any moment."""
    for process in _running[-1:]:
        if process.returncode is None:
            kill(process)


def end(process: subprocess.Popen[bytes]) -> None:
    """Ends a driver by closing its standard input, kills it if it stays, and then whatever it has left."""
    if process.stdin is not None:
        with suppress(OSError):
            process.stdin.close()
    try:
        process.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        kill(process)
    process.wait()
    _end_session(process.pid)


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kills a driver with the scripts around it. Python workers are in a group of their own: `end` ends them."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _end_session(leader: int) -> None:
    """Kills the Python workers of a driver that is gone: one whose daemon is gone too would work on, and write files.

    Where there is no /proc they leave on their own, when they next write to their driver.
    """
    limit = time.monotonic() + GONE_SECONDS
    while (left := list(_of_session(leader))) and time.monotonic() < limit:
        for pid in left:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(POLL_SECONDS)


def _of_session(leader: int) -> Iterator[int]:
    """The running processes of the session that `leader` opened."""
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            # State, parent, group and session follow the command's name, which may hold anything.
            state, _, _, session = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()[:4]
            if session == str(leader) and state != "Z":
                yield int(entry.name)


def reason(log: Path) -> str:
    """The line of a log that says most about why it ends there."""
    lines = [line.strip() for line in log.read_text(encoding="utf-8", errors="replace").splitlines()]
    said = [line for line in lines if line and not line.startswith("at ")]
    telling = [line for line in said if TELLING.search(line)]
    line = (telling or said[-1:] or ["it left no message"])[0]
    return "".join(c if c.isprintable() else "?" for c in line)[:LONGEST_QUOTE]


def _hello(process: subprocess.Popen[bytes], path: Path, log: Path) -> tuple[int, str]:
    """The port that the driver listens on and the secret that it wants to hear, from the file where it says so."""
    limit = time.monotonic() + START_SECONDS
    while not path.is_file():
        code = process.poll()
        if code is not None and code < 0:
            from routeproof.checker.spark.failure import gone

            raise gone(code)
        if code is not None:
            raise UsageError(f"Spark did not start: {reason(log)}")
        if time.monotonic() > limit:
            kill(process)
            raise UsageError(f"Spark did not start within {START_SECONDS:.0f} s: {reason(log)}")
        time.sleep(POLL_SECONDS)
    said = path.read_bytes()
    length = int.from_bytes(said[4:8])
    return int.from_bytes(said[:4]), said[8 : 8 + length].decode()


def connect(there: Driver) -> Any:
    """PySpark's gateway to a driver that runs already, which it looks for in the environment."""
    from pyspark.java_gateway import launch_gateway

    mine = {"PYSPARK_GATEWAY_PORT": str(there.port), "PYSPARK_GATEWAY_SECRET": there.secret}
    os.environ.update(mine)
    try:
        return launch_gateway()  # type: ignore[no-untyped-call]  # PySpark leaves it without types
    finally:
        for name in mine:
            del os.environ[name]
