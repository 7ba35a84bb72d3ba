"""Tests that were passed before, by the text of everything that they come from.

A test that is marked `recorded` asks Z3, or explores, and its outcome depends on nothing but the code: no clock, no
machine, no chance. While the text of the modules that were loaded when it passed last, of the model and the theory, of
the tables beside it and of the counterexamples that ship, and the versions of Z3 and Python are what they were then
(`tests/digests.py`; the record is `shown.json`), the daily run does not ask again. A campaign asks all of them, and so
does a daily run after any of that text has changed. The record is renewed with that of the theorems:

    .venv/bin/python -m tests.checker.prove.proved
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import pytest

from tests import digests
from tests.campaigns import daily

TOP = Path(__file__).resolve().parent
RECORD = TOP / "shown.json"

PROOFS = "tests/checker/prove/proved.json"
"""The record of theorems, which is no table of a test."""

PASSED = "ROUTEPROOF_PASSED"
"""Environment variable: the file to which a run of tests appends the recorded tests that it passed. It runs no others,
since what they load would count.
"""

CORPUS = tuple(f"routeproof/traces/corpus/{path.name}" for path in (digests.TOP / "traces" / "corpus").glob("*.jsonl"))
"""The counterexamples that ship."""

FIXTURE = "asked_again"

MARKED = re.compile(r"^(@recorded|pytestmark = RECORDED)$", re.MULTILINE)

Test = TypeVar("Test", bound=Callable[..., None])


def _words(again: bool) -> str:
    return "asked-again" if again else "recorded"


RECORDED = [
    pytest.mark.usefixtures(FIXTURE),
    pytest.mark.parametrize(FIXTURE, daily((False, True), lambda again: not again), indirect=True, ids=_words),
]
"""Marks of all tests of a file (`pytestmark = RECORDED`), if each depends on nothing but code."""


def recorded(test: Test) -> Test:
    """Marks a test that is asked again only if something has changed that it comes from; a campaign asks it anyway."""
    for mark in RECORDED:
        test = mark(test)
    return test


def sampled(cases: Iterable[Any], is_sample: Callable[[Any], bool]) -> list[Any]:
    """Returns parameters of a recorded test. The sample is asked every day whatever is recorded, so that the ways on
    which outcomes are found are tried; the cases of a campaign are left as they are.
    """
    return [case if isinstance(case, FOR_CAMPAIGN) or not is_sample(case) else _daily(case) for case in cases]


FOR_CAMPAIGN = type(pytest.param())
"""Cases that are marked already."""


def _daily(case: Any) -> Any:
    return pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.asked_daily)


@pytest.fixture
def asked_again(request: pytest.FixtureRequest) -> bool:
    """True if a test is to be asked whatever is recorded."""
    again: bool = request.param
    return again


def is_recorded(item: pytest.Function) -> bool:
    """True if a test is one that is recorded, and is not to be asked whatever is recorded."""
    call = getattr(item, "callspec", None)
    return call is not None and call.params.get(FIXTURE) is False and item.get_closest_marker("asked_daily") is None


def is_known(item: pytest.Function) -> bool:
    """True if a recorded test passed when all that it comes from was as it is now."""
    return PASSED not in os.environ and is_recorded(item) and _name(item) in known().get(_file(item), ())


def note(item: pytest.Function) -> None:
    """Appends a recorded test that has passed, and what is loaded, to the file of this run, if it writes one."""
    if PASSED in os.environ and is_recorded(item):
        with Path(os.environ[PASSED]).open("a", encoding="utf-8") as file:
            file.write(json.dumps([_name(item), sorted(digests.loaded())]) + "\n")


def is_asked(item: pytest.Item) -> bool:
    """True if a test is part of this run: one that writes what it passed has none but those that are recorded."""
    return PASSED not in os.environ or (isinstance(item, pytest.Function) and is_recorded(item))


def _file(item: pytest.Function) -> str:
    return item.path.relative_to(TOP).as_posix()


def _name(item: pytest.Function) -> str:
    return item.nodeid.partition("::")[2]


@cache
def known() -> dict[str, frozenset[str]]:
    """Returns the tests that passed when all was as it is now, by file."""
    return {file: frozenset(row["passed"]) for file, row in _record().items() if row["key"] == key(file, row["loaded"])}


def _record() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}
    return found


def key(file: str, loaded: Iterable[str]) -> str:
    """Returns the digest of all that the tests of a file come from, as it is now, given what was loaded for them."""
    tables = [f"tests/{path.relative_to(TOP).as_posix()}" for path in (TOP / file).parent.glob("*.json")]
    return digests.key({*loaded, *tables, *CORPUS} - {PROOFS})


def files() -> list[str]:
    """Returns the files with tests that are recorded."""
    found = (path for path in sorted(TOP.rglob("test_*.py")) if MARKED.search(path.read_text(encoding="utf-8")))
    return [path.relative_to(TOP).as_posix() for path in found]


def renew() -> None:
    """Runs the tests of every file that is not recorded as it is now, and writes what passed."""
    record = {file: row for file, row in _record().items() if file in known()}
    for file in files():
        if file not in record:
            passed, loaded = _run(file)
            record[file] = {"key": key(file, loaded), "loaded": sorted(loaded), "passed": sorted(passed)}
            print(file, len(passed), flush=True)
            RECORD.write_text(json.dumps(record, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def _run(file: str) -> tuple[set[str], set[str]]:
    """Returns the recorded tests of a file that passed, and what was loaded for them."""
    with TemporaryDirectory() as folder:
        passed = Path(folder) / "passed"
        passed.touch()
        command = [sys.executable, "-m", "pytest", "-n", "2", "--dist", "load", f"tests/{file}"]
        subprocess.run(command, cwd=TOP.parent, env={**os.environ, PASSED: str(passed)}, check=True)
        rows = [json.loads(line) for line in passed.read_text(encoding="utf-8").splitlines()]
    return {name for name, _ in rows}, {each for _, loaded in rows for each in loaded}
