"""The command line: `routeproof COMMAND ...`.

`main` runs the command, and turns every error into one line and one of `EXIT_CODES`.

`main` imports nothing heavy before `interrupts` listens. The module of a command, imported when it is needed, has
`COMMAND_parser()`, which says what the command takes, and `COMMAND_command(arguments)`, which runs it and returns the
exit code.
"""

from __future__ import annotations

import importlib
import io
import os
import sys
from collections.abc import Sequence
from types import ModuleType

from routeproof.checker.system import interrupts

COMMANDS = {
    "check": "check properties in every reachable state of small networks, or by fuzzing",
    "list": "list properties, rules, instances, mutants, workloads, theorems, ...",
    "explain": "explain a rule, a property, a claim, a seeded fault or a verdict",
    "run": "run the reference implementation under a workload, simulated or on TCP",
    "reproduce": "repeat the papers' experiments and compare the figures",
    "validate": "judge whether a recorded run of any broker is one that the model allows",
    "place": "compute where the publishers of a recorded run should be",
    "trees": "compute many trees for a network, its documents and its subscriptions",
    "prove": "prove theorems for networks of any size, with Z3",
    "show": "print a counterexample step by step, or as a diagram",
    "shrink": "make a counterexample or a rejected run as short as possible",
    "bench": "measure the speed of the explorer, validation and the reference broker",
}

MODULES = {
    "list": "names",
    "explain": "names",
    "reproduce": "experiments",
    "bench": "experiments",
    "show": "counterexamples",
    "shrink": "counterexamples",
}
"""Modules of commands that are not called as their command is."""

EXIT_CODES = {
    "0": "success: every check holds",
    "1": "a check fails",
    "2": "the input is wrong, or a result could not be written",
    "3": "undetermined: a limit ended the work before the answer was known",
    "130": "ended by an interrupt (Ctrl-C, SIGINT)",
    "143": "ended by SIGTERM",
    "129": "ended by SIGHUP",
}

HELP = """\
usage: routeproof COMMAND [ARGUMENTS]

A formally specified model of content-based publish/subscribe routing, and its checker.

commands:
{commands}
  COMMAND --help lists its options; --version prints the version.

examples:
  routeproof check                                every instance that ships
  routeproof check line3 --policy lazy            one instance under one policy
  routeproof check mine.toml                      an instance of your own
  routeproof check line3 --mutant removals-first  a seeded fault: check writes a trace
  routeproof show traces/found/TRACE.jsonl        that trace, step by step
  routeproof list properties                      the properties that check knows
  routeproof explain COV-8                        a rule: its text, source and tests
  routeproof prove                                all theorems

exit codes:
{exit_codes}"""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a command and returns its exit code."""
    with interrupts.listening(until_exit=argv is None):
        _never_fail_at_printing()
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # numpy's library takes memory for each; it has no work here
        from routeproof.checker.system.files import tell_unwritten
        from routeproof.checker.system.terminal import complain

        try:
            code = tell_unwritten(_answer(list(sys.argv[1:] if argv is None else argv)))
        except interrupts.Interrupted:
            return complain(interrupts.what_came(), interrupts.exit_code())
        return code


def _answer(argv: list[str]) -> int:
    """Returns the exit code of a command; every error in it becomes one line."""
    from routeproof.checker.system.errors import as_line
    from routeproof.checker.system.terminal import complain

    try:
        return _dispatch(argv)
    except KeyboardInterrupt:
        return complain(interrupts.what_came(), interrupts.exit_code())
    except Exception as error:  # noqa: BLE001 - Python's own exit code for a crash is 1, which says "something fails"
        return complain(*as_line(error))


def _dispatch(argv: list[str]) -> int:
    from routeproof.checker.system.errors import UsageError, unknown
    from routeproof.checker.system.terminal import say

    if not argv:
        raise UsageError(f"expected a command: {', '.join(COMMANDS)}; see: routeproof --help")
    command, rest = argv[0], argv[1:]
    if command in ("-h", "--help", "help"):
        commands = "".join(f"  {name:<10}{about}\n" for name, about in COMMANDS.items())
        codes = "".join(f"  {code:<5}{meaning}\n" for code, meaning in EXIT_CODES.items())
        say(HELP.format(commands=commands, exit_codes=codes).rstrip())
        return 0
    if command == "--version":
        from importlib.metadata import version

        say(f"routeproof {version('routeproof')}")
        return 0
    if command.startswith("-"):
        raise UsageError(f"expected a command before {command}; see: routeproof --help")
    if command not in COMMANDS:
        raise unknown("command", command, COMMANDS)
    from routeproof.checker.system.memory import refuse_too_little, watched

    refuse_too_little(command, rest)
    module = module_of(command)
    try:
        rest = _with_protocols(rest)  # before the parser, which names all protocols
        arguments = getattr(module, f"{command}_parser")().read(rest)
    except SystemExit:  # argparse has printed the help
        return 0
    interrupts.raising()
    with watched():
        code: int = getattr(module, f"{command}_command")(arguments)
    return code


def module_of(command: str) -> ModuleType:
    return importlib.import_module(f"routeproof.checker.cli.{MODULES.get(command, command)}")


def _with_protocols(rest: list[str]) -> list[str]:
    """The arguments with each `--protocol module:NAME` loaded, and named as the protocol calls itself."""
    split = (given.split("=", 1) if given.startswith("--protocol=") else [given] for given in rest)
    words = [word for parts in split for word in parts]
    for at, word in enumerate(words[1:], 1):
        if words[at - 1] == "--protocol" and ":" in word:
            from routeproof.model.plugins import load

            loaded = load(word)
            words[at] = loaded.definition.name if hasattr(loaded, "definition") else ""
    for at in reversed(range(len(words))):
        if words[at] == "--protocol" and words[at + 1 : at + 2] == [""]:
            del words[at : at + 2]  # it brings properties or mutants, and no protocol
    return words


def _never_fail_at_printing() -> None:
    """Prints characters that the terminal's encoding lacks as escapes, so that printing never raises."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
