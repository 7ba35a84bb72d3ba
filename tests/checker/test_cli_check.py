"""`routeproof check`: verdicts, exit codes, reports. Small instances, and the real explorer."""

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from routeproof.checker import explore as explorer
from routeproof.checker.evaluation import Finding, Result
from tests.checker.command import Here, run
from tests.model.malformed import GOOD


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Here:
    return Here(tmp_path, monkeypatch, capsys)


def results(here: Here, *argv: object) -> dict[str, Any]:
    """The JSON report of a check in this process."""
    report: dict[str, Any] = json.loads(here("check", "--workers", 1, "--json", "-", *argv).out)
    return report


# -- exit codes --------------------------------------------------------------------------------------------------------


def test_0_when_everything_holds(here: Here) -> None:
    ran = here("check", "tiny", "--workers", 1)
    assert (ran.code, ran.err) == (0, "")
    assert "PASS: 4 searches, 1 instance, 563 states" in ran.out
    assert not (here.directory / "traces").exists()


def test_1_when_a_property_fails(here: Here) -> None:
    ran = here("check", "tiny", "--policy", "active", "--mutant", "removals-first")
    assert (ran.code, ran.err) == (1, "")
    trace = "traces/found/routing-tiny-active-NoLostDelivery-removals-first.jsonl"
    assert "FAILS: NoLostDelivery in tiny under active with the mutant removals-first: (p, s) is owed" in ran.out
    assert "after 7 steps" in ran.out
    assert f"see: routeproof show {trace}" in ran.out
    assert here("show", trace).code == 0, "and that command works"


def test_2_when_it_cannot_be_read(here: Here) -> None:
    ran = here("check", "tinny")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == 'routeproof: no instance is called "tinny" (did you mean tiny?)\n'


def test_3_when_a_limit_comes_first(here: Here) -> None:
    ran = here("check", "line3", "--workers", 1, "--policy", "none", "--max-states", 10)
    assert (ran.code, ran.err) == (3, "")
    assert "unknown (10 states)" in ran.out
    assert "UNDETERMINED: no failure, 10 verdicts unknown" in ran.out
    assert "vacuous: " not in ran.out, "what was not looked for was not missed"


def test_1_outweighs_3(here: Here) -> None:
    report = results(here, "line3", "--policy", "active", "--mutant", "removals-first", "--max-states", 500)
    verdicts = {p["verdict"] for p in report["results"][0]["properties"].values()}
    assert (report["exit"], verdicts) == (1, {"fails", "unknown", "holds"})


# -- what is asked -----------------------------------------------------------------------------------------------------


def test_names_policies_and_properties_select(here: Here) -> None:
    report = results(here, "tiny", "unadv3", "--policy", "lazy", "--property", "Agreement", "Precise")
    assert [(r["instance"], r["policy"]) for r in report["results"]] == [("tiny", "lazy"), ("unadv3", "lazy")]
    assert all(list(r["properties"]) == ["Precise", "Agreement"] for r in report["results"])


def test_a_property_is_only_asked_where_it_is_meant_to_hold(here: Here) -> None:
    report = results(here, "tiny", "--property", "PropagationTree")
    assert [r["policy"] for r in report["results"]] == ["none"]


def test_a_mutant_is_only_searched_where_it_is_one(here: Here) -> None:
    report = results(here, "tiny", "--mutant", "lazy-never-uncovers")
    assert [(r["policy"], r["mutant"]) for r in report["results"]] == [("lazy", "lazy-never-uncovers")]


def test_a_file_and_a_name_together(here: Here) -> None:
    here.write("mine.toml", GOOD)
    report = results(here, "--instance", "mine.toml", "tiny", "--policy", "none")
    assert [r["instance"] for r in report["results"]] == ["tiny", "good"]


def test_options_and_names_in_any_order(here: Here) -> None:
    assert here("check", "tiny", "--policy", "none", "unadv3", "--workers", 1).code == 0


def test_a_search_goes_on_from_its_checkpoint(here: Here) -> None:
    whole = results(here, "line3", "--policy", "lazy")
    asked = ("line3", "--policy", "lazy", "--checkpoint", "c")
    assert results(here, *asked, "--max-states", 100)["exit"] == 3
    resumed = results(here, *asked)
    assert resumed["results"][0]["properties"] == whole["results"][0]["properties"]
    assert resumed["results"][0]["states"] == whole["results"][0]["states"]


def test_a_reduction_is_named(here: Here) -> None:
    (result,) = results(here, "equal3", "--policy", "none", "--reduction", "symmetry")["results"]
    assert result["reduction"] == "symmetry"
    assert result["stored"] <= result["states"]


# -- what an instance declares -----------------------------------------------------------------------------------------


def declaring(here: Here, line: str, text: str = GOOD) -> Path:
    return here.write("mine.toml", text.replace("overlay", f"{line}\noverlay", 1))


def test_declared_failures_are_a_success(here: Here) -> None:
    ran = here("check", "reorder2", "--workers", 1)
    assert ran.code == 0
    assert "2 fail as declared" in ran.out
    assert "8 properties failed where the instance files expect it" in " ".join(ran.out.split())
    assert re.search(r"reorder2 +reorder +Agreement 7, NoResidue 7\n", ran.out), "what the fault breaks, and how soon"
    assert not (here.directory / "traces").exists(), "they are news to nobody"


def test_declared_failures_leave_a_trace_where_one_is_asked_for(here: Here) -> None:
    report = results(here, "reorder2", "--policy", "none", "--traces", "out")
    agreement = report["results"][0]["properties"]["Agreement"]
    assert (agreement["verdict"], agreement["status"], agreement["length"]) == ("fails", "declared", 7)
    assert (here.directory / agreement["counterexample"]).is_file()


def test_a_failure_that_is_not_declared_fails(here: Here) -> None:
    ran = here("check", "--instance", here.write("mine.toml", GOOD + "[faults]\nloss = 1\n"))
    assert ran.code == 1
    assert "FAILS: NoLostDelivery in good under active" in ran.out


def test_a_declared_failure_that_does_not_come_fails(here: Here) -> None:
    ran = here("check", "--instance", declaring(here, 'must_fail = ["Precise"]'))
    assert ran.code == 1
    assert "FAILS: Precise in good under active: holds, though the instance declares that it fails" in ran.out


def test_a_property_that_is_declared_and_missed_fails(here: Here) -> None:
    alone = GOOD.replace('[[subscription]]\nid = "s"\nat = 2\nevents = [0]\n\n', "")
    ran = here("check", "--instance", declaring(here, 'must_reach = ["SomeQuenching"]', alone))
    assert ran.code == 1
    assert "FAILS: SomeQuenching in good under active: is never reached" in ran.out


def test_a_rule_that_is_declared_and_never_fires_fails(here: Here) -> None:
    ran = here("check", "--instance", declaring(here, 'must_reach = ["COV-10", "COV-2"]'))
    assert ran.code == 1
    assert "FAILS: COV-10 in good: never fires under active, though the instance declares that it does" in ran.out
    assert "COV-2 in good" not in ran.out


def test_a_declared_rule_is_open_when_a_limit_comes_first(here: Here) -> None:
    ran = here("check", "--instance", declaring(here, 'must_reach = ["COV-10"]'), "--max-states", 5)
    assert ran.code == 3
    assert "open: whether rule COV-10 fires in good" in ran.out


def test_a_declared_rule_is_not_missed_under_some_of_the_policies(here: Here) -> None:
    assert here("check", "tiny", "unadv3", "line3", "--policy", "none", "--workers", 1).code == 0


def test_declarations_excuse_a_mutant_but_do_not_accuse_it(here: Here) -> None:
    report = results(here, "reorder2", "--policy", "none", "--mutant", "withdrawal-not-sent")
    assert [f["subject"] for f in report["failures"]] == []


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('must_fail = ["Precice"]', 'must_fail[1]: found "Precice"; expected one of NoLostDelivery'),
        ('must_fail = ["SomeDelivery"]', "must_fail[1]: found"),
        ('must_reach = ["Precise"]', "must_reach[1]: found"),
        ('must_reach = ["COV-1"]', "must_reach[1]: found"),
        ('must_fail = ["PropagationTree"]', "PropagationTree, which is meant for none"),
    ],
)
def test_declarations_that_mean_nothing(here: Here, line: str, expected: str) -> None:
    ran = here("check", "--instance", declaring(here, line))
    assert (ran.code, ran.out) == (2, "")
    assert expected in ran.err


# -- what is warned of -------------------------------------------------------------------------------------------------


def test_a_property_that_nothing_exercised(here: Here) -> None:
    ran = here("check", "reorder2", "--policy", "active")
    assert "vacuous: Compact (no reachable state put it to the test)" in ran.out
    assert "warning: SomeQuenching is reached in no instance of this run" in ran.out
    assert ran.code == 0


def test_a_sometimes_that_was_asked_for_has_to_be_reached(here: Here) -> None:
    ran = here("check", "reorder2", "--policy", "active", "--property", "SomeQuenching")
    assert ran.code == 1
    assert "FAILS: SomeQuenching: was named with --property and is reached in no instance of this run" in ran.out


# -- reports -----------------------------------------------------------------------------------------------------------


def test_json_has_the_shape_that_interfaces_promise(here: Here) -> None:
    (result,) = results(here, "tiny", "--policy", "active", "--mutant", "removals-first")["results"]
    assert {k: type(v) for k, v in result.items() if k != "limit"} == {
        "instance": str,
        "protocol": str,
        "policy": str,
        "mutant": str,
        "engine": str,
        "states": int,
        "transitions": int,
        "depth": int,
        "complete": bool,
        "seconds": float,
        "properties": dict,
        "rules": dict,
    }
    lost = result["properties"]["NoLostDelivery"]
    assert (lost["verdict"], lost["length"]) == ("fails", 7)
    assert (here.directory / lost["counterexample"]).is_file()
    holds = result["properties"]["Precise"]
    assert (holds["verdict"], holds["counterexample"], holds["length"]) == ("holds", None, None)
    assert holds["exercised"] > 0
    assert result["rules"]["RTE-5"] > 0


def test_json_to_a_file_leaves_the_table_on_standard_output(here: Here) -> None:
    ran = here("check", "tiny", "--policy", "none", "--json", "r.json")
    assert json.loads((here.directory / "r.json").read_text())["exit"] == 0
    assert "PASS: " in ran.out
    assert [path.name for path in here.directory.iterdir()] == ["r.json"]


def test_junit_is_well_formed_and_counts(here: Here) -> None:
    asked = ("tiny", "reorder2", "--policy", "active", "--mutant", "removals-first", "--workers", 1)
    ran = here("check", *asked, "--junit", "j.xml")
    root = ET.parse(here.directory / "j.xml").getroot()
    assert [suite.get("name") for suite in root] == ["routing.tiny.active", "routing.reorder2.active"]
    cases = {(c.get("classname"), c.get("name")): c for c in root.iter("testcase")}
    failure = cases["routing.tiny.active", "NoLostDelivery"].find("failure")
    assert failure is not None
    assert failure.get("message") == "(p, s) is owed, was not delivered, and no copy is in flight"
    assert "deliver 1>2" in (failure.text or "")
    assert cases["routing.reorder2.active", "Agreement"].find("failure") is None, "as declared"
    assert cases["routing.reorder2.active", "SomeQuenching"].find("skipped") is not None
    assert root.get("failures") == "1"
    assert root.get("tests") == str(len(cases))
    assert ran.code == 1


def test_junit_does_not_let_the_unknown_pass(here: Here) -> None:
    here("check", "tiny", "--policy", "none", "--max-states", 5, "--junit", "j.xml")
    root = ET.parse(here.directory / "j.xml").getroot()
    assert len(list(root.iter("error"))) == int(root.get("errors", "0")) == 10


def test_github_annotations(here: Here) -> None:
    mine = here.write("mine,1.toml", GOOD + "[faults]\nloss = 1\n")
    ran = here("check", "--instance", mine.name, "--github", "--property", "Agreement")
    (line,) = [line for line in ran.out.splitlines() if line.startswith("::")]
    assert line.startswith("::error title=Agreement%3A good active,file=mine%2C1.toml::b1 has sent S to b2")
    assert "%0Atrace: traces/found/" in line


def test_github_warns_of_what_is_open(here: Here) -> None:
    ran = here("check", "tiny", "--policy", "none", "--max-states", 5, "--github", "--property", "Agreement")
    assert "::warning title=tiny none::unknown: Agreement (5 states)" in ran.out


def test_the_table_fits(here: Here) -> None:
    name = "a-name-of-sixty-four-characters-which-is-the-most-that-there-can"
    mine = here.write("mine.toml", GOOD.replace('"good"', f'"{name}"') + "[faults]\nloss = 1\nduplicate = 1\n")
    ran = here("check", "--instance", mine)
    assert ran.code == 1
    assert all(len(line) <= 100 or "routeproof show" in line for line in ran.out.splitlines()), ran.out


# -- when engines cannot answer ----------------------------------------------------------------------------------------


def test_out_of_memory_is_undetermined(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    def explore(*_: Any, **__: Any) -> Result:
        raise MemoryError

    monkeypatch.setattr(explorer, "explore", explore)
    ran = here("check", "tiny", "--policy", "none")
    assert (ran.code, ran.out) == (3, "")
    assert ran.err.startswith("routeproof: out of memory in tiny none; ")


def test_an_interrupt_reports_what_is_there(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    def explore(world: Any, **_: Any) -> Result:
        if world.policy == "lazy":
            raise KeyboardInterrupt
        found = {"Precise": Finding("Precise", "always", "holds", 1)}
        return Result("tiny", "routing", world.policy, None, "explore", 1, 0, 0, True, 0.0, found)

    monkeypatch.setattr(explorer, "explore", explore)
    ran = here("check", "tiny", "--workers", 1)
    assert (ran.code, ran.err) == (130, "routeproof: interrupted\n")
    assert "interrupted: 2 searches of 4 did not finish" in ran.out


def test_a_defect_is_not_a_verdict(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    def explore(*_: Any, **__: Any) -> Result:
        raise AssertionError("a bug")

    monkeypatch.setattr(explorer, "explore", explore)
    ran = here("check", "tiny", "--policy", "none")
    assert ran.code == 3
    assert ran.err.endswith("routeproof: this is a defect of routeproof; nothing was decided\n")


# -- the fuzzer --------------------------------------------------------------------------------------------------------


def test_a_campaign_says_how_much_stands_behind_it(here: Here) -> None:
    ran = here("check", "tiny", "--engine", "fuzz", "--policy", "none", "--examples", 20, "--seed", 7)
    assert (ran.code, ran.err) == (0, "")
    assert re.search(r"\ntiny  none  \d+ examples, [\d,]+ steps, seed 7\n", ran.out)
    assert re.search(r"PASS: no failure in [\d,]+ examples\. 1 search, 1 instance, [\d,]+ steps, ", ran.out)

    ran = here("check", "tiny", "--engine", "fuzz", "--policy", "none", "--seconds", 0.001)
    assert ran.code == 3, "nothing was drawn in that time"
    assert re.search(r"UNDETERMINED: no failure in \d+ examples?, \d+ verdicts? unknown: 1 search, ", ran.out)


def test_what_a_campaign_finds_is_written_once(here: Here) -> None:
    asked = ("tiny", "--engine", "fuzz", "--mutant", "publication-per-entry", "--policy", "none")
    (result,) = results(here, *asked)["results"]
    twice = result["properties"]["NoDuplicate"]
    assert (result["engine"], result["complete"], twice["verdict"]) == ("fuzz", False, "fails")
    (trace,) = (here.directory / "traces/found").iterdir()
    assert here.directory / twice["counterexample"] == trace
    assert here("show", trace).code == 0
    (again,) = results(here, *asked)["results"]
    assert again["properties"]["NoDuplicate"]["counterexample"] == twice["counterexample"], "and played first later"


# -- several processes -------------------------------------------------------------------------------------------------


def test_the_report_does_not_depend_on_the_workers(tmp_path: Path) -> None:
    asked = ("check", "equal3", "tiny", "reorder2", "--github")
    reports = []
    for workers in (1, 2):
        ran = run(*asked, "--workers", workers, "--json", f"{workers}.json", cwd=tmp_path)
        assert (ran.code, ran.err) == (0, "")
        report = json.loads((tmp_path / f"{workers}.json").read_text())
        for result in report["results"]:
            del result["seconds"]
        reports.append((re.sub(r"\d+\.\d s", "T", ran.out), report))
    assert reports[0] == reports[1]
    names = [r["instance"] for r in reports[0][1]["results"]]
    assert names == ["equal3"] * 4 + ["tiny"] * 4 + ["reorder2"] * 4


def test_a_refusal_in_a_worker_is_one_line(tmp_path: Path) -> None:
    ran = run("check", "tiny", "loss2", "--reduction", "por", "--workers", 2, cwd=tmp_path)
    assert ran.code == 2
    assert re.fullmatch(r"routeproof: loss2 \w+: [^\n]*without faults[^\n]*\n", ran.err)
