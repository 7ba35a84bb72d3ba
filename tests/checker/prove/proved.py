"""Proofs that were found before, by the text of everything that a proof comes from.

A theorem's obligations, and what Z3 answers, come from code: the theorem and its theory, the judge, the model, and the
instances that ship. `keys` gives a digest of the text of all of it, the version of Z3 and that of Python. While it is
what it was when a theorem was last proved (`proved.json`), nothing has changed of which the proof could depend, and the
daily tests do not ask again. A campaign asks everything, and so does a daily run after any of that text has changed:

    .venv/bin/python -m tests.checker.prove.proved

judges all theorems that are not recorded and writes the file anew, and that of single tests (`tests/shown.py`). Nothing
of routeproof itself reads it: `routeproof prove` asks Z3 always. Comments and docstrings do not count. An import
anywhere in a module does, and whole packages are taken where modules are found by name when it runs.
"""

from __future__ import annotations

import ast
import hashlib
import json
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from multiprocessing import get_context
from pathlib import Path

import z3

import routeproof
from routeproof.checker.check import cores
from tests import shown

TOP = Path(routeproof.__file__).parent
ROOTS = {"routeproof": TOP, "tests": Path(__file__).resolve().parents[2]}
ANSWERS = "answers in "
RECORD = Path(__file__).with_name("proved.json")

BEGIN = ("routeproof.checker.prove.theorems",)
"""The module that knows all theorems and judges them: all that it imports counts."""

BY_NAME = ("model", "spec")
"""Rooms of which each file counts: protocols, properties and instances are found by their names."""


@cache
def key() -> str:
    """Returns the digest of all that the verdict on a theorem comes from, as it is now."""
    return digest(sources())


def sources() -> dict[str, str]:
    """Returns the texts that count, by their paths."""
    found = {path: path.read_text(encoding="utf-8") for path in (*imported(BEGIN), *everything(BY_NAME))}
    return {path.relative_to(TOP).as_posix(): text for path, text in found.items()}


def digest(texts: dict[str, str]) -> str:
    made = hashlib.sha256(f"{z3.get_full_version()} {sys.version_info[:2]}".encode())
    for name, text in sorted(texts.items()):
        meant = stripped(text) if name.endswith(".py") else text
        made.update(f"\n{name} {len(meant)}\n{meant}".encode())
    return made.hexdigest()


@cache
def stripped(text: str) -> str:
    """Returns the program that the text is, without comments and docstrings."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                setattr(node, name, [each for each in block if not _is_text(each)])
    return ast.dump(tree)


def _is_text(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def everything(rooms: Iterable[str]) -> Iterator[Path]:
    for room in rooms:
        yield from (p for suffix in ("py", "toml", "json") for p in sorted((TOP / room).rglob(f"*.{suffix}")))


def imported(modules: Iterable[str]) -> list[Path]:
    """Returns the files of these modules and of all that they import, at the top or within a function."""
    found: dict[str, Path] = {}
    waiting = list(modules)
    while waiting:
        name = waiting.pop()
        path = _file(name)
        if path is None or name in found:
            continue
        found[name] = path
        waiting += [name.rpartition(".")[0], *_imports(path)]
    return sorted(found.values())


@cache
def _imports(path: Path) -> list[str]:
    """Returns the names that a file imports, as modules and as names within them."""
    found: list[str] = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [each.name for each in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.module is not None, f"{path}: a relative import"
            found += [node.module, *(f"{node.module}.{each.name}" for each in node.names)]
    return found


def _file(module: str) -> Path | None:
    """Returns the file of a module of routeproof, or of its tests; None if it is no module, or of another package."""
    top, *parts = module.split(".")
    if top not in ROOTS:
        return None
    path = ROOTS[top].joinpath(*parts)
    return next((file for file in (path / "__init__.py", path.with_suffix(".py")) if parts and file.is_file()), None)


def recorded() -> dict[str, list[str | int]]:
    """Returns what was judged when all was as it is now: by theorem its verdict and how many obligations it has, by
    instance that its answers are allowed and how many there are.
    """
    if not RECORD.exists():
        return {}
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    theorems: dict[str, list[str | int]] = record["theorems"] if record["key"] == key() else {}
    return theorems


def write(theorems: dict[str, list[str | int]]) -> None:
    rows = ",\n".join(f"  {json.dumps(id)}: {json.dumps(row)}" for id, row in theorems.items())
    RECORD.write_text(f'{{"key": "{key()}",\n "theorems": {{\n{rows}\n}}}}\n', encoding="utf-8")


def everything_to_judge() -> list[str]:
    """Returns what the record is to have: theorems, and instances whose answers are judged."""
    from tests.checker.prove import test_refine_everywhere, test_theorems

    theorems = [id for id in test_theorems.EXPECTED if id not in test_theorems.ELSEWHERE]
    return [*theorems, *(ANSWERS + name for name in test_refine_everywhere.NAMES)]


def judged(id: str) -> tuple[str, list[str | int]]:
    """Returns the row of the record with its id."""
    from tests.checker.prove import test_refine_everywhere, test_theorems

    if id.startswith(ANSWERS):
        return id, list(test_refine_everywhere.judged(id.removeprefix(ANSWERS)))
    return id, list(test_theorems.measured(id))


def main() -> None:
    """Judges what is not recorded, on all cores; each process ends after a few, and its memory with it."""
    known, order = recorded(), everything_to_judge()
    missing = [id for id in reversed(order) if id not in known]
    with get_context("spawn").Pool(cores(), maxtasksperchild=8) as pool:
        for id, row in pool.imap_unordered(judged, missing):
            known[id] = row
            print(id, *row, flush=True)
            write({id: known[id] for id in order if id in known})
    shown.renew()


if __name__ == "__main__":
    main()
