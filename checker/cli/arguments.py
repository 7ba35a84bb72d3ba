"""Reading command lines: what argparse does, with errors of one line.

A `Parser` never exits the process by itself on a mistake: it raises `UsageError`, which `cli.main` prints. Options and
names may be mixed in any order.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NoReturn, TypeVar

from routeproof.checker.system.errors import UsageError
from routeproof.checker.system.files import STDOUT, write_report
from routeproof.checker.system.terminal import json_text, say
from routeproof.model.filters.interface import quoted
from routeproof.model.reading import did_you_mean

N = TypeVar("N", int, float)

WIDTH = 100

MOST = 10**12
"""The largest number for an option without a bound of its own."""

MOST_SECONDS = 10**8
"""The longest time limit: three years."""

MOST_WORKERS = 1024
"""The most worker processes. A command never starts more of them than it has pieces of work."""


TRACE = "a trace in the format of docs/reference/trace-format.md; - is standard input"
"""Help of the argument that is a trace."""


class Parser(argparse.ArgumentParser):
    """One sub-command's parser. Description and examples are printed as they are written."""

    def __init__(self, command: str, description: str, examples: str = "") -> None:
        super().__init__(
            prog=f"routeproof {command}",
            description=description,
            epilog=f"examples:\n{examples}" if examples else None,
            formatter_class=partial(argparse.RawDescriptionHelpFormatter, max_help_position=24, width=WIDTH),
            allow_abbrev=False,
        )
        self.command = command

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{self.command}: {' '.join(message.split())}; see: {self.prog} --help")

    def read(self, argv: list[str]) -> argparse.Namespace:
        """Reads the words of a command line. argparse takes `--option=--` for an option without its value."""
        for word in argv:
            if word.startswith("-") and (word.endswith("=--") or (word[:2] != "--" and word[2:] == "--")):
                self.error(f"found {quoted(word)}; expected a value other than --")
        return self.parse_intermixed_args(argv)


def number(read: Callable[[str], N], fits: Callable[[N], bool], expected: str) -> Callable[[str], N]:
    """Returns a reader of numbers; `expected` says in words which of them fit."""

    def parse(text: str) -> N:
        with suppress(ValueError):
            if fits(found := read(text)):
                return found
        raise argparse.ArgumentTypeError(f"found {quoted(text)}; expected {expected}")

    return parse


def whole(least: int, most: int = MOST) -> Callable[[str], int]:
    """Returns a reader of whole numbers from `least` to `most`."""
    expected = f"a whole number from {least:,} to {most:,}"
    return number(lambda text: int(text.replace(",", "")), lambda n: least <= n <= most, expected)


def between(least: float, most: float, what: str) -> Callable[[str], float]:
    """Returns a reader of numbers from `least` to `most`; `what` names their unit."""
    return number(float, lambda n: least <= n <= most, f"{what} from {least:g} to {most:,.0f}")


def above_zero(most: float, expected: str) -> Callable[[str], float]:
    return number(float, lambda n: 0 < n <= most, expected)


def scale_up_to(most: float) -> Callable[[str], float]:
    """Returns a reader of sizes relative to that of a paper."""
    return above_zero(most, f"a number above 0 and up to {most:g}, 1 being the paper's size")


seconds = between(0.000001, MOST_SECONDS, "a number of seconds")
"""Reads a time limit, in seconds."""


def one_of(known: Iterable[str], what: str) -> Callable[[str], str]:
    """Returns a reader of one word of a list, whose error suggests the nearest word."""
    words = list(known)

    def read(text: str) -> str:
        if text not in words:
            near = did_you_mean(text, words)
            raise argparse.ArgumentTypeError(f"no {what} is called {quoted(text)}{near}; expected {', '.join(words)}")
        return text

    return read


def add_json(group: argparse._ActionsContainer, what: str = "the report") -> None:
    """The option that every command with a report has."""
    group.add_argument("--json", metavar="FILE|-", help=f"write {what} as JSON; - is standard output")


def add_workers(group: argparse._ActionsContainer, about: str, default: int | None = None) -> None:
    """The option that every command with worker processes has."""
    group.add_argument("--workers", metavar="N", type=whole(1, MOST_WORKERS), default=default, help=about)


def add_engine(group: argparse._ActionsContainer, files: str) -> None:
    """The options that every command with Spark has. `files`: what the machines of a cluster read."""
    engine = "local (default, one core) or spark (all cores of this machine, or a cluster)"
    known = one_of(("local", "spark"), "engine")
    group.add_argument("--engine", metavar="E", default="local", type=known, help=engine)
    master = f"with --engine spark: a cluster, whose machines read {files}"
    group.add_argument("--master", metavar="URL", help=master)


def refuse_master(command: str, arguments: argparse.Namespace) -> None:
    if arguments.master is not None and arguments.engine != "spark":
        raise UsageError(f"{command}: --master names a Spark cluster; give --engine spark as well")


def refuse_streams(command: str, traces: Iterable[Path], *, on_cluster: bool) -> None:
    """Refuses standard input and pipes where one cannot be read: a second time, and on other machines."""
    from routeproof.traces.files import STDIN, is_stream

    paths = list(traces)
    if [str(path) for path in paths].count(STDIN) > 1:
        raise UsageError(f"{command}: - is given twice; standard input can be read once")
    if on_cluster and any(map(is_stream, paths)):
        raise UsageError(f"{command}: a cluster cannot read standard input or a pipe; write it to a file first")


def report(target: str | None, text: Callable[[], str], content: Callable[[], object]) -> None:
    """Prints a report, unless its JSON takes standard output, and writes it as JSON if the user wants it."""
    if target != STDOUT:
        say(text())
    if target is not None:
        write_report(target, json_text(content()))
