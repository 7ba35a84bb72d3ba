"""The generated pages of docs/reference: each function returns one page's text, made from the code alone."""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from routeproof.checker.cli import COMMANDS, EXIT_CODES, main, module_of
from routeproof.checker.system import errors
from routeproof.spec.catalogues import RULES
from routeproof.spec.properties import PROPERTIES
from routeproof.spec.specification import Property
from routeproof.traces.format import EVENTS, NEEDS

ROOT = Path(__file__).resolve().parents[2]
MADE = (
    "*This page is generated from the code: `REWRITE_GOLDEN=1 python -m pytest tests/house/test_reference.py`"
    " writes it anew.*"
)
OURS = "ours"


def page(title: str, first: str, *parts: str) -> str:
    return "\n\n".join([f"# {title}", first, MADE, *parts]) + "\n"


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    heads = list(head)
    lines = [heads, ["---"] * len(heads), *([_cell(each) for each in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


# -- rules and properties ----------------------------------------------------------------------------------------------


def rules() -> str:
    """Every rule with its title and its source, by protocol."""
    parts = []
    for protocol in dict.fromkeys(rule.protocol for rule in RULES.values()):
        own = [rule for rule in RULES.values() if rule.protocol == protocol]
        rows = [(rule.id, rule.title, rule.source, "yes" if rule.fires else "") for rule in own]
        parts.append(
            f"## {protocol}\n\nThe full text is in [spec/{protocol}.md](../../spec/{protocol}.md).\n\n"
            + table(("id", "title", "source", "fires"), rows)
        )
    return page(
        "Rules",
        "This page lists the rules of the specification. A report names the rule that an implementation breaks, and"
        " this page leads from the id to the text. *Source* is a section of a [paper](../papers.md) (000 II is"
        f' section II of paper 000), or "{OURS}". A rule *fires* if a handler applies it; `routeproof check` counts'
        " how often.",
        *parts,
    )


KINDS = {
    "always": "Properties that must hold",
    "sometimes": "Properties that must be reached",
}
PLACES = {
    "world": "the world",
    "node": "each broker",
    "link": "each link",
    "channel": "each channel",
    "graph": "the whole graph of states",
    "settled": "whole runs",
}


def _place(p: Property) -> str:
    """What a property is over, and what it reads there."""
    reads = f" ({', '.join(p.reads)})" if p.reads else ""
    return f"{'quiet: ' if p.quiet else ''}{PLACES[p.over]}{reads}"


def properties() -> str:
    """Every property with its meaning, its scope, and the policies under which it must hold."""
    parts = []
    for kind, title in KINDS.items():
        own = [each for each in PROPERTIES.values() if each.kind == kind]
        rows = [(e.id, e.about, _place(e), ", ".join(e.policies)) for e in own]
        parts.append(f"## {title}\n\n" + table(("id", "meaning", "where", "policies"), rows))
    return page(
        "Properties",
        "This page lists the properties that `routeproof check` knows. *Where* is what it is asked of, and in"
        " brackets what it reads there: states of nodes (`local`), messages on a channel (`queue`), messages in flight,"
        " and ghosts by name. One that is *quiet* is asked only where no control message is in flight or held back. A"
        " property without policies appears in claims of papers only.",
        *parts,
    )


# -- the command line --------------------------------------------------------------------------------------------------


def options() -> str:
    """Every argument and option of every command, as its parser has them."""
    parts = []
    for command, about in COMMANDS.items():
        parser = getattr(module_of(command), f"{command}_parser")()
        rows = [(_name(action), _help(action)) for action in parser._actions if action.dest != "help"]
        parts.append(f"## {command}\n\n{about[0].upper()}{about[1:]}.\n\n" + table(("argument", "meaning"), rows))
    return page(
        "Options",
        "This page lists the arguments and options of every command. [The command line](command-line.md) explains them;"
        " `routeproof COMMAND --help` prints them with examples.",
        *parts,
    )


def _name(action: argparse.Action) -> str:
    metavar = action.metavar if isinstance(action.metavar, str) else ""
    if not action.option_strings:
        return f"`{metavar or action.dest}`"
    value = "" if action.nargs == 0 else f" {metavar}"
    return f"`{', '.join(action.option_strings)}{value}`"


def _help(action: argparse.Action) -> str:
    return (action.help or "").replace("%%", "%")


def exit_codes() -> str:
    """Every exit code with its meaning."""
    return page(
        "Exit codes",
        "This page lists the exit codes, which are the same for all commands."
        " [The command line](command-line.md#exit-codes) has the details for each command.",
        table(("code", "meaning"), EXIT_CODES.items()),
        "If several apply, 1 wins over 2 and 3, and 2 wins over 3: a failure that was found is always reported as 1.",
    )


# -- traces ------------------------------------------------------------------------------------------------------------


def trace_fields() -> str:
    """Every key of every object of a trace, from the JSON Schema, and every kind of event."""
    schema = json.loads((ROOT / "spec" / "trace.schema.json").read_text(encoding="utf-8"))["$defs"]
    parts = []
    for name in ("Header", "SharedClock", "Event", "Message", "Item", "Tables", "Entry", "Held"):
        definition = schema[name]
        required = set(definition.get("required", ()))
        rows = [
            (f"`{key}`", "required" if key in required else "", _type(value), _limits(value))
            for key, value in definition["properties"].items()
        ]
        parts.append(f"## {name}\n\n{definition['description']}\n\n" + table(("key", "", "type", "limits"), rows))
    parts.append(f"## Time\n\n{schema['Time']['description']}")
    kinds = [
        (f"`{kind}`", meaning, ", ".join(f"`{k}`" for k in NEEDS.get(kind, ()))) for kind, meaning in EVENTS.items()
    ]
    parts.append("## Kinds of events\n\n" + table(("event", "meaning", "also required"), kinds))
    return page(
        "Trace fields",
        "This page lists the keys of a trace, with their types and limits, as"
        " [trace.schema.json](../../spec/trace.schema.json) has them. [The trace format](trace-format.md) explains"
        " their meaning, and the further keys of headers.",
        *parts,
    )


def _type(value: dict[str, object]) -> str:
    match value:
        case {"$ref": str(ref)}:
            return ref.rpartition("/")[2]
        case {"enum": list(values)}:
            return ", ".join(f"`{json.dumps(each)}`" for each in values)
        case {"anyOf": list(choices)}:
            return " or ".join(dict.fromkeys(_type(each) for each in choices))
        case {"type": "array", "prefixItems": list(items)}:
            return f"array of {len(items)}"
        case {"type": "array", "items": dict(items)}:
            return f"array of {_type(items)}"
        case {"type": "object", "additionalProperties": dict(values)}:
            return f"object of {_type(values)}"
        case {"type": list(types)}:
            return " or ".join(str(each) for each in types)
        case {"type": str(name)}:
            return name
    return "by kind"


def _limits(value: dict[str, object]) -> str:
    said = {
        "minLength": "at least {} characters",
        "maxLength": "at most {} characters",
        "minimum": "at least {}",
        "maximum": "at most {}",
        "maxItems": "at most {} items",
    }
    limits = [words.format(f"{value[key]:,}") for key, words in said.items() if isinstance(value.get(key), int)]
    return ", ".join(limits).replace("at least 1 characters", "not empty")


# -- errors ------------------------------------------------------------------------------------------------------------

INSTANCE = """name = "mine"
protocol = "routing"
policy = ["active"]
overlay = {overlay}

[[advertisement]]
id = "a"
at = {at}
filter = {filter}
"""


def _instance(overlay: str = "[[1, 2]]", at: str = "1", predicates: str = "[]") -> str:
    return INSTANCE.format(overlay=overlay, at=at, filter=predicates)


CASES: list[tuple[str, str, str, str, str]] = [
    ("A name is unknown", "check tinny", "", "No instance, property, mutant, policy, ... has this name.",
     "Take the suggested name, or list the names with `routeproof list`."),
    ("A value is out of range", "check tiny --max-states 0", "", "An option cannot take this value.",
     "Give a value from the range in the message."),
    ("Options contradict each other", "check tiny --property Compact --policy none", "",
     "No search is left that could answer.", "Leave out one of the options."),
    ("A file is missing", "check missing.toml", "", "There is no file of this name.", "Correct the path."),
    ("A file is not TOML", "check mine.toml", "x = [", "The file is not valid TOML.",
     "Correct the syntax at the place in the message."),
    ("The overlay is not a tree", "check mine.toml", _instance("[[1, 2], [2, 3], [3, 1]]"),
     "The routing core needs exactly one path between any two brokers (RTE-1).", "Remove a link of the cycle."),
    ("A filter matches nothing", "check mine.toml", _instance(predicates='[["price", "<", 3], ["price", ">", 4]]'),
     "No event can satisfy all predicates (FLT-5).", "Correct one of the predicates in the message."),
    ("An operator is unknown", "check mine.toml", _instance(predicates='[["price", "~", 3]]'),
     "The dialect has no such operator.", "Use an operator from the message (spec/filters.md)."),
    ("A broker is unknown", "check mine.toml", _instance(at="7"),
     "A client is connected to a broker that the overlay lacks.", "Correct `at`, or add the broker to `overlay`."),
    ("A trace has no header", "validate mine.toml", '{"broker": "b", "seq": 1, "event": "crash"}\n',
     "The first line of a trace must be its header.", "Write the header as line 1 (docs/reference/trace-format.md)."),
    ("A target cannot be written", "check tiny --json missing/report.json", "",
     "The report has no place to go; the check was not started.", "Create the directory, or name another file."),
    ("A protocol cannot be loaded", "check --protocol nowhere:PROTOCOL", "",
     "Python cannot import the module.", "Install the package, or correct the name."),
]  # fmt: skip

RAISED: list[tuple[str, Exception, str, str]] = [
    ("A package is not installed", ModuleNotFoundError(name="z3"), "The command needs an extra of routeproof.",
     "Run the command in the message."),
    ("Memory ran out", MemoryError(), "The work was ended, and its answer is unknown.",
     "Give the process more memory, or ask for less at a time."),
]  # fmt: skip


def error_pages(folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Every kind of error, with the line that routeproof prints for an example of it."""
    monkeypatch.chdir(folder)
    parts = []
    for title, command, content, meaning, remedy in CASES:
        (folder / "mine.toml").write_text(content, encoding="utf-8")
        line, code = _printed(command)
        parts.append(_error(title, f"$ routeproof {command}\n{line}", code, meaning, remedy))
    for title, error, meaning, remedy in RAISED:
        line, code = errors.as_line(error)
        parts.append(_error(title, f"routeproof: {line}", code, meaning, remedy))
    return page(
        "Errors",
        "This page lists the kinds of errors: an example, its meaning and its remedy. Every error is one line on"
        " standard error that begins with `routeproof:` and ends the command with an [exit code](exit-codes.md).",
        *parts,
    )


def _error(title: str, example: str, code: int, meaning: str, remedy: str) -> str:
    return f"## {title}\n\n```text\n{example}\n```\n\nExit code {code}. {meaning} {remedy}"


def _printed(command: str) -> tuple[str, int]:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(command.split())
    lines = err.getvalue().splitlines()
    assert len(lines) == 1, f"{command}: expected one line, found {lines}"
    assert not re.search(r"Traceback", out.getvalue())
    return lines[0], code


PAGES: dict[str, Callable[[], str]] = {
    "rules": rules,
    "properties": properties,
    "options": options,
    "exit-codes": exit_codes,
    "trace-fields": trace_fields,
}
