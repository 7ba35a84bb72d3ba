"""One session on this machine for all tests in this folder."""

from typing import TYPE_CHECKING

import pytest

from tests.checker.spark.shared import LOCAL, close_after

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def spark() -> "SparkSession":
    return LOCAL.get()


def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    close_after(item, nextitem)
