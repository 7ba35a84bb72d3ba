"""Partial results: what a command has when a signal or an error ends it early is reported all the same."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from routeproof.checker.system import interrupts
from routeproof.checker.system.errors import as_line
from routeproof.checker.system.terminal import complain

T = TypeVar("T")


def gathered(results: Iterable[T]) -> tuple[list[T], BaseException | None]:
    """Returns the results, and what ended them early, if anything did. Where there is no result yet, that is raised."""
    found: list[T] = []
    try:
        for each in results:
            found.append(each)  # noqa: PERF402 - what came before an error stays
    except (Exception, KeyboardInterrupt) as error:
        if not found:
            raise
        return found, error
    return found, None


def ended(error: BaseException) -> int:
    """Prints the one line for what ended a command early, and returns the exit code that goes with it."""
    if isinstance(error, Exception):
        return complain(*as_line(error))
    return complain(interrupts.what_came(), interrupts.exit_code())
