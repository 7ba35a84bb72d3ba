"""The record of generated mutants (`mutants.json`) is up to date: what it names exists, and a sample is caught."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.quality.cases import KINDS, MODULES, ROOT, Case, measured
from tests.quality.generated import mutants
from tests.quality.made_up import MADE_UP, follow_made_up
from tests.quality.mutation import RECORD, Played, caught_by, is_left

PAGE = ROOT / "docs" / "explanation" / "mutants.md"
RECORDED: dict[str, dict[str, Any]] = json.loads(RECORD.read_text(encoding="utf-8"))
HEAD = (
    "| module | mutants | lockstep | replay | search | tests | the same | left | % caught |\n"
    "|---|--:|--:|--:|--:|--:|--:|--:|--:|\n"
)


def caught(row: dict[str, Any]) -> int:
    return sum(row.get(kind, 0) for kind in KINDS)


@pytest.fixture(scope="module")
def made_up() -> list[Case]:
    for module in MODULES:
        importlib.import_module(module)
    return [measured("lockstep", partial(follow_made_up, talk)) for talk in MADE_UP]


def test_every_mutant_is_in_the_record() -> None:
    for module, row in RECORDED.items():
        known = {each.key for each in mutants(module)}
        assert row["mutants"] == len(known), f"{module} has changed: play it again (tests/quality/mutation.py)"
        gone = {*row["same"], *row["left"]} - known
        assert not gone, f"{module} has changed: play its mutants again (tests/quality/mutation.py); gone: {gone}"


def test_each_mutant_that_is_not_caught_has_a_reason() -> None:
    for row in RECORDED.values():
        assert all((*row["same"].values(), *row["left"].values()))
        assert not set(row["same"]) & set(row["left"])


def test_the_record_adds_up() -> None:
    for row in RECORDED.values():
        assert row["mutants"] == caught(row) + len(row["same"]) + len(row["left"])


@pytest.mark.parametrize("package", ["model", "impl"])
def test_of_what_changes_anything_97_percent_is_caught(package: str) -> None:
    mine = [row for module, row in RECORDED.items() if module.startswith(f"routeproof.{package}.")]
    assert sum(map(caught, mine)) >= 0.97 * sum(row["mutants"] - len(row["same"]) for row in mine)


def test_every_module_is_in_the_record() -> None:
    assert set(RECORDED) == {module for module in MODULES if mutants(module)}


@pytest.mark.parametrize("module", [module for module, row in RECORDED.items() if "daily" in row])
def test_a_sample_is_caught_by_talks_that_were_made_up(module: str, made_up: list[Case]) -> None:
    sample = [each for each in mutants(module) if each.key in RECORDED[module]["daily"]]
    assert len(sample) == len(RECORDED[module]["daily"]) >= 8
    assert [each.key for each in sample if caught_by(each, made_up) != "lockstep"] == []


def test_a_mutant_that_changes_nothing_is_not_caught(made_up: list[Case]) -> None:
    key = "Routing.goes_before: comparison: (t not in sent, by_id(t)) < (s not in sent, by_id(s))"
    [same] = [each for each in mutants("routeproof.model.routing") if each.key == key]
    assert caught_by(same, made_up) == ""


def test_a_mutant_that_does_not_end_is_caught(made_up: list[Case]) -> None:
    [update] = [each for each in mutants("routeproof.model.routing") if each.key.startswith("StepEffects.send: update")]

    def endless() -> None:
        while True:
            pass

    case = Case("lockstep", endless, made_up[0].reaches, 0.0)
    assert caught_by(update, [case]) == "lockstep, which does not end"


def test_the_documented_table_is_the_record() -> None:
    text = PAGE.read_text(encoding="utf-8")
    before, after = text.split(HEAD)
    table = "".join(f"{line}\n" for line in rows())
    if os.environ.get("REWRITE_GOLDEN"):
        rest = after[after.index("\n\n") + 1 :]
        PAGE.write_text(before + HEAD + table + rest, encoding="utf-8")
        return
    assert after.startswith(table + "\n")


def rows() -> list[str]:
    """One for each module, and sums for the model, for the implementation, and for both."""
    found = []
    for module, row in RECORDED.items():
        kinds = [row.get(kind, 0) for kind in KINDS]
        name = f"`{module.removeprefix('routeproof.')}`"
        found.append([name, row["mutants"], *kinds, len(row["same"]), len(row["left"])])
    sums = [["all", ""], ["all of `model/`", "`model."], ["all of `impl/`", "`impl."]]
    for name, beginning in reversed(sums):
        mine = [row for row in found if row[0].startswith(beginning) and not row[0].startswith("all")]
        found.append([name, *(sum(row[n] for row in mine) for n in range(1, 8))])
    return [f"| {' | '.join(map(str, (*row, percentage(row))))} |" for row in found]


def percentage(row: list[Any]) -> str:
    """How many are caught of those that change anything."""
    differ = row[1] - row[6]
    return f"{100 * (differ - row[7]) / differ:.1f}" if differ else ""


@pytest.mark.campaign
@pytest.mark.parametrize("module", RECORDED)
def test_only_those_with_a_reason_are_left(module: str, tmp_path: Path) -> None:
    """Each module in a process of its own: unit tests are asked within one that pytest has begun."""
    out = tmp_path / "out.jsonl"
    subprocess.run([sys.executable, "-m", "tests.quality.mutation", str(out), module], cwd=ROOT, check=True)
    left = {key for (_, key), answer in Played(out).known().items() if is_left(answer)}
    assert left <= {*RECORDED[module]["same"], *RECORDED[module]["left"]}
