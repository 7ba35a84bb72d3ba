"""A Spark session for as long as a job lasts: on this machine, or on a cluster.

    with session(master=None, cores=None) as spark:
        spark.createDataFrame(...).mapInArrow(function, schema).collect()

Nothing of it outlasts the block: no process, no file, no variable of the environment. Whatever cannot be had (Java,
Spark, the master, a worker) is a `UsageError` within a bounded time, and what a job raises in a worker arrives as
`failure.explained` has it. A signal that ends the command raises nothing within PySpark, which is not made for it: it
kills the driver, the call that waits for the driver fails, and the session ends with `Interrupted`.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import frozen

from routeproof.checker.check import cores as cores_here
from routeproof.checker.spark.driver import SparkDriver, connect, driver, find_java, kill_last
from routeproof.checker.spark.failure import silent
from routeproof.checker.spark.package import arrived, package_zip
from routeproof.checker.system.errors import Undetermined, UsageError
from routeproof.checker.system.interrupts import Interrupted, noted
from routeproof.model.filters.interface import quoted

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

REACH_SECONDS = 5.0
"""For a master to accept a connection."""

CONNECT_SECONDS = 45.0
"""Seconds in which a master must accept the application. Spark tries three times for 20 s, which cannot be
configured.
"""

WORKER_SECONDS = 60.0
"""For the first worker to run something; Spark waits for ever."""

STOP_SECONDS = 15.0
"""For Spark to stop. With `driver.END_SECONDS` it is less than the 30 s within which a session has to end."""

LEAST_ROOM = 1024 * 1024
"""Bytes in the directory of temporary files. With less room than this Spark does not start, or fails soon."""

BATCH = 10_000
"""Rows in an Arrow batch."""

LOCAL = re.compile(r"local(?:\[(?P<cores>\*|[1-9]\d*)(?:,\s*\d+)?\])?")
STANDALONE = re.compile(r"spark://(?P<hosts>[^/,\s]+:\d+(?:,[^/,\s]+:\d+)*)")
OTHERS = re.compile(r"yarn|k8s://\S+")

# Spark's own log goes where its output goes, and holds errors only.
LOG4J = """\
status = error
rootLogger.level = error
rootLogger.appenderRef.console.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{HH:mm:ss} %p %c{1}: %m%n%ex
"""

# Variables that would make PySpark a client of something else, or put its files elsewhere.
NOT_OURS = ("SPARK_REMOTE", "SPARK_LOCAL_REMOTE", "SPARK_CONNECT_MODE_ENABLED", "SPARK_LOCAL_DIRS", "SPARK_TESTING")


@frozen
class Master:
    """Where a job runs: `hosts` are those to reach first, `cores` how many it may use; None for all there are."""

    url: str
    cores: int | None
    hosts: tuple[tuple[str, int], ...] = ()

    @classmethod
    def of(cls, url: str | None, cores: int | None) -> Master:
        if cores is not None and cores < 1:
            raise UsageError(f"{cores} cores: expected at least one")
        url = "local" if url is None else url.strip()
        if local := LOCAL.fullmatch(url):
            said = local["cores"]
            if said is None:
                cores = cores or cores_here()
                return cls(f"local[{cores}]", cores)
            if cores is not None and said != str(cores):
                raise UsageError(
                    f"{cores} cores were requested, and the master {url} says how many itself; say it once"
                )
            return cls(url, cores_here() if said == "*" else int(said))
        if standalone := STANDALONE.fullmatch(url):
            pairs = (host.rpartition(":") for host in standalone["hosts"].split(","))
            return cls(url, cores, tuple((host.strip("[]"), int(port)) for host, _, port in pairs))
        if OTHERS.fullmatch(url):
            return cls(url, cores)
        raise UsageError(
            f"{quoted(url)} is no master of Spark; expected local, local[N], spark://HOST:PORT, yarn or k8s://URL"
        )

    @property
    def local(self) -> bool:
        return self.url.startswith("local")

    @property
    def loopback(self) -> bool:
        """All of it is on this machine: a name of its own, and a network, are not needed."""
        return self.local or (
            bool(self.hosts) and all(h in ("localhost", "::1") or h.startswith("127.") for h, _ in self.hosts)
        )

    def reach(self) -> None:
        """Before anything is started; one of several masters is enough."""
        failed = ""
        for host, port in self.hosts:
            try:
                socket.create_connection((host, port), REACH_SECONDS).close()
            except (OSError, OverflowError, UnicodeError) as error:
                failed = getattr(error, "strerror", None) or str(error)
            else:
                return
        if self.hosts:
            raise UsageError(f"the master {self.url} cannot be reached ({failed}); is it running, on that port?")


@contextmanager
def session(master: str | None = None, cores: int | None = None, *, log: Path | None = None) -> Iterator[SparkSession]:
    """A session on `master`, this machine if there is none; `log` keeps what Spark says."""
    where = Master.of(master, cores)
    where.reach()
    try:
        from pyspark import SparkContext
    except ImportError as error:
        raise UsageError(f"Spark needs the package pyspark ({error}); run: pip install 'routeproof[spark]'") from None
    if SparkContext._active_spark_context is not None:
        raise UsageError("a Spark session is open in this process already; stop it first")
    with ExitStack() as stack:
        came = stack.enter_context(noted(kill_last))
        stack.enter_context(_ended(came))
        stack.enter_context(_as_it_was())
        stack.enter_context(silent())
        scratch = Path(
            stack.enter_context(tempfile.TemporaryDirectory(prefix="routeproof-spark-", ignore_cleanup_errors=True))
        )
        if _is_full(scratch):
            raise Undetermined(_no_room(scratch))
        stack.enter_context(_in_room(scratch))
        _set_environment(where)
        settings = _settings(where, scratch)
        java = find_java(scratch)
        _raise_if(came)
        there = stack.enter_context(driver(_spark_home(), java, settings, scratch, log))
        _raise_if(came)
        spark = stack.enter_context(_connected(there, where))
        with _in_our_words(there):
            yield spark


@contextmanager
def _ended(came: Callable[[], bool]) -> Iterator[None]:
    """Raises `Interrupted` at the end of the block if a signal came, in place of what the signal made fail."""
    try:
        yield
    except Exception:
        _raise_if(came)
        raise
    _raise_if(came)


def _raise_if(came: Callable[[], bool]) -> None:
    if came():
        raise Interrupted from None


@contextmanager
def _in_room(scratch: Path) -> Iterator[None]:
    """Explains an error that comes of a file system that is full."""
    try:
        yield
    except Exception as error:
        from routeproof.checker.spark.failure import NO_ROOM

        of_spark = isinstance(error, Undetermined | UsageError)
        if NO_ROOM in str(error) or (of_spark and _is_full(scratch)):
            raise Undetermined(_no_room(scratch)) from None
        raise


def _no_room(scratch: Path) -> str:
    return (
        f"{scratch.parent}: no room is left for Spark's files; nothing was decided: set TMPDIR to a directory with more"
    )


def _is_full(scratch: Path) -> bool:
    """True if the file system of this directory has less room than Spark needs."""
    try:
        return shutil.disk_usage(scratch).free < LEAST_ROOM
    except OSError:
        return False


def _settings(where: Master, scratch: Path) -> dict[str, str]:
    log4j = scratch / "log4j2.properties"
    log4j.write_text(LOG4J, encoding="utf-8")
    settings = {
        "spark.master": where.url,
        "spark.app.name": "routeproof",
        # A short job does not live to see what the optimising compiler and the parallel collector would save; and
        # letting the heap grow from little to all that it may be costs it a collection each time.
        # -Xrs: a signal ends it.
        "spark.driver.extraJavaOptions": (
            f"-Xrs -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:InitialRAMPercentage=50 -XX:-UsePerfData"
            f' -Dlog4j2.configurationFile={log4j.as_uri()} "-Djava.io.tmpdir={scratch}"'
        ),
        "spark.local.dir": str(scratch / "local"),
        "spark.sql.warehouse.dir": (scratch / "warehouse").as_uri(),
        "spark.scheduler.mode": "FAIR",  # jobs of other threads share the cores; those of one thread run in turn
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.adaptive.enabled": "true",
        "spark.sql.execution.arrow.maxRecordsPerBatch": str(BATCH),
    }
    if where.loopback:
        settings |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    if where.cores is not None:
        settings["spark.sql.shuffle.partitions"] = str(2 * where.cores)
    if not where.local:
        settings["spark.submit.pyFiles"] = str(package_zip(scratch))
        if where.cores is not None:
            settings["spark.cores.max"] = str(where.cores)
    return settings


def _set_environment(where: Master) -> None:
    """PySpark's worker is looked up by name otherwise, and this machine's address by the name of the machine."""
    for name in NOT_OURS:
        os.environ.pop(name, None)
    if where.local:
        os.environ["PYSPARK_PYTHON"] = sys.executable
        os.environ["PYTHONSAFEPATH"] = "1"  # a worker would import what happens to lie in the working directory
    if where.loopback:
        os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"


def _spark_home() -> Path:
    """The Spark that PySpark brought, since both halves must be of one version; SPARK_HOME where it brought none."""
    import pyspark

    homes = [Path(pyspark.__file__).parent]
    if elsewhere := os.environ.get("SPARK_HOME"):
        homes.append(Path(elsewhere))
    for home in homes:
        if (home / "jars").is_dir() and (home / "bin" / "spark-submit").is_file():
            return home
    where = " or ".join(map(str, homes))
    raise UsageError(f"there is no Spark in {where}; run: pip install --force-reinstall pyspark, or set SPARK_HOME")


# -- from Python to the driver and back --------------------------------------------------------------------------------


@contextmanager
def _connected(there: SparkDriver, where: Master) -> Iterator[SparkSession]:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    gateway: Any = None
    interrupt = signal.getsignal(signal.SIGINT) if threading.current_thread() is threading.main_thread() else None
    try:
        with _in_our_words(there):
            late = f"{where.url}: no session within {CONNECT_SECONDS:.0f} s"
            with there.within(CONNECT_SECONDS, late if where.local else f"{late}; is that a master of Spark?"):
                gateway = connect(there)
                context = SparkContext(gateway=gateway)
                if interrupt is not None:
                    signal.signal(signal.SIGINT, interrupt)  # a context takes it for itself
                spark = SparkSession(context)
            if not where.local:
                memory = context.getConf().get("spark.executor.memory", "1g")
                late = (
                    f"{where.url}: no worker took a task within {WORKER_SECONDS:.0f} s; is there one with a free core"
                    f" and {memory} of free memory?"
                )
                with there.within(WORKER_SECONDS, late):
                    context.parallelize([None], 1).map(arrived).collect()
                if where.cores is None:
                    spark.conf.set("spark.sql.shuffle.partitions", 2 * context.defaultParallelism)
        yield spark
    finally:
        _disconnect(there, gateway)


def _disconnect(there: SparkDriver, gateway: Any) -> None:
    """Disconnects like `SparkSession.stop`, which keeps the driver for the next session, and fails where it is gone."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession, SQLContext

    from routeproof.checker.spark.failure import SPARK_ERRORS

    context = SparkContext._active_spark_context
    with warnings.catch_warnings(), suppress(*SPARK_ERRORS, OSError, UsageError):
        warnings.simplefilter("ignore")
        with there.within(STOP_SECONDS, "Spark does not stop"):
            if context is not None:
                context.stop()
    with suppress(*SPARK_ERRORS, OSError):
        if gateway is not None:
            gateway.shutdown()
    SparkContext._gateway = SparkContext._jvm = SparkContext._active_spark_context = None
    SparkSession._instantiatedSession = SparkSession._activeSession = None
    SQLContext._instantiatedContext = None


@contextmanager
def _in_our_words(there: SparkDriver) -> Iterator[None]:
    """Explains what PySpark raises, and whatever comes of a driver that is gone."""
    from routeproof.checker.spark.failure import SPARK_ERRORS, explained, gone

    try:
        yield
    except (UsageError, Undetermined):
        raise
    except Exception as error:
        if there.gone():
            raise gone(there.process.returncode) from None
        if not isinstance(error, SPARK_ERRORS):
            raise
        raise explained(error) from None


@contextmanager
def _as_it_was() -> Iterator[None]:
    """PySpark sets variables of the environment, puts itself on the path of modules, and takes the interrupt."""
    environment, path = dict(os.environ), list(sys.path)
    main = threading.current_thread() is threading.main_thread()
    interrupt = signal.getsignal(signal.SIGINT) if main else None
    try:
        yield
    finally:
        sys.path[:] = path
        for name in os.environ.keys() - environment.keys():
            del os.environ[name]
        os.environ.update(environment)
        if interrupt is not None:
            signal.signal(signal.SIGINT, interrupt)
