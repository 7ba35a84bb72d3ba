"""The traces that ship: each gets the verdict that the table beside them says."""

import re
from pathlib import Path

import pytest

from routeproof.checker.validate import LEVELS, validate

SAMPLES = Path(__file__).resolve().parents[2] / "traces" / "samples"
TABLE = (SAMPLES / "README.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| `(\S+)` \| (\w+) \| (\w+) \| ([A-Z0-9-]*) ?\|", TABLE, re.MULTILINE)


@pytest.mark.parametrize(("name", "level", "verdict", "rule"), ROWS)
def test_verdict(name: str, level: str, verdict: str, rule: str) -> None:
    assert level in LEVELS
    report = validate(SAMPLES / name, level)
    assert report.verdict == verdict
    assert (report.rejections[0].rule if report.rejections else "") == rule


def test_all_of_them_are_there() -> None:
    assert {name for name, *_ in ROWS} == {path.name for path in SAMPLES.glob("*.jsonl")}
