"""docs/reference/command-line.md says what the command line does: its examples are tried, its lists compared."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from routeproof.checker.cli import COMMANDS
from routeproof.model import instance_file
from tests.checker.command import TOP, Here

DOCUMENT = (TOP / "docs/reference/command-line.md").read_text(encoding="utf-8")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Here:
    return Here(tmp_path, monkeypatch, capsys)


def block(language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", DOCUMENT, re.DOTALL)
    assert found, language
    return found[1]


def test_the_instance_can_be_checked(here: Here) -> None:
    here.write("mine.toml", block("toml"))
    assert here("check", "--instance", "mine.toml").code == 0


def test_the_error_is_the_one_that_is_shown(here: Here) -> None:
    here.write("mine.toml", block("toml").replace("at = 1", "at = 3"))
    assert f"    {here('check', '--instance', 'mine.toml').err}" in DOCUMENT


def test_the_report_is_the_one_that_is_shown(here: Here) -> None:
    shown = json.loads(block("json"))
    report: dict[str, Any] = json.loads(here("check", "line3", "--policy", "active", "--json", "-").out)
    (wanted,), (seen,) = shown["results"], report["results"]
    assert {**shown, "results": []} == {**report, "results": []}
    for key, value in wanted.items():
        if key not in ("seconds", "properties", "rules"):
            assert seen[key] == value, key
    assert wanted.keys() == seen.keys()
    assert wanted["properties"]["NoLostDelivery"] == seen["properties"]["NoLostDelivery"]
    assert wanted["rules"].items() <= seen["rules"].items()


def test_every_key_of_an_instance_is_explained() -> None:
    for key in (*instance_file.REQUIRED, *instance_file.OPTIONAL, *instance_file.FAULT_KINDS):
        assert re.search(rf"`(\[+)?{key}\]*`", DOCUMENT), key


def test_every_command_is_named() -> None:
    assert all(f"    routeproof {name}" in DOCUMENT for name in COMMANDS)
