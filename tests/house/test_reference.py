"""The reference pages that are generated from code are those that the code generates today."""

import os
from pathlib import Path

import pytest

from tests.house.reference import CASES, PAGES, ROOT, error_pages

REWRITE = bool(os.environ.get("REWRITE_GOLDEN"))


def compare(name: str, wanted: str) -> None:
    path = ROOT / "docs" / "reference" / f"{name}.md"
    if REWRITE:
        path.write_text(wanted, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == wanted, f"{path.name} is out of date: rewrite it with REWRITE_GOLDEN=1"


@pytest.mark.parametrize("name", PAGES)
def test_a_generated_page_is_up_to_date(name: str) -> None:
    compare(name, PAGES[name]())


def test_the_page_of_errors_is_up_to_date(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every example is run, and prints the line that the page shows."""
    compare("errors", error_pages(tmp_path, monkeypatch))


def test_every_example_of_an_error_is_refused() -> None:
    """An error has exit code 2: exit code 1 would be a verdict."""
    text = (ROOT / "docs" / "reference" / "errors.md").read_text(encoding="utf-8")
    assert text.count("\nExit code 2. ") >= len(CASES)
