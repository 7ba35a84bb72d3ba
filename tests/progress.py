"""How far the campaign has come with this code, so that it can be run in pieces.

    python -m pytest -m campaign --rest

A campaign keeps how each of its tests ended in pytest's cache, as soon as it has, with a digest of what it comes from:
routeproof, what tests share, and the file of the test. With `--rest` those that have passed are left out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from attrs import field, frozen

from tests import digests

WORD = re.compile(r"\btest_\w+")

RECORDS = ("tests/shown.json", "tests/checker/prove/proved.json")
"""What was shown before, which a campaign does not look at."""


@cache
def key(file: str) -> str:
    """Returns the digest of what the tests of a file come from."""
    shared, alone = _texts()
    return digests.digest({"shared": shared, file: alone.get(file, "")})[:16]


@cache
def _texts() -> tuple[str, dict[str, str]]:
    """Returns the digest of what tests share, and the text of each file of tests that no other file names."""
    rooms = [path for path in digests.TOP.iterdir() if path.is_dir()]
    texts = dict(text for folder in (*rooms, digests.ROOTS["tests"]) for text in digests.below(folder))
    texts = {name: text for name, text in texts.items() if name not in RECORDS}
    named = Counter(word for text in texts.values() for word in set(WORD.findall(text)))
    files = [name for name in texts if (stem := Path(name).stem).startswith("test_") and not named[stem]]
    alone = {name: texts.pop(name) for name in files}
    return digests.digest(texts), alone


def begin(config: pytest.Config) -> None:
    """Has a campaign keep how its tests end, and leave out what has passed if that is wanted."""
    if config.option.markexpr != "campaign":
        if config.option.rest:
            raise pytest.UsageError("--rest is for campaigns; add: -m campaign")
    elif (given := getattr(config, "workerinput", None)) is not None:
        config.pluginmanager.register(Rest(frozenset(given["passed"])))
    elif config.pluginmanager.hasplugin("cacheprovider"):
        ended = Ended(config.cache.mkdir("campaign") / "ended")
        passed = frozenset(test for test, how in ended.known().items() if config.option.rest and how == "passed")
        config.pluginmanager.register(Rest(passed))
        config.pluginmanager.register(Progress(ended, passed))


@frozen
class Ended:
    """A file with a line for each test of a campaign that has ended: with which code, how, and its name."""

    path: Path

    def add(self, test: str, how: str) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.write(f"{key(_file(test))} {how} {test}\n")

    def known(self) -> dict[str, str]:
        """Returns how each test ended that was run with this code: the last time."""
        lines = self.path.read_text(encoding="utf-8").splitlines() if self.path.exists() else []
        rows = (line.split(" ", 2) for line in lines)
        return {test: how for made, how, test in rows if made == key(_file(test))}


@frozen
class Rest:
    """Leaves out tests that have passed."""

    passed: frozenset[str]

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid in self.passed])
        items[:] = [item for item in items if item.nodeid not in self.passed]


@frozen(eq=False)
class Progress:
    """Writes down how tests end, and says at the end how far the campaign has come."""

    ended: Ended
    passed: frozenset[str]
    _wanted: set[str] = field(init=False, factory=set)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self._wanted.update(item.nodeid for item in session.items)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        self._wanted.update(ids)

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Workers of pytest-xdist leave out the same tests."""
        node.workerinput["passed"] = sorted(self.passed)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or not report.passed:
            self.ended.add(report.nodeid, report.outcome)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        known = self.ended.known()
        count, left = Counter(known.values()), len(self._wanted - known.keys())
        terminalreporter.write_line(
            f"of the campaign, with this code: {count['passed']} passed, {count['failed']} failed, "
            f"{count['skipped']} skipped; of the tests asked for now, {left} not run yet"
        )


def _file(test: str) -> str:
    return test.partition("::")[0]
