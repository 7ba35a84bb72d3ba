"""Reading command lines: what argparse does, with errors of one line.

A `Parser` never exits the process by itself on a mistake: it raises `UsageError`, which `cli.main` prints. Options and
names may be mixed in any order.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterable
from typing import NoReturn

from routeproof.checker.errors import UsageError
from routeproof.model.suggest import did_you_mean, quoted

WIDTH = 100

MOST = 10**12
"""The largest number that an option takes."""


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """As wide as the tables."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=24, width=WIDTH)


class Parser(argparse.ArgumentParser):
    """One sub-command's parser. Description and examples are printed as they are written."""

    def __init__(self, command: str, description: str, examples: str = "") -> None:
        super().__init__(
            prog=f"routeproof {command}",
            description=description,
            epilog=f"examples:\n{examples}" if examples else None,
            formatter_class=_Formatter,
            allow_abbrev=False,
        )
        self.command = command

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{self.command}: {' '.join(message.split())}; see: {self.prog} --help")

    def read(self, argv: list[str]) -> argparse.Namespace:
        return self.parse_intermixed_args(argv)


def whole(least: int) -> Callable[[str], int]:
    """A whole number from `least` up."""

    def read(text: str) -> int:
        try:
            number = int(text.replace(",", ""))
        except ValueError:
            number = -1
        if not least <= number <= MOST:
            raise argparse.ArgumentTypeError(f"found {quoted(text)}; expected a whole number from {least} up")
        return number

    return read


def seconds(text: str) -> float:
    """A time that is more than nothing."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 < number <= MOST:
        raise argparse.ArgumentTypeError(f"found {quoted(text)}; expected a number of seconds above 0")
    return number


def one_of(known: Iterable[str], what: str) -> Callable[[str], str]:
    """A word from a short list, with the nearest one where it is none of them."""
    words = list(known)

    def read(text: str) -> str:
        if text not in words:
            near = did_you_mean(text, words)
            raise argparse.ArgumentTypeError(f"no {what} is called {quoted(text)}{near}; expected {', '.join(words)}")
        return text

    return read


def add_json(group: argparse._ActionsContainer) -> None:
    """The option that every command with a report has."""
    group.add_argument("--json", metavar="FILE|-", help="write the report as JSON; - is standard output")
