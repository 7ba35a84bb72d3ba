"""`routeproof explain`: every name that a report may print has an explanation."""

import json

import pytest

from routeproof.checker.cli import main
from routeproof.checker.cli.names import VERDICTS, explain
from routeproof.model.protocols import MUTANTS
from routeproof.spec.catalogues import CLAIMS, RULES
from routeproof.spec.properties import PROPERTIES


@pytest.mark.parametrize("known", [RULES, PROPERTIES, CLAIMS, MUTANTS, VERDICTS], ids=len)
def test_every_name_is_explained(known: dict[str, object]) -> None:
    for name in known:
        explained = explain(name)
        assert explained.name == name
        assert explained.title
        assert all(lines and all(lines) for lines in explained.facts.values()), name
        assert max(map(len, explained.text().splitlines())) <= 100, name


def test_a_rule_has_its_whole_text_its_source_and_its_tests(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "cov-8"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("COV-8  rule of routing\n")
    for wanted in (
        "sends Unsub(s) for every sent subscription",
        "spec/routing.md",
        "000 I",
        "quotes3",
        "removals-first:",
    ):
        assert wanted in printed
    assert "**" not in printed
    assert all(explain(rule).facts["text"] != ["See the page."] for rule in RULES)
    assert len(explain("TRC-7").facts["text"]) > 4, "the list in the rule is part of it"


def test_a_property_and_a_claim_say_where_they_are_asked(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "PROP-2-lazy", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["kind"] == "claim"
    assert "prop2-under-lazy.jsonl" in shown["facts"]["smallest counterexample"][0]
    assert "loss2" in explain("NoLostDelivery").facts["must fail in"][0]


def test_what_is_unknown_is_refused_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "COV-88"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
