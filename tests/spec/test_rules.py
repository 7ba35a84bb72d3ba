"""Rules: every id is in the prose under its own heading, cited in the model, and known where it is used."""

import re
from pathlib import Path

import pytest

from routeproof.model.protocols import MUTANTS
from routeproof.spec.catalogues import RULES
from routeproof.spec.properties import PROPERTIES
from routeproof.spec.specification import Rule

ROOT = Path(__file__).resolve().parents[2]
ID = re.compile(rf"\b(?:{'|'.join(sorted({id.partition('-')[0] for id in RULES}))})-\d+\b")


def read(folder: str, pattern: str) -> str:
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / folder).glob(pattern)))


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda r: r.id)
def test_prose_and_model_know_the_rule(rule: Rule) -> None:
    prose = (ROOT / "spec" / f"{rule.protocol}.md").read_text(encoding="utf-8")
    begins = re.findall(rf"^\*\*{rule.id}\b", prose, re.MULTILINE)
    assert len(begins) == 1, "one paragraph in the prose begins with the id"
    where = "checker/validate" if rule.protocol == "traces" else "model"
    cited = ID.findall(read(where, "**/*.py"))
    if not rule.fires:  # or where its ghost is: similarity is no handler's business
        cited += ID.findall(read("spec", "*.py").replace(read("spec", "rules.py"), ""))
        cited += ID.findall(read("spec", f"{rule.protocol}/*.py"))
    assert rule.id in cited, "it is cited where it is implemented"


COMPUTED = set(
    re.findall(r"^\*\*([A-Z]+-\d+)\*\*", (ROOT / "spec/trees/computation.md").read_text("utf-8"), re.MULTILINE)
)
"""Rules of a computation, which no handler applies."""


def test_nobody_cites_a_rule_that_does_not_exist() -> None:
    for folder in ("model", "spec", "checker"):
        assert set(ID.findall(read(folder, "**/*.py"))) <= {*RULES, *COMPUTED}, folder
    for protocol in {rule.protocol for rule in RULES.values()}:
        cited = set(ID.findall((ROOT / "spec" / f"{protocol}.md").read_text(encoding="utf-8")))
        assert cited >= {rule.id for rule in RULES.values() if rule.protocol == protocol}
        assert cited <= set(RULES)


def test_mutants_break_rules_that_exist() -> None:
    assert {m.rule for m in MUTANTS.values()} <= set(RULES)


def test_the_prose_lists_every_property() -> None:
    prose = read("spec", "*.md")
    assert all(re.search(rf"\b{id}\b", prose) for id in PROPERTIES)
