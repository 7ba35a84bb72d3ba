"""Written results are the same under any hash seed, number of workers, locale, time zone and order of files.

Fuzzing, proofs and runs of the reference implementation are compared in tests/checker/test_same_everywhere.py.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from routeproof.checker import instances
from tests.attack import sources
from tests.attack.checkpoints import comparable
from tests.campaigns import daily
from tests.checker.command import COMMAND, TOP, environment

SETTINGS: tuple[Mapping[str, str], ...] = (
    {"PYTHONHASHSEED": "0", "LC_ALL": "C.UTF-8", "TZ": "UTC"},
    {"PYTHONHASHSEED": "1", "LC_ALL": "tr_TR.UTF-8", "LANG": "de_DE", "TZ": "Pacific/Kiritimati", "COLUMNS": "40"},
    {"PYTHONHASHSEED": "4294967295", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "TZ": "<+3>-3:30"},
)

WORKERS = ("1", "2", "3")

THRICE = ("check", "validate")
"""Commands that are run under all three settings; the others under the first two."""

TIMES = re.compile(rb"[0-9,.]+ s\b|[0-9,]+ messages/s")
"""Times that are measured, as reports have them."""

SAMPLES = tuple(sorted(map(str, (TOP / "traces" / "samples").glob("*.jsonl"))))
SHIPPED = tuple(
    str(TOP / "model" / f"{name}.toml") for name in ("instances/tiny", "instances/loss2", "pruning/instances/prune3")
)

COMMANDS: dict[str, Callable[[int], list[str]]] = {
    "check": lambda number: [
        *("check", "tiny", "line3", "--mutant", "removals-first", "--workers", WORKERS[number]),
        *("--json", "r.json", "--junit", "r.xml", "--github", "--traces", "found"),
    ],
    "check of files": lambda number: [
        *("check", "--workers", WORKERS[number], "--json", "r.json"),
        *(word for path in _turned(SHIPPED, number) for word in ("--instance", path)),
    ],
    "validate": lambda number: ["validate", *_turned(SAMPLES, number), "--json", "r.json"],
    "shrink": lambda _: ["shrink", str(sources.TRACES / "corpus" / "prop2-under-lazy.jsonl"), "-o", "small.jsonl"],
}


def _turned(files: tuple[str, ...], number: int) -> tuple[str, ...]:
    return files[::-1] if number == 1 else files[number:] + files[:number]


@pytest.mark.parametrize("name", COMMANDS)
def test_results_are_the_same(name: str, tmp_path: Path) -> None:
    first, *others = (results(name, number, tmp_path / str(number)) for number in range(3 if name in THRICE else 2))
    assert first["exit"] in (0, 1, 3)
    for other in others:
        assert other == first


def results(name: str, number: int, here: Path) -> dict[str, object]:
    """Everything that the command gives under one of the settings: exit code, output, and every file that it writes."""
    here.mkdir()
    argv = [*COMMAND, *COMMANDS[name](number)]
    env = environment(**SETTINGS[number])
    done = subprocess.run(
        argv, cwd=here, env=env, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=120
    )
    assert done.returncode != 2, done.stderr
    found: dict[str, object] = {"exit": done.returncode, "err": done.stderr}
    if name not in ("validate", "check of files"):  # reports come in the order of the files
        found["out"] = TIMES.sub(b"", done.stdout)
    for path in sorted(here.rglob("*")):
        if path.is_file():
            found[str(path.relative_to(here))] = content(path)
    return found


def content(path: Path) -> object:
    if path.suffix == ".json":
        return in_order(comparable(json.loads(path.read_bytes())))
    if path.suffix == ".xml":
        return re.sub(rb' time="[^"]*"', b"", path.read_bytes())
    return path.read_bytes()


def in_order(report: Any) -> Any:
    """The report with what comes in the order of the files in an order of its own, and without what is measured."""
    found = {key: each for key, each in report.items() if key != "measured"}
    for key in ("reports", "results", "failures", "warnings"):
        if key in found:
            found[key] = sorted(found[key], key=json.dumps)
    return found


SEARCH = ("check", "star4", "--policy", "lazy", "--json", "r.json")


@pytest.mark.parametrize("after", daily([0.0, 0.4], bool))
def test_a_search_that_was_killed_goes_on_as_if_it_had_not_been(after: float, tmp_path: Path) -> None:
    """`kill -9` at whatever moment: what it had saved before is whole, and the result is that of one search."""
    common = [*COMMAND, *SEARCH, "--workers", "1"]

    def ran(*more: str) -> Any:
        subprocess.run([*common, *more], cwd=tmp_path, env=environment(), capture_output=True, check=False, timeout=120)
        return comparable(json.loads((tmp_path / "r.json").read_bytes()))

    whole = ran()
    ran("--checkpoint", "c", "--max-states", "500")
    words = [*common, "--checkpoint", "c", "--max-states", "1000"]
    killed = subprocess.Popen(words, cwd=tmp_path, env=environment(), stdout=subprocess.DEVNULL)
    with contextlib.suppress(subprocess.TimeoutExpired):
        killed.wait(after)
    killed.kill()
    killed.wait()
    assert ran("--checkpoint", "c") == whole


def test_what_ships_does_not_depend_on_the_order_of_a_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    usual, listed = [each.name for each in instances.shipped()], os.listdir
    monkeypatch.setattr(os, "listdir", lambda *args: sorted(listed(*args), reverse=True))
    instances.shipped.cache_clear()
    try:
        assert [each.name for each in instances.shipped()] == usual
    finally:
        instances.shipped.cache_clear()


def test_a_result_that_differs_is_seen(tmp_path: Path) -> None:
    """What is taken out of reports before they are compared is not all that there is in them."""
    (tmp_path / "r.json").write_text('{"results": [{"states": 1, "seconds": 1}], "exit": 0}')
    one = content(tmp_path / "r.json")
    (tmp_path / "r.json").write_text('{"results": [{"states": 2, "seconds": 2}], "exit": 0}')
    assert one != content(tmp_path / "r.json")
