"""What Spark says, put into a line."""

import pytest
from py4j.protocol import Py4JNetworkError
from pyspark.errors import PySparkException

from routeproof.checker.errors import Undetermined, UsageError
from routeproof.checker.spark.failure import LONGEST, SparkDefect, explained, in_one_line

CRASH = """\
org.apache.spark.SparkException: Exception thrown in awaitResult:
org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 failed 4 times: worker lost
\tat org.apache.spark.scheduler.DAGScheduler.abortStage(DAGScheduler.scala:3122)

Driver stacktrace:
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
routeproof.checker.errors.UsageError: run.jsonl: bad
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
