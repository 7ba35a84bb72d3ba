"""The record of generated mutants (`mutants.json`) is up to date: what it names exists, and a sample is caught."""

from __future__ import annotations

import importlib
import json
import os
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.quality.cases import KINDS, MODULES, Case, measured, prepare
from tests.quality.generated import Mutant, mutants
from tests.quality.made_up import MADE_UP, follow_made_up
from tests.quality.mutation import RECORD, caught_by

PAGE = Path(__file__).resolve().parents[2] / "docs" / "explanation" / "mutants.md"
RECORDED: dict[str, dict[str, Any]] = json.loads(RECORD.read_text(encoding="utf-8"))
CAUGHT = KINDS


@pytest.fixture(scope="module")
def made_up() -> list[Case]:
    for module in MODULES:
        importlib.import_module(module)
    return [measured("lockstep", partial(follow_made_up, talk)) for talk in MADE_UP]


def test_each_mutant_that_is_left_exists_and_has_a_reason() -> None:
    for module, row in RECORDED.items():
        known = {each.key for each in mutants(module)}
        gone = set(row["left"]) - known
        assert not gone, f"{module} has changed: play its mutants again (tests/quality/mutation.py); gone: {gone}"
        assert all(reason for reason in row["left"].values())


def test_the_record_adds_up() -> None:
    for row in RECORDED.values():
        assert row["mutants"] == sum(row.get(kind, 0) for kind in CAUGHT) + len(row["left"])


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
    head = "| module | mutants | lockstep | search | tests | left |\n|---|--:|--:|--:|--:|--:|\n"
    before, after = text.split(head)
    table = "".join(f"{line}\n" for line in rows())
    if os.environ.get("REWRITE_GOLDEN"):
        PAGE.write_text(
            f"{before}{head}{table}\n{after[after.index('`tests/quality/mutants.json`') :]}", encoding="utf-8"
        )
        return
    assert after.startswith(table + "\n")


def rows() -> list[str]:
    found = [
        [
            f"`{module.removeprefix('routeproof.')}`",
            *(row["mutants"], row.get("lockstep", 0), row.get("search", 0), row.get("tests", 0), len(row["left"])),
        ]
        for module, row in RECORDED.items()
    ]
    total = ["all", *(sum(row[n] for row in found) for n in range(1, 6))]
    return [f"| {' | '.join(map(str, row))} |" for row in (*found, total)]


@pytest.mark.campaign
@pytest.mark.parametrize("module", RECORDED)
def test_only_those_with_a_reason_are_left(module: str) -> None:
    every: tuple[Mutant, ...] = mutants(module)
    cases = prepare()
    left = {each.key for each in every if not caught_by(each, cases)}
    assert left <= set(RECORDED[module]["left"])
