"""The command line: `routeproof COMMAND ...`.

`main` finds the command, runs it, and turns whatever goes wrong into one line and an exit code:

0  everything asked holds
1  something fails
2  the question could not be read
3  undetermined: a limit came first

Each command is a module of `checker.commands` with `parser()` and `run(arguments)`, imported when it is asked for.
"""

from __future__ import annotations

import importlib
import io
import sys
import traceback
from collections.abc import Sequence
from importlib.metadata import version

from routeproof.checker.errors import Undetermined, UsageError, unknown
from routeproof.checker.terminal import say, silence_stdout
from routeproof.model.filters import FilterError
from routeproof.model.reading import InstanceError
from routeproof.traces import TraceError

COMMANDS = {
    "check": "hold instances to the properties, in every reachable state or by fuzzing",
    "list": "name what there is: properties, rules, instances, mutants, workloads, theorems, ...",
    "run": "run the reference implementation under a workload, simulated or on TCP",
    "reproduce": "make the papers' experiments again: their figures beside ours",
    "validate": "judge a recorded run of any broker against the model",
    "prove": "prove what holds of every filter, with Z3",
    "show": "print a counterexample step by step, or as a diagram",
    "shrink": "make a counterexample minimal",
    "bench": "measure: the explorer, validation, the reference broker",
}

HELP = """\
usage: routeproof COMMAND [ARGUMENTS]

A formally specified model of content-based publish/subscribe routing, and its checker.

commands:
{commands}
  COMMAND --help says what each takes; --version prints the version.

examples:
  routeproof check                                everything that ships
  routeproof check line3 --policy lazy            one instance under one policy
  routeproof check --instance mine.toml           an instance of your own
  routeproof check line3 --mutant removals-first  a seeded fault, and the trace that shows it
  routeproof show traces/found/TRACE.jsonl        that trace, step by step
  routeproof list properties                      what is checked
  routeproof prove                                what holds for all sizes

exit codes:
  0  everything asked holds            2  the question could not be read
  1  something fails                   3  undetermined: a limit came first
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; the answer is the exit code."""
    _never_fail_at_printing()
    try:
        code = _dispatch(list(sys.argv[1:] if argv is None else argv))
        _flush()
    except (UsageError, InstanceError, FilterError, TraceError) as error:
        return _complain(str(error), 2)
    except Undetermined as error:
        return _complain(str(error), 3)
    except OSError as error:
        name = f"{error.filename}: " if error.filename else ""
        return _complain(f"{name}{error.strerror or error}", 2)
    except KeyboardInterrupt:
        return _complain("interrupted", 130)
    except Exception:  # noqa: BLE001 - Python's own exit code for a crash is 1, which says "something fails"
        traceback.print_exc()
        return _complain("this is a defect of routeproof; nothing was decided", 3)
    return code


def _dispatch(argv: list[str]) -> int:
    if not argv:
        raise UsageError(f"expected a command: {', '.join(COMMANDS)}; see: routeproof --help")
    command, rest = argv[0], argv[1:]
    if command in ("-h", "--help", "help"):
        commands = "".join(f"  {name:<10}{about}\n" for name, about in COMMANDS.items())
        say(HELP.format(commands=commands).rstrip())
        return 0
    if command == "--version":
        say(f"routeproof {version('routeproof')}")
        return 0
    if command.startswith("-"):
        raise UsageError(f"expected a command before {command}; see: routeproof --help")
    if command not in COMMANDS:
        raise unknown("command", command, COMMANDS)
    module = importlib.import_module(f"routeproof.checker.commands.{command}")
    try:
        arguments = module.parser().read(rest)
    except SystemExit:  # argparse has printed the help that was asked for
        return 0
    code: int = module.run(arguments)
    return code


def _complain(text: str, code: int) -> int:
    """One line on standard error, whatever the text holds."""
    try:
        print(f"routeproof: {' '.join(text.split())}", file=sys.stderr)
        _flush()
    except OSError:
        pass  # nobody listens; the exit code is left
    return code


def _never_fail_at_printing() -> None:
    """A name may hold what the terminal's encoding does not."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _flush() -> None:
    """Now, so that a reader who has gone is noticed here and not when Python exits."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        silence_stdout()


if __name__ == "__main__":
    sys.exit(main())
