"""A number with its noun comes from one function, `checker.system.printable.count`: no report says "1 states"."""

import re
from pathlib import Path

import pytest

from routeproof.checker.system.terminal import count

ROOT = Path(__file__).resolve().parents[2]
NOUNS = "states|steps|examples|links|searches"
UNCOUNTED = re.compile(rf"\{{(?!count\(|[A-Z_]+(?::,)?\}})[^{{}}\"']+\}} (?:{NOUNS})\b")
"""An f-string with a number that is no constant, and a plural behind it."""


@pytest.mark.parametrize(
    ("number", "words"), [(0, "0 states"), (1, "1 state"), (2, "2 states"), (1234, "1,234 states")]
)
def test_a_number_with_its_noun(number: int, words: str) -> None:
    assert count(number, "state") == words


def test_an_irregular_plural() -> None:
    assert [count(n, "search", "searches") for n in (1, 2)] == ["1 search", "2 searches"]


def test_no_report_has_a_plural_of_its_own() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for path in sorted((ROOT / "checker").rglob("*.py"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if UNCOUNTED.search(line)
    ]
    assert not found, "use `count` of checker/system/terminal.py:\n" + "\n".join(found)


@pytest.mark.parametrize("line", ['f"{n} states"', 'f"{len(x):,} steps, "', 'f"{self.of:,} searches)"'])
def test_a_plural_of_ones_own_is_found(line: str) -> None:
    assert UNCOUNTED.search(line)


@pytest.mark.parametrize("line", ['f"{SMALL:,} states"', "f\"{count(n, 'state')} states\"", 'f"{what} each state"'])
def test_other_words_are_none(line: str) -> None:
    assert not UNCOUNTED.search(line)
