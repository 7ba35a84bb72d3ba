"""Spark's Java process, the driver: started, bounded in time, and ended with everything that it started.

PySpark starts one itself when asked for a session, waits for as long as it takes, prints what it likes on standard
error and keeps it until Python exits. This one writes into a log, answers within a time or is killed, and is gone
afterwards.
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

from routeproof.checker.errors import UsageError
from routeproof.checker.spark.java import Java

START_SECONDS = 60.0
"""From nothing to a Java process that listens: two seconds, or ten on a machine that is busy."""

END_SECONDS = 15.0
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
        except OSError as error:
            raise UsageError(f"Spark cannot be started: {command[0]}: {error.strerror}; is it installed?") from None
    try:
        port, secret = _hello(process, hello, log)
        yield Driver(process, log, port, secret)
    finally:
        end(process)


def end(process: subprocess.Popen[bytes]) -> None:
    """Asks it to, by closing its standard input; kills it if it does not."""
    if process.stdin is not None:
        with suppress(OSError):
            process.stdin.close()
    try:
        process.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        kill(process)
    process.wait()


def kill(process: subprocess.Popen[bytes]) -> None:
    """With the scripts around it. Python workers are in a group of their own, and leave when their driver has."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


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
        if process.poll() is not None:
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
