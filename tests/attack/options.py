"""Hostile command lines: every option of every command, with values of other types, sizes and kinds, in any order."""

from __future__ import annotations

import argparse
from functools import cache
from random import Random

from attrs import frozen

from routeproof.checker.cli import COMMANDS, module_of
from tests.attack import damage, sources
from tests.attack.case import Case, joined
from tests.attack.command import Command

NUMBERS = (
    *("0", "-1", "-0", "+5", " 5", "5 ", "1_000", "1,000", "0x10", "1e3", "1e12", "1e13", "1e308", "1e-300", "5e-324"),
    *(
        "nan",
        "inf",
        "-inf",
        "NaN",
        "\u0663",
        "\uff15",
        "9" * 30,
        "9" * 5000,
        "999999999999",
        "9223372036854775808",
        "2.5",
    ),
    *("", ".", ",", "1;2", "1 2", "١٢"),
)
PATHS = (
    *(
        ".",
        "..",
        "x",
        "x/y",
        "nowhere/x.json",
        "x" * 300,
        "x/" * 200,
        "dir",
        "dir/",
        "t.jsonl/x",
        "-",
        "--",
        "./-x.json",
    ),
    *(
        "full",
        "null",
        "null/x",
        "zero/x",
        "pipe",
        "link",
        "loop",
        "r.json\n",
        "\udcff.json",
    ),
    *("\x1b[2J.json", "\u202e.xml", "a\n::error::b.json", "t.jsonl", "t.jsonl", "zero", "random"),
)

BASES: dict[str, tuple[str, ...]] = {
    "check": ("tiny", "--policy", "none", "--workers", "1", "--max-states", "60"),
    "list": ("policies",),
    "run": ("stock", "--scale", "0.0001"),
    "validate": ("t.jsonl",),
    "place": ("t.jsonl",),
    "trees": ("t.jsonl", "t.jsonl", "t.jsonl"),
    "show": ("t.jsonl",),
    "shrink": ("t.jsonl",),
    "prove": ("no-such-theorem", "nor-this"),
    "reproduce": ("no-such-experiment", "nor-this"),
    "bench": ("no-such-measurement", "nor-this"),
}
"""Quick ones. The last three do what they are asked for in minutes, so they are asked for nothing that there is,
twice, since an option may take one of the words."""

LONG = frozenset({"--tcp", "--full", "--examples", "--engine", "--scale", "--help", "-h"})
"""Options that make a command take long where their value is a good one; `SLOW` has bad ones for them."""

SLOW: dict[str, tuple[str, ...]] = {
    "--engine": ("", "explor", "prove", "\x1b[2J", "fuzz\n"),
    "--scale": ("0", "-1", "nan", "inf", "1e308", "x", "", "0.00001", "1e-300", "5e-324"),
    "--examples": ("0", "-1", "x", "1e3", "5"),
}


@frozen
class Option:
    """An option of a command: how it is spelled, and whether it takes a value, a number or a file."""

    spelled: str
    takes: str


def case(rng: Random) -> Case:
    if rng.random() < 0.05:
        return _words(rng)
    command = rng.choices(
        sorted(BASES), [6 if name == "check" else 3 if name in ("run", "validate") else 1 for name in sorted(BASES)]
    )[0]
    argv = list(BASES[command])
    for _ in range(rng.choice((1, 1, 2, 3))):
        option = rng.choice(options_of(command))
        given = [option.spelled, *_values(rng, option)]
        if rng.random() < 0.1 and len(given) == 2:
            given = ["=".join(given)]
        at = rng.choice((0, len(argv)))
        argv[at:at] = given
    if rng.random() < 0.1:
        argv.insert(rng.randrange(len(argv) + 1), damage.word(rng))
    if command == "run" and "--out" not in argv:
        argv += ["--out", "out"]
    if command == "shrink" and "-o" not in argv:
        argv += ["-o", "s.jsonl"]
    argv = [word.replace("\0", "") for word in argv]
    trace = rng.choice((sources.counterexample, sources.sample))(rng)
    files = {"t.jsonl": b"".join(map(damage.line, trace.rows)), "dir/x": b"x"}
    return Command(joined((command, repr(argv)[:300])), (command, *argv), files, ("*",))


def _words(rng: Random) -> Command:
    """No command at all, or one of many words that mean nothing."""
    words = [rng.choice((damage.word(rng), rng.choice(NUMBERS), rng.choice(sorted(COMMANDS)), "--version"))]
    words += [damage.word(rng) for _ in range(rng.choice((0, 1, 5, 300)))]
    if words[0] in ("prove", "bench", "reproduce", "check"):
        words.append("no-such-name")
    argv = tuple(word.replace("\0", "") for word in words)
    return Command(repr(argv)[:200], argv, leaves=("*",))


@cache
def options_of(command: str) -> tuple[Option, ...]:
    """All options of a command, as its parser has them."""
    parser: argparse.ArgumentParser = getattr(module_of(command), f"{command}_parser")()
    return tuple(
        Option(spelled, _takes(action))
        for action in parser._actions
        for spelled in action.option_strings
        if spelled not in LONG or spelled in SLOW
    )


def _takes(action: argparse.Action) -> str:
    if action.nargs == 0:
        return "nothing"
    hint = str(action.metavar or "")
    return (
        "a file"
        if "FILE" in hint or "DIR" in hint
        else "a number"
        if hint in ("N", "S", "X", "MS", "BYTES")
        else "a word"
    )


def _values(rng: Random, option: Option) -> list[str]:
    if option.takes == "nothing" or rng.random() < 0.03:
        return []
    if option.spelled in SLOW:
        return [rng.choice(SLOW[option.spelled])]
    if rng.random() < 0.25:
        return [damage.word(rng)]
    match option.takes:
        case "a file":
            return [rng.choice(PATHS)]
        case "a number":
            return [rng.choice(NUMBERS)]
        case _:
            return [rng.choice((*NUMBERS, *PATHS, *WORDS)) for _ in range(rng.choice((1, 1, 1, 4)))]


WORDS = (
    *(
        "active",
        "lazy",
        "incremental",
        "text",
        "mermaid",
        "observable",
        "exact",
        "routing",
        "pruning",
        "por",
        "symmetry",
    ),
    *("removals-first", "Agreement", "NoLostDelivery", "fast", "spark://nowhere:1", "local", "window=1", "window=0"),
    *(
        "cuts=1,2",
        "cuts=2,1",
        "thresholds=",
        "=",
        "window=" + "9" * 19,
        "5,3",
        "3,5",
        "5,",
        "127.0.0.1",
        "tiny",
        "line3",
    ),
)
