"""docs/proofs.md: its example of a theorem is one, and it names what there is."""

import re

from routeproof.checker.prove.outcome import WORDS
from routeproof.checker.prove.theorems import THEOREMS
from tests.checker.command import TOP

DOCUMENT = (TOP / "docs/proofs.md").read_text(encoding="utf-8")


def test_the_example_is_proved() -> None:
    (block,) = re.findall(r"```python\n(.*?)```", DOCUMENT, re.DOTALL)
    exec(compile(block, "docs/proofs.md", "exec"), {})


def test_every_verdict_is_explained() -> None:
    assert all(f"| {words} |" in DOCUMENT for words in WORDS.values())


def test_the_theorems_that_it_names_are_there() -> None:
    named = re.findall(r"`([A-Z][a-z]+[A-Z]\w+)`", DOCUMENT)
    code = {"Obligation", "Examination", "NumberSet", "StringSet"}
    assert {name for name in named if name not in code} <= set(THEOREMS)
