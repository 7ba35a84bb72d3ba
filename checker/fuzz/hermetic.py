"""Hypothesis, cut off from the process that it runs in: a seed means the same everywhere, and nothing is written.

Hypothesis seasons what it draws with constants from the source of whatever modules are loaded, and keeps notes on them
in `.hypothesis`. So one seed would draw one thing in a test of its own and another in the middle of a suite.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory

from hypothesis.configuration import set_hypothesis_home_dir, storage_directory
from hypothesis.internal.conjecture import providers


@contextmanager
def hermetic() -> Iterator[None]:
    with _storage_elsewhere(), _no_constants_of_this_process():
        yield


@contextmanager
def _storage_elsewhere() -> Iterator[None]:
    before = storage_directory(intent_to_write=False).home_directory
    with TemporaryDirectory(prefix="routeproof-") as directory:
        set_hypothesis_home_dir(directory)
        try:
            yield
        finally:
            set_hypothesis_home_dir(before)


@contextmanager
def _no_constants_of_this_process() -> Iterator[None]:
    """There is no setting for it. Versions of Hypothesis without these names have no such constants either."""
    before = getattr(providers, "_get_local_constants", None)
    if before is None:
        yield
        return
    none = type(providers.GLOBAL_CONSTANTS)()
    providers._get_local_constants = lambda: none
    providers.CONSTANTS_CACHE.cache.clear()  # what was permitted so far includes constants of this process
    try:
        yield
    finally:
        providers._get_local_constants = before
        providers.CONSTANTS_CACHE.cache.clear()
