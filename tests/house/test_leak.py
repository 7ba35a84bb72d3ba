"""The leak test: a protocol is named in its own packages and nowhere else.

Everything that belongs to a protocol stands in a folder of its name (`model/pruning/`, `checker/pruning/`, ...); the
other modules know protocols by the registries only. `leaks.txt` lists the modules that do not keep to this yet. The
list may only shrink: a module that is not listed must not leak, and a module that is listed must.
"""

import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("model", "spec", "impl", "checker", "traces")
ALLOWED = Path(__file__).with_name("leaks.txt")

REGISTRIES = (
    "model/protocols.py",
    "spec/catalogues.py",
    "impl/__init__.py",
    "checker/wings.py",
    "traces/extensions.py",
)
"""One registry a room lists the protocols that ship: it has to name them."""

WORDS = {
    "pruning": r"prun(?:e|es|ed|ing)|incremental|selective|congest\w*|relieve\w*|resubscribe\w*|(?:PRN|STA|CRD|SIM)-\d",
    "migration": r"migrat\w*|relocate|flushed|at-once|MIG-\d",
}
"""Per protocol other than the routing core, what gives it away: its name, its policies, its messages, its rules."""


def leaks(protocol: str, source: str) -> Iterator[str]:
    """The lines of a module that name a protocol, in code, comments or prose: one line of text each."""
    pattern = re.compile(rf"(?<![A-Za-z])(?:{WORDS[protocol]})(?![a-z])", re.IGNORECASE)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        # A name's parts count: `PruningTables` and `is_pruned` both speak of pruning.
        text = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", token.string)
        if found := pattern.search(text):
            yield f"{token.start[0]}: {found[0]}"


def modules() -> Iterator[Path]:
    for room in ROOMS:
        yield from (p for p in sorted((ROOT / room).rglob("*.py")) if p.relative_to(ROOT).as_posix() not in REGISTRIES)


def found_in(path: Path) -> list[str]:
    """The leaks of one module, each with the protocol's name; its own packages have none."""
    room, *places = path.relative_to(ROOT).parts
    own = {*places[:-1], *([path.stem] if room == "traces" else [])}  # `traces/NAME.py` is one module
    source = path.read_text(encoding="utf-8")
    return [f"{protocol}, line {line}" for protocol in set(WORDS) - own for line in leaks(protocol, source)]


def test_modules_that_name_a_protocol_are_the_listed_ones() -> None:
    listed = ALLOWED.read_text(encoding="utf-8").split()
    leaking = {path.relative_to(ROOT).as_posix(): found for path in modules() if (found := found_in(path))}
    new = [f"{name} names {leaking[name][0]}" for name in leaking if name not in listed]
    cured = [name for name in listed if name not in leaking]
    assert not new, (
        "\n".join(new) + "\nA generic module must not name a protocol: move what it says to the protocol's package, "
        "or read it from the registry. (A listed module that was renamed: rename it in tests/house/leaks.txt.)"
    )
    assert not cured, f"these name no protocol any more; take them out of tests/house/leaks.txt: {' '.join(cured)}"
    assert listed == sorted(set(listed))


@pytest.mark.parametrize(
    "source",
    [
        "from routeproof.model.pruning.vocabulary import PruningTables",
        "if protocol == 'pruning':\n    pass",
        "is_pruned = True",
        "x = 1  # under pruning, two numbers",
        '"""Rules PRN-6 and up."""',
        "class OnCongest:\n    pass",
        "f'{x} pruning'",
    ],
)
def test_a_leak_is_found(source: str) -> None:
    assert list(leaks("pruning", source))


@pytest.mark.parametrize("source", ["from routeproof.model import protocols", "prunella = 'not it'", "uncongenial = 1"])
def test_other_words_are_none(source: str) -> None:
    assert not list(leaks("pruning", source))
