"""`routeproof prove` and `routeproof list theorems`: exit codes, report, JSON, and mistakes in one line."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
import z3

from routeproof.checker.prove import solve
from routeproof.checker.prove.theorems import THEOREMS
from routeproof.spec.theory.theorem import Obligation, Shown, Theorem
from tests.checker.command import Here

X = z3.Int("x")
BAD = {
    "Refuted": (Obligation("too much", X < 3, shown={"x": Shown((X,), lambda values: str(values[0]))}), 1),
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
    ran = here("prove", "BooleansCover", "StringOrder")
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
    ran = here("prove", "BooleansCover", id)
    assert (ran.code, ran.err) == (code, "")
    assert f": {id}:" in ran.out
    assert obligation.name in ran.out
    if id == "Refuted":
        assert "\n  x  " in ran.out


@pytest.mark.usefixtures("bad")
def test_a_refutation_outweighs_what_is_unknown(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solve, "RLIMIT", 1000)
    assert here("prove", *BAD).code == 1


@pytest.mark.usefixtures("bad")
def test_json(here: Here) -> None:
    ran = here("prove", "StringOrder", "Refuted", "--json", "-")
    assert ran.code == 1
    report = json.loads(ran.out)
    order, refuted = report["theorems"]
    assert report["exit"] == 1
    assert (order["id"], order["verdict"], order["bound"]) == ("StringOrder", "bounded", THEOREMS["StringOrder"].bound)
    assert all(each["verdict"] == "proved" for each in order["obligations"])
    (obligation,) = refuted["obligations"]
    assert (obligation["name"], obligation["verdict"]) == ("too much", "refuted")
    assert int(obligation["counterexample"]["x"]) >= 3


def test_json_to_a_file_is_the_same_on_every_run(here: Here) -> None:
    def untimed(name: str) -> object:
        text = (here.directory / name).read_text(encoding="utf-8")
        return json.loads(text, object_hook=lambda row: {k: v for k, v in row.items() if k != "seconds"})

    for name in ("one.json", "other.json"):
        assert here("prove", "NumbersOverlap", "ModelMatches", "--json", name).code == 0
    assert untimed("one.json") == untimed("other.json")


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["NumbersCovers"], 'no theorem is called "NumbersCovers"'),
        (["BooleansCover", "--json", "none/such.json"], "there is no directory none"),
        (["--seed", "1"], "--seed"),
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
