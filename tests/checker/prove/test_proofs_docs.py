"""The examples of docs/explanation/proofs.md and proofs-routing.md run, and their lists of names are complete."""

import re

import pytest

from routeproof.checker.prove.solve import WORDS
from routeproof.checker.prove.theorems import THEOREMS
from routeproof.spec.theory.invariants import ROUTING
from tests.checker.command import TOP
from tests.checker.prove.test_theorems import EXPECTED

PROOFS, ROUTES = (
    (TOP / f"docs/explanation/{name}.md").read_text(encoding="utf-8") for name in ("proofs", "proofs-routing")
)


def test_the_example_is_proved() -> None:
    (block,) = re.findall(r"```python\n(.*?)```", PROOFS, re.DOTALL)
    exec(compile(block, "docs/explanation/proofs.md", "exec"), {})


def test_the_example_is_refuted_as_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    ((block, said),) = re.findall(r"```python\n(.*?)```\n+```text\n(.*?)```", ROUTES, re.DOTALL)
    exec(compile(block, "docs/explanation/proofs-routing.md", "exec"), {"__name__": "example"})
    assert capsys.readouterr().out == said


ROW = re.compile(r"^(\w+) +([\d,]+) +[\d.]+ s +(.+)$", re.MULTILINE)


@pytest.mark.parametrize(("name", "rows"), [("proofs-propagation", 6), ("proofs-routing", 1)])
def test_the_blocks_have_the_figures_that_are_recorded(name: str, rows: int) -> None:
    """The blocks themselves are run by campaigns (`tests/house/test_documents.py`)."""
    found = ROW.findall((TOP / f"docs/explanation/{name}.md").read_text(encoding="utf-8"))
    assert len(found) == rows
    for id, obligations, words in found:
        verdict, count = EXPECTED[id]
        assert (words, int(obligations.replace(",", ""))) == (WORDS[verdict], count)


def test_every_verdict_is_explained() -> None:
    assert all(f"| {words} |" in PROOFS for words in WORDS.values())


@pytest.mark.parametrize("document", [PROOFS, ROUTES], ids=["proofs", "proofs-routing"])
def test_the_theorems_that_it_names_are_there(document: str) -> None:
    named = re.findall(r"`([A-Z][a-z]+[A-Z]\w+)`", document)
    code = {"Obligation", "Examination", "NumberSet", "StringSet", "WorldStep", "StepView", "HandlerStep", "WorldState"}
    assert {name for name in named if name not in code} <= set(THEOREMS)


def test_every_invariant_of_routing_is_named() -> None:
    said = ROUTES.replace("adv and unadv are news", "adv is news, unadv is news")
    said = " ".join(said.split())
    aside = {"handled was published"}
    aside |= {"heard was advertised", "unadvertised was advertised", "origin heard", "origin knows what is active"}
    assert {name for name in ROUTING.conjuncts if name not in said} == aside
