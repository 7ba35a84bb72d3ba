"""`routeproof prove` and `routeproof list theorems`: exit codes, report, JSON, and mistakes in one line."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
import z3

from routeproof.checker.prove import solve, theorems
from routeproof.checker.prove.theorems import THEOREMS
from routeproof.spec.theory.proof import Obligation, ShownValue, Theorem
from tests.checker.command import Here

X = z3.Int("x")
BAD = {
    "Refuted": (Obligation("too much", X < 3, shown={"x": ShownValue((X,), lambda values: str(values[0]))}), 1),
    "Vacuous": (Obligation("nothing", X < 3, [X > 3, X < 2]), 1),
    "Unknown": (Obligation("hard", z3.Not(X**3 + z3.Int("y") ** 3 == z3.Int("z") ** 3 * 3 + 4)), 3),
}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Here:
    return Here(tmp_path, monkeypatch, capsys)


@pytest.fixture
def bad(monkeypatch: pytest.MonkeyPatch) -> None:
    for id, (obligation, _) in BAD.items():
        monkeypatch.setitem(THEOREMS, id, Theorem(id, (), "It is bad.", partial(tuple, [obligation])))


def test_what_is_proved(here: Here) -> None:
    ran = here("prove", "BooleansCover", "StringOrder", "--workers", 1)
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert [line.split()[0] for line in lines[1:3]] == ["StringOrder", "BooleansCover"]  # as they are listed
    assert "proved up to a bound" in lines[1]
    assert "proved for all sizes" in lines[2]
    assert "  constants of up to 3 characters, values of up to 7: StringOrder" in lines
    assert all(len(line) <= 100 for line in lines)


@pytest.mark.usefixtures("bad")
@pytest.mark.parametrize("id", BAD)
def test_what_is_not(here: Here, id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solve, "RLIMIT", 1000)
    obligation, code = BAD[id]
    ran = here("prove", "BooleansCover", id, "--workers", 1)
    assert (ran.code, ran.err) == (code, "")
    assert f": {id}:" in ran.out
    assert obligation.name in ran.out
    if id == "Refuted":
        assert "\n  x  " in ran.out


@pytest.mark.usefixtures("bad")
def test_a_refutation_outweighs_what_is_unknown(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solve, "RLIMIT", 1000)
    assert here("prove", *BAD, "--workers", 1).code == 1


@pytest.mark.usefixtures("bad")
def test_json(here: Here) -> None:
    ran = here("prove", "StringOrder", "Refuted", "--workers", 1, "--json", "-")
    assert ran.code == 1
    report = json.loads(ran.out)
    order, refuted = report["theorems"]
    assert report["exit"] == 1
    assert (order["id"], order["verdict"], order["bound"]) == ("StringOrder", "bounded", THEOREMS["StringOrder"].bound)
    assert all(each["verdict"] == "proved" for each in order["obligations"])
    (obligation,) = refuted["obligations"]
    assert (obligation["name"], obligation["verdict"]) == ("too much", "refuted")
    assert int(obligation["counterexample"]["x"]) >= 3


def test_what_comes_of_it_is_the_same_on_every_run_and_with_any_number_of_workers(here: Here) -> None:
    def untimed(name: str) -> object:
        text = (here.directory / name).read_text(encoding="utf-8")
        return json.loads(text, object_hook=lambda row: {k: v for k, v in row.items() if k != "seconds"})

    said: list[str] = []
    for workers in (1, 1, 2):
        name = f"{len(said)}.json"
        ran = here("prove", "NumbersOverlap", "NoStray", "ModelMatches", "--workers", workers, "--json", name)
        assert (ran.code, ran.err) == (0, "")
        said.append(re.sub(r" *[0-9.]+ s\b", "", ran.out))
    assert untimed("0.json") == untimed("1.json") == untimed("2.json")
    assert said[0] == said[1] == said[2]


def test_what_a_theorem_rests_on_is_told_where_it_was_not_asked(here: Here) -> None:
    ran = here("prove", "NoStray", "--json", "one.json")
    assert ran.code == 0
    assert "proved, given others" in ran.out
    assert "given, and not judged here\n  SubscriptionInvariants, DeliveryHappens: NoStray\n" in ran.out
    (row,) = json.loads((here.directory / "one.json").read_text(encoding="utf-8"))["theorems"]
    assert (row["verdict"], row["given"]) == ("proved", ["SubscriptionInvariants", "DeliveryHappens"])
    assert "theorem SubscriptionInvariants" in row["hypotheses"]


def test_a_theorem_is_proved_with_all_that_it_rests_on(here: Here) -> None:
    ran = here("prove", "Roads", "--with-premises")
    assert ran.code == 0
    assert "TreeWays" in ran.out
    assert "not asked" not in ran.out
    assert "2 proved for all sizes, 1 proved up to a bound" in ran.out


def test_a_worker_that_dies_is_told_in_one_line(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(theorems, "_judge", dies)
    ran = here("prove", "NumbersOverlap", "BooleansCover", "--workers", 2)
    assert (ran.code, ran.out) == (3, "")
    assert ran.err.count("\n") == 1
    assert "a worker process died" in ran.err
    assert "--workers 1" in ran.err


def dies(named: object) -> None:
    os._exit(1)


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["NumbersCovers"], 'no theorem is called "NumbersCovers"'),
        (["BooleansCover", "--json", "none/such.json"], "there is no directory none"),
        (["--seed", "1"], "--seed"),
        (["--workers", "0"], "--workers"),
    ],
)
def test_mistakes(here: Here, words: list[str], error: str) -> None:
    ran = here("prove", *words)
    assert (ran.code, ran.out) == (2, "")
    assert error in ran.err
    assert ran.err.count("\n") == 1


def test_theorems_are_listed(here: Here) -> None:
    rows = json.loads(here("list", "theorems", "--json").out)["theorems"]
    assert [row["id"] for row in rows] == list(THEOREMS)
    assert all(row["about"] and row["rules"] for row in rows)


@pytest.mark.parametrize("command", ["['list', 'instances']", "['prove', '--help']"])
def test_z3_is_loaded_only_to_prove(tmp_path: Path, command: str) -> None:
    code = f"import sys; from routeproof.checker.cli import main; main({command}); sys.exit('z3' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, stdout=subprocess.DEVNULL, check=False)
    assert done.returncode == 0
