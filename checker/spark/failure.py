"""Failures of Spark, in the words of the command line, and silence of PySpark and py4j on standard error.

A worker's exception reaches the driver as text: Python's traceback, wrapped by Java's, once or several times.
`explained` reads the last line of it. What a worker refused is refused here, in the same words; what a cluster could
not do leaves the question open; everything else is a defect, and keeps the worker's traceback. PySpark and py4j also
report it on standard error; `silent` drops that, since only what is raised is for the user.
"""

from __future__ import annotations

import logging
import re
import signal
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from py4j.protocol import Py4JError, Py4JJavaError, Py4JNetworkError
from pyspark.errors import PySparkException

from routeproof.checker.system.errors import Undetermined, UsageError
from routeproof.model.filters import FilterError
from routeproof.model.reading import InstanceError
from routeproof.traces import TraceError

SPARK_ERRORS = (PySparkException, Py4JError)
"""All that PySpark raises, besides what the operating system does."""

RAISED = re.compile(
    r"Traceback \(most recent call last\):\n(?:[ ].*\n)+(?P<kind>[A-Za-z_][\w.]*)(?:: (?P<text>.*))?$", re.MULTILINE
)
REFUSALS = {f"{kind.__module__}.{kind.__qualname__}" for kind in (UsageError, InstanceError, FilterError, TraceError)}
OPEN = f"{Undetermined.__module__}.{Undetermined.__qualname__}"

JAVA_CLASS = re.compile(r"\b(?:[a-z]\w*\.)+[A-Z]\w*(?:Exception|Error): ")
NO_PROGRAM = re.compile(r'Cannot run program "(?P<program>[^"\n]*)"')
LONGEST = 300
DEEPEST = 10

GONE = "Spark's driver is gone, most likely for want of memory; nothing was decided"
OUT_OF_MEMORY = "out of memory in a Spark worker; fewer cores leave more to each"
KILLED = "a Spark worker's Python was killed, most likely for want of memory; fewer cores leave more to each"
NO_ROOM = "No space left on device"
"""How the system says that a disk is full, and Java and Python after it."""

INTERRUPTED = "a Spark worker's Python was interrupted; nothing was decided"
OTHER_PYTHON = (
    f"Spark's workers run another Python than this one, {sys.version_info.major}.{sys.version_info.minor};"
    " set PYSPARK_PYTHON to one of this version"
)


class SparkDefect(Exception):
    """A job did what it should not have; the text is the worker's traceback, or what Spark says of it."""


def gone(code: int | None) -> Undetermined:
    """The error for a driver that is gone; `code` is its exit code, as `subprocess` has it."""
    if code is not None and code < 0 and -code != signal.SIGKILL:
        with suppress(ValueError):
            return Undetermined(f"Spark's driver was ended by {signal.Signals(-code).name}; nothing was decided")
    return Undetermined(GONE)


def explained(error: BaseException) -> Exception:
    """To be raised instead. Call it while the driver is alive: Spark's errors ask it for their own text."""
    if isinstance(error, Py4JNetworkError | OSError | EOFError):
        return Undetermined(GONE)
    text = _text(error)
    if text == GONE:
        return Undetermined(GONE)
    if "PYTHON_VERSION_MISMATCH" in text:
        return UsageError(OTHER_PYTHON)
    if missing := NO_PROGRAM.search(text):
        return UsageError(
            f"Spark's workers cannot run {missing['program']}; set PYSPARK_PYTHON to a Python that they have"
        )
    raised = list(RAISED.finditer(text))
    if raised:
        return _from_worker(raised[-1]["kind"], raised[-1]["text"] or "", text)
    if "Python worker exited unexpectedly" in text:
        return Undetermined(KILLED)
    if "OutOfMemoryError" in text:
        return Undetermined(OUT_OF_MEMORY)
    if isinstance(error, Py4JJavaError):
        return Undetermined(f"Spark could not finish: {in_one_line(text)}")
    return SparkDefect(text)


def in_one_line(text: str) -> str:
    """The innermost of what Spark says, without the names of the classes that say it."""
    lines = [line.strip() for line in text.splitlines()]
    said = [line for line in lines if line and not line.startswith(("at ", "Driver stacktrace"))]
    line = JAVA_CLASS.sub("", said[-1]) if said else "it gave no reason"
    return line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"


def _from_worker(kind: str, message: str, text: str) -> Exception:
    if kind in REFUSALS:
        return UsageError(message)
    if kind == OPEN:
        return Undetermined(message)
    if kind == "ModuleNotFoundError" and "'routeproof" not in message:
        return UsageError(
            f"the Python of Spark's workers lacks what a job needs ({message}); install what routeproof depends on"
            " there, or set PYSPARK_PYTHON to a Python that has it"
        )
    if kind == "MemoryError":
        return Undetermined(OUT_OF_MEMORY)
    if kind == "OSError" and NO_ROOM in message:
        return Undetermined(f"{NO_ROOM}, in a Spark worker")
    if kind == "KeyboardInterrupt":
        return Undetermined(INTERRUPTED)
    return SparkDefect(text)


def _text(error: BaseException) -> str:
    """Text of an exception and of its causes, from the outside in."""
    try:
        if not isinstance(error, Py4JJavaError):
            return str(error)
        said: list[str] = []
        java = error.java_exception
        while java is not None and len(said) < DEEPEST:
            said.append(str(java.toString()))
            java = java.getCause()
        return "\n".join(said)
    except (*SPARK_ERRORS, OSError, AssertionError):
        return GONE


# -- silence -----------------------------------------------------------------------------------------------------------


@contextmanager
def silent() -> Iterator[None]:
    """Drops what py4j logs, what PySpark warns of, and what its server of accumulators and its broadcasts print.

    A program that handles logs itself still gets them. py4j logs under its own name and at the root, which prints where
    it has no handler. The server's thread may outlive the block, so it stays silent.
    """
    from pyspark.accumulators import AccumulatorTCPServer
    from pyspark.core import broadcast

    setattr(AccumulatorTCPServer, "handle_error", _nothing)  # noqa: B010 - to mypy a method is no variable
    log, drop = logging.getLogger(), logging.NullHandler()
    log.addHandler(drop)
    before = vars(broadcast)["print_exec"]
    vars(broadcast)["print_exec"] = _nothing
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        vars(broadcast)["print_exec"] = before
        log.removeHandler(drop)


def _nothing(*_: Any) -> None:
    pass
