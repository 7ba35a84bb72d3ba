"""What Spark says, put into a line."""

import pytest
from py4j.protocol import Py4JNetworkError
from pyspark.errors import PySparkException

from routeproof.checker.spark.failure import LONGEST, SparkDefect, explained, gone, in_one_line
from routeproof.checker.system.errors import Undetermined, UsageError

CRASH = """\
org.apache.spark.SparkException: Exception thrown in awaitResult:
org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 failed 4 times: worker lost
\tat org.apache.spark.scheduler.DAGScheduler.abortStage(DAGScheduler.scala:3122)

Driver stacktrace:
"""
PAGE = """\
Traceback (most recent call last):
  File "worker.py", line 1, in main
{}
\tat org.apache.spark.api.python.BasePythonRunner
"""
CHAINED = """\
Traceback (most recent call last):
  File "a.py", line 1, in f
KeyError: 'a'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "a.py", line 3, in f
    raise it
    ^^^^^^^^
routeproof.checker.system.errors.UsageError: run.jsonl: bad
\tat org.apache.spark.api.python.BasePythonRunner
"""


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (CRASH, "Job aborted due to stage failure: Task 0 failed 4 times: worker lost"),
        ("java.io.IOException: no space left", "no space left"),
        ("\n \n", "it gave no reason"),
        ("x" * 1000, "x" * (LONGEST - 1) + "…"),
    ],
)
def test_the_innermost_line(text: str, line: str) -> None:
    assert in_one_line(text) == line


@pytest.mark.parametrize(
    ("error", "kind", "says"),
    [
        (PySparkException(CHAINED), UsageError, "run.jsonl: bad"),
        (PySparkException(CHAINED.replace("KeyError", "MemoryError")), UsageError, "run.jsonl: bad"),
        (PySparkException("[PYTHON_VERSION_MISMATCH] Python in worker"), UsageError, "set PYSPARK_PYTHON"),
        (PySparkException('Cannot run program "python9": error=2'), UsageError, "cannot run python9;"),
        (PySparkException(PAGE.format("KeyboardInterrupt")), Undetermined, "a Spark worker's Python was interrupted"),
        (
            PySparkException(PAGE.format("OSError: [Errno 28] No space left on device")),
            Undetermined,
            "No space left on",
        ),
        (PySparkException("no such column"), SparkDefect, "no such column"),
        (Py4JNetworkError("gone"), Undetermined, "driver is gone"),
        (ConnectionRefusedError(), Undetermined, "driver is gone"),
        (EOFError(), Undetermined, "driver is gone"),
    ],
)
def test_explained(error: Exception, kind: type[Exception], says: str) -> None:
    told = explained(error)
    assert type(told) is kind
    assert says in str(told)


@pytest.mark.parametrize(
    ("code", "says"),
    [(-15, "ended by SIGTERM"), (-9, "want of memory"), (1, "want of memory"), (-200, "want of memory")],
)
def test_a_driver_that_is_gone(code: int, says: str) -> None:
    assert says in str(gone(code))
