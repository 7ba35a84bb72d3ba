"""One session of Spark for many tests of a process, which is closed where a test opens one of its own.

`tests/conftest.py` gives the tests that share `LOCAL` to one worker process.
"""

from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest
from attrs import field, frozen

from routeproof.checker.spark.session import session
from tests.conftest import scope

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@frozen
class SharedSession:
    """A session on `master` that is opened when a test first asks for it, and again after it was closed."""

    master: str
    _stack: ExitStack = field(init=False, factory=ExitStack)
    _opened: "list[SparkSession]" = field(init=False, factory=list)

    def get(self) -> "SparkSession":
        if not self._opened:
            self._opened.append(self._stack.enter_context(session(self.master)))
        return self._opened[0]

    def close(self) -> None:
        self._opened.clear()
        self._stack.close()


LOCAL = SharedSession("local[2]")
"""On this machine, with two cores."""


def close_after(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Closes the session where no more of the tests that share it follow."""
    if nextitem is None or scope(nextitem.nodeid) != scope(item.nodeid):
        LOCAL.close()
