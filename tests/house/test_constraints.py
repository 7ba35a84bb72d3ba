"""constraints.txt pins everything that pyproject.toml asks for, directly or not, and nothing else."""

import re
import tomllib
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
EXTRAS: dict[str, list[str]] = PROJECT["project"]["optional-dependencies"]
OWN = "routeproof["
"""The extra `dev` names the other extras by the distribution itself."""
DECLARED = [
    *PROJECT["project"]["dependencies"],
    *(line for extra in EXTRAS.values() for line in extra if not line.startswith(OWN)),
]
BENCH = {"polars", "polars-runtime-32"}
"""Packages of the extra `bench`: pinned, and not installed where tests run."""
LINES = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
PINS = {
    canonicalize_name(name): version
    for name, _, version in (line.partition("==") for line in LINES if not line.startswith("#"))
}


def closure(declared: Iterable[str], *, whatever_the_platform: bool) -> set[str]:
    """The names of all that `declared` needs, read from what is installed here."""
    seen: set[tuple[str, str]] = set()
    waiting = [Requirement(line) for line in declared]
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        for extra in ("", *requirement.extras):
            if (name, extra) in seen:
                continue
            seen.add((name, extra))
            for line in _requires(name, missing_is_fine=whatever_the_platform):
                needed = Requirement(line)
                marker = str(needed.marker or "")
                if "extra" in marker and not extra:
                    continue
                if not needed.marker or whatever_the_platform or needed.marker.evaluate({"extra": extra}):
                    waiting.append(needed)
    return {name for name, _ in seen}


def _requires(name: str, *, missing_is_fine: bool) -> list[str]:
    try:
        return requires(name) or []
    except PackageNotFoundError:
        assert missing_is_fine, f"{name} is not installed here: run the set-up in CONTRIBUTING.md again"
        return []


def test_lines_are_plain_pins() -> None:
    assert "Regenerate with: " in "\n".join(line for line in LINES if line.startswith("#"))
    for line in LINES:
        assert line.startswith("#") or re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.+!]+", line), line


@pytest.mark.parametrize("line", DECLARED)
def test_declared_dependency_is_pinned_within_its_range(line: str) -> None:
    requirement = Requirement(line)
    pin = PINS.get(canonicalize_name(requirement.name))
    assert pin is not None, f"{requirement.name} has no line in constraints.txt: run .ci/lock"
    assert requirement.specifier.contains(pin), f"pinned at {pin}, declared as {line}: run .ci/lock"


def test_what_they_need_in_turn_is_pinned_too() -> None:
    installed = [line for line in DECLARED if Requirement(line).name not in BENCH]
    missing = closure(installed, whatever_the_platform=False) - set(PINS)
    assert not missing, f"no line in constraints.txt for {sorted(missing)}: run .ci/lock"


def test_nothing_is_pinned_that_nobody_needs() -> None:
    left_over = set(PINS) - closure(DECLARED, whatever_the_platform=True) - BENCH
    assert not left_over, f"nothing asks for {sorted(left_over)}: run .ci/lock"


def test_the_dev_group_is_the_dev_extra() -> None:
    assert PROJECT["dependency-groups"]["dev"] == EXTRAS["dev"]


def test_the_dev_extra_brings_what_tests_need() -> None:
    (own,) = (Requirement(line) for line in EXTRAS["dev"] if line.startswith(OWN))
    assert own.extras == set(EXTRAS) - {"bench", "dev"}
