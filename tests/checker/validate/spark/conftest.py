"""One session on this machine, with two cores, for all tests in this folder.

`tests/conftest.py` gives them to one worker process. The session ends with the last of them, since other tests of that
process may want one of their own.
"""

from typing import TYPE_CHECKING

import pytest

from tests.checker.spark.shared import SharedSession

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


SHARED = SharedSession("local[2]")


@pytest.fixture
def spark() -> "SparkSession":
    return SHARED.get()


def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    if nextitem is None or nextitem.path.parent != item.path.parent:
        SHARED.close()
