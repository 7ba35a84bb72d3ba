"""Silence of PySpark and py4j on standard error.

Both report there what goes wrong, with a traceback, and raise it as well; only what is raised is for the user.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


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
