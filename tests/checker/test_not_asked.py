"""A property that is asked for by name and is asked nowhere in an instance that is named too: no report passes it."""

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from routeproof.checker.check.request import jobs_of, not_asked_of, options_of
from routeproof.checker.cli.check import check_parser
from tests.checker.command import Here


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Here:
    return Here(tmp_path, monkeypatch, capsys)


IN_SOME = ("check", "tiny", "--workers", "1", "--github", "--property", "NoLostDelivery", "PropagationTree")
"""PropagationTree is asked under one of tiny's four policies."""

ALSO_NOWHERE = (
    "check",
    "tiny",
    "back2",
    "--workers",
    "1",
    "--github",
    "--property",
    "NoLostDelivery",
    "PropagationTree",
)
"""back2 is an instance of pruning, where PropagationTree means nothing."""

MEANT = "PropagationTree under active, lazy, packing (3 of 4 searches): it is meant for none"


def junit(path: Path) -> dict[tuple[str, str], tuple[str, str]]:
    """By class and name: the tag and the message of each case that did not pass."""
    return {
        (case.attrib["classname"], case.attrib["name"]): (inner.tag, inner.attrib["message"])
        for case in ET.parse(path).iter("testcase")
        for inner in case
        if "message" in inner.attrib
    }


def test_where_some_searches_of_each_instance_ask_it(here: Here) -> None:
    ran = here(*IN_SOME, "--json", "r.json", "--junit", "j.xml")
    assert ran.code == 0
    assert f"not asked: {MEANT}" in " ".join(ran.out.split())
    assert "PASS, but some searches do not evaluate every named property" in ran.out
    assert f"::notice title=PropagationTree::not asked: {MEANT}" in ran.out
    [each] = json.loads((here.directory / "r.json").read_text())["not_asked"]
    assert each == {
        "property": "PropagationTree", "policies": ["active", "lazy", "packing"], "searches": 3, "of": 4, "nowhere": []
    }  # fmt: skip
    assert junit(here.directory / "j.xml") == {
        ("routeproof.run", "PropagationTree"): ("skipped", f"not asked: {MEANT}")
    }


def test_where_no_search_of_an_instance_asks_it(here: Here) -> None:
    ran = here(*ALSO_NOWHERE, "--json", "r.json", "--junit", "j.xml")
    assert ran.code == 3
    assert "PASS" not in ran.out
    assert "UNDETERMINED: no failure, PropagationTree was not evaluated in back2" in " ".join(ran.out.split())
    assert "::warning title=PropagationTree::not asked: PropagationTree under" in ran.out
    report = json.loads((here.directory / "r.json").read_text())
    assert report["exit"] == 3
    assert report["not_asked"][0]["nowhere"] == ["back2"]
    assert junit(here.directory / "j.xml")["routeproof.back2", "PropagationTree"] == (
        "error", "no search of this instance evaluates it: it is meant for none"
    )  # fmt: skip


def test_an_instance_of_which_no_search_is_left(here: Here) -> None:
    ran = here("check", "tiny", "back2", "--property", "PropagationTree")
    assert ran.code == 3
    assert "PropagationTree was not evaluated in back2" in " ".join(ran.out.split())


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (
            ("tiny", "back2", "--policy", "lazy"),
            "these instances are for the policies incremental, selective; found --policy lazy",
        ),
        (("tiny", "prune3", "--mutant", "removals-first"), "differs from the protocol under"),
    ],
)
def test_an_instance_that_was_named_is_not_left_out(here: Here, words: tuple[str, ...], why: str) -> None:
    ran = here("check", *words)
    assert (ran.code, ran.out) == (2, "")
    assert f"no search would be of {words[1]}: " in ran.err
    assert why in ran.err


def test_where_no_instance_is_named_the_question_is_about_those_that_it_is_meant_for() -> None:
    arguments = check_parser().read(["--property", "PropagationTree"])
    options = options_of(arguments)
    assert {job.policy for job in jobs_of(arguments, options)} == {"none"}
    [each] = not_asked_of(arguments, options)
    assert each.nowhere == ()
