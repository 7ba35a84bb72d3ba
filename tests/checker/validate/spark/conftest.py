"""One session on this machine, with two cores, for all tests in this folder.

`tests/conftest.py` gives them to one worker process. The session ends with the last of them, since other tests of that
process may want one of their own.
"""

from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest
from attrs import field, frozen

from routeproof.checker.spark.session import session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@frozen
class SharedSession:
    """A session that is opened when a test first asks for it."""

    _stack: ExitStack = field(init=False, factory=ExitStack)
    _opened: "list[SparkSession]" = field(init=False, factory=list)

    def get(self) -> "SparkSession":
        if not self._opened:
            self._opened.append(self._stack.enter_context(session(cores=2)))
        return self._opened[0]

    def close(self) -> None:
        self._opened.clear()
        self._stack.close()


SHARED = SharedSession()


@pytest.fixture
def spark() -> "SparkSession":
    return SHARED.get()


def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    if nextitem is None or nextitem.path.parent != item.path.parent:
        SHARED.close()
