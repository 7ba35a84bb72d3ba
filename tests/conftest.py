"""How the tests are run: the whole of them on every core, a file to each; those that are named, in one process."""

import signal

import pytest

from routeproof.checker.jobs import cores

FIRST = ("checker/prove/test_theorems.py", "checker/spark/test_cluster", "checker/prove/", "checker/reproduce/")
"""Where single tests take long: begun last, one of them would go on alone when all others are done."""

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell that puts the tests in the background has them ignore the interrupt, and with them all that they start.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Of `-n auto`, which is the default."""
    return cores() if config.args_source is pytest.Config.ArgsSource.TESTPATHS else 0


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: next((place for place, at in enumerate(FIRST) if at in item.nodeid), len(FIRST)))
