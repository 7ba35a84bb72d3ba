"""Digests of the text that an outcome comes from: while the digest is what it was, the outcome is too.

An outcome that depends on nothing but code and tables comes from the modules that were loaded by then (`loaded`): as
long as none of them has changed, the same modules are loaded again and do the same. A record of outcomes names their
files, so nothing that was loaded is missing, and nothing else counts: no theorem depends on validation, or on brokers
that run. In the rooms in which modules and instances are found by their names each file counts, loaded or not, since a
new one may be found. Comments and docstrings do not count.
"""

from __future__ import annotations

import ast
import gc
import hashlib
import resource
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.metadata import version
from pathlib import Path

import z3

import routeproof

TOP = Path(routeproof.__file__).parent
ROOTS = {"routeproof": TOP, "tests": Path(__file__).resolve().parent}

BY_NAME = ("routeproof/model/", "routeproof/spec/")
"""Rooms of which each file counts: protocols, properties and instances are found by their names."""

LIBRARIES = ("attrs", "hypothesis", "msgspec", "networkx", "numpy", "pyarrow", "zstandard")
"""Distributions of which the versions count, as that of Z3 does."""

KEEPERS = (
    "tests/conftest.py",
    "tests/shown.py",
    "tests/digests.py",
    "tests/campaigns.py",
    "tests/progress.py",
    "tests/checker/prove/proved.py",
)
"""Files that decide what is asked, and not what comes out."""


def loaded() -> frozenset[str]:
    """Returns the files of routeproof and its tests that this process has loaded, without those that count anyway.

    If it has started processes since `begin`, it is refused: what those have loaded is not known here.
    """
    if _faults_of_children() != _BEFORE[0]:
        raise AssertionError("what is recorded must not start processes: what they load would not count")
    modules = (getattr(module, "__file__", None) for module in list(sys.modules.values()))
    names = {_name(Path(file)) for file in modules if file is not None}
    return frozenset(name for name in names if name and name not in KEEPERS and not name.startswith(BY_NAME))


def begin() -> None:
    """Forgets the processes that were started until now: pytest-xdist asks one for the name of the processor."""
    _BEFORE[0] = _faults_of_children()


def _faults_of_children() -> int:
    """Returns a number that grows with each process that has been started here and has ended: its page faults."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt


_BEFORE = [_faults_of_children()]


def key(files: Iterable[str]) -> str:
    """Returns the digest of these files, and of what counts anyway, as they are now."""
    return digest(texts(files))


def texts(files: Iterable[str]) -> dict[str, str]:
    """Returns the texts of these files and of those that count anyway, by their names. One that is gone has none."""
    paths = {name: _path(name) for name in files}
    return {name: path.read_text(encoding="utf-8") if path.is_file() else "" for name, path in paths.items()} | rooms()


@cache
def rooms() -> dict[str, str]:
    """Returns the texts of the rooms of which each file counts, by their names."""
    return {name: text for path in map(_path, BY_NAME) for name, text in below(path)}


def below(folder: Path) -> Iterator[tuple[str, str]]:
    """Yields the name and the text of each program and table in a folder and those below it that are no links."""
    for path in folder.rglob("*"):
        if path.suffix in (".py", ".toml", ".json"):
            yield _name(path), path.read_text(encoding="utf-8")


def digest(texts: dict[str, str]) -> str:
    libraries = {name: version(name) for name in LIBRARIES}
    made = hashlib.sha256(f"{z3.get_full_version()} {libraries} {sys.version_info[:2]}".encode())
    for name, text in sorted(texts.items()):
        made.update(f"\n{name} {_digest_of_program(text) if name.endswith('.py') else _digest(text)}".encode())
    return made.hexdigest()


@cache
def _digest_of_program(text: str) -> str:
    """Returns the digest of the program that the text is, without comments and docstrings."""
    with _without_collector():
        tree = ast.parse(text)
        for node in ast.walk(tree):
            for name in ("body", "orelse", "finalbody"):
                block = getattr(node, name, None)
                if isinstance(block, list):
                    setattr(node, name, [each for each in block if not _is_text(each)])
        return _digest(ast.dump(tree))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@contextmanager
def _without_collector() -> Iterator[None]:
    """A tree is made of many objects and no cycles: the collector would take four times as long as the parser."""
    on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if on:
            gc.enable()


def _is_text(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def _name(path: Path) -> str:
    """Returns the name of a file of routeproof or its tests, wherever the repository lies; empty for any other."""
    return next((f"{top}/{path.relative_to(at).as_posix()}" for top, at in ROOTS.items() if at in path.parents), "")


def _path(name: str) -> Path:
    top, _, rest = name.partition("/")
    return ROOTS[top] / rest
