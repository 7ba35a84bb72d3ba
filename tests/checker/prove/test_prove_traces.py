"""Counterexamples of proofs as traces: written, read again, shown, and, where they begin at the beginning, judged."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
import z3
from attrs import evolve

from routeproof.checker.prove.counterexample import SeenMoment
from routeproof.checker.prove.invariants import settle_bounded
from routeproof.checker.prove.small import Runs, Solver, small_worlds
from routeproof.checker.prove.solve import RLIMIT, Judged, Settled
from routeproof.checker.prove.theorems import THEOREMS
from routeproof.checker.prove.trace import ComparableSets, write_traces
from routeproof.spec.pruning.theory.relation import PruningRelation
from routeproof.spec.theory import ADV, PUB, SUB, Term
from routeproof.spec.theory.invariants import ROUTING, routing, routing_under
from routeproof.spec.theory.invariants.bounded import Bounded, BoundedTheorem, Size
from routeproof.spec.theory.invariants.obligations import Induction, Inductive
from routeproof.spec.theory.proof import Theorem
from routeproof.spec.theory.relation.routing import Change
from routeproof.traces import read_trace
from tests.checker.command import TOP, Here
from tests.checker.prove.broken_protocols import BROKEN
from tests.checker.prove.test_induction import obligations

SCHEMA = json.loads((TOP / "spec/trace.schema.json").read_text(encoding="utf-8"))


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Here:
    return Here(tmp_path, monkeypatch, capsys)


def inductive() -> Inductive:
    """A step that is wrong, among others that Z3 would take longer for."""
    found = BROKEN["NoSettleAfterUnadvertise"]
    proof = Induction(ROUTING, handler=found.handler, step=found.step)
    (asked,) = obligations(proof, found.event, found.sentence)
    return asked


def bounded(name: str, size: Size, steps: int) -> Bounded:
    found = BROKEN[name]
    proof = Induction(routing_under("active").book, "active", handler=found.handler, step=found.step)
    sentences = [proof.book["no lost delivery"], proof.book["delivered where it matches"]]
    return Bounded(name="active", proof=proof, sentences=sentences, size=size, steps=steps, first=True)


@pytest.fixture
def refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    step, run = inductive(), bounded("ForwardsNothing", Size(2, 1, 1, 1, 2), 5)
    monkeypatch.setitem(THEOREMS, "Step", Theorem("Step", (), "It is wrong.", lambda: [step]))
    monkeypatch.setitem(THEOREMS, "Run", BoundedTheorem("Run", (), "It is wrong.", lambda: [run], "a bound"))


def check_lines(path: Path) -> list[dict[str, object]]:
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for row in rows:
        jsonschema.validate(row, SCHEMA)
    assert not read_trace(path).bad
    return rows


@pytest.mark.usefixtures("refuted")
def test_a_refuted_step_is_written_read_and_shown(here: Here) -> None:
    ran = here("prove", "Step", "--traces", "found")
    assert ran.code == 1
    (path,) = (here.directory / "found").iterdir()
    assert path.name == "prove-Step-deliver-unadv-sent-is-candidate.jsonl"
    assert f"  see: routeproof show found/{path.name}" in ran.out.splitlines()
    header, first, *rest = check_lines(path)
    assert header["policy"] == ""
    assert first["text"] == "The first moment is any of which the invariants are true; it need not be reachable."
    assert [row["event"] for row in rest if row["event"] not in ("note", "send")] == ["snapshot"] * 2 + [
        "receive",
        "snapshot",
    ]
    shown = here("show", f"found/{path.name}")
    assert shown.code == 0
    assert "unadv(a1)" in shown.out
    assert "it need not be reachable" in " ".join(shown.out.split())


@pytest.mark.usefixtures("refuted")
def test_a_run_from_the_beginning_is_judged_like_any_other(here: Here) -> None:
    ran = here("prove", "Run", "--json", "-")
    assert ran.code == 1
    (row,) = json.loads(ran.out)["theorems"][0]["obligations"]
    assert row["trace"] == "traces/found/prove-Run-active.jsonl"
    rows = check_lines(here.directory / row["trace"])
    assert all(each["event"] != "snapshot" for each in rows[1:3])
    assert here("show", row["trace"]).code == 0
    judged = here("validate", row["trace"])
    assert judged.code == 1
    assert "RTE-5" in judged.out
    assert "publish(p1) to " in judged.out
    assert "TRC-7" in judged.out


def test_the_same_is_not_written_twice_and_another_stays(tmp_path: Path) -> None:
    judged = [Judged("Run", "refuted", "", (Settled("a / b", "refuted", trace="one\n"), Settled("c", "refuted")))]
    path = tmp_path / "found/prove-Run-a-b.jsonl"
    assert write_traces(judged, tmp_path / "found") == {("Run", "a / b"): path}
    assert write_traces(judged, tmp_path / "found") == {("Run", "a / b"): path}
    assert [each.read_text(encoding="utf-8") for each in path.parent.iterdir()] == ["one\n"]
    path.write_text("another\n", encoding="utf-8")
    assert write_traces(judged, tmp_path / "found") == {("Run", "a / b"): path.with_name("prove-Run-a-b-2.jsonl")}
    assert path.read_text(encoding="utf-8") == "another\n"


def test_nothing_is_written_where_all_is_proved(here: Here) -> None:
    assert here("prove", "BooleansCover", "--traces", "found").code == 0
    assert not (here.directory / "found").exists()


def test_a_file_in_the_place_of_the_directory_is_one_line(here: Here) -> None:
    (here.directory / "found").write_text("", encoding="utf-8")
    ran = here("prove", "BooleansCover", "--traces", "found")
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert "found: is no directory" in ran.err


@pytest.mark.usefixtures("refuted")
def test_a_refuted_theorem_is_reported_whose_trace_cannot_be_written(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: Path, *_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "write_text", refuse)  # whoever runs this may be allowed everything
    ran = here("prove", "Run", "--traces", "found")
    assert (ran.code, ran.err) == (1, "routeproof: found: cannot be written: Permission denied\n")
    assert "REFUTED: Run" in ran.out


def test_filters_compare_as_in_the_world_that_was_found() -> None:
    (small,) = small_worlds(routing(), Size(2, 3, 2, 3, 1))
    runs, solver, f = Runs(small), Solver(RLIMIT), small.stage.now.facts
    (r, s, t), (a, b), (p, q, _) = (small.logic.elements[sort] for sort in (SUB, ADV, PUB))
    true = (f.covers(r, s), f.covers(s, t), f.overlaps(a, t), f.overlaps(b, s), f.matches(p, s), f.matches(q, r))
    false = (f.covers(t, s), f.covers(s, r), f.overlaps(b, t), f.matches(p, t), f.matches(q, s))
    solver.add(*runs.begin())
    said = [*(runs.at(0, each) for each in true), *(runs.at(0, z3.Not(each)) for each in false)]
    model = solver.find(*said)
    assert model is not None
    seen = SeenMoment(runs, model, 0)
    made = ComparableSets.of(seen)
    sets = {each: set(members) for each, members in made.sets.items()}
    assert set(seen.rows(f.covers, SUB, SUB)) == {(x, y) for x in (r, s, t) for y in (r, s, t) if sets[x] >= sets[y]}
    assert set(seen.rows(f.overlaps, ADV, SUB)) == {(x, y) for x in (a, b) for y in (r, s, t) if sets[x] & sets[y]}
    assert set(seen.rows(f.matches, PUB, SUB)) == {
        (x, y) for x in made.events for y in (r, s, t) if made.events[x] in sets[y]
    }
    assert all(made.events[x] in sets[made.adv_of[x]] for x in made.events)


def test_a_counterexample_of_pruning_says_so() -> None:
    class Forgets(PruningRelation):
        """Never settles after a withdrawal of an advertisement."""

        def on_unadv(self, a: Term) -> Change:
            return evolve(super().on_unadv(a), settles=lambda u: False)

    proof = Induction(routing_under("active").book, "active", handler=Forgets)
    sentences = [proof.book["no stray"]]
    given = tuple(proof.book.conjuncts)
    asked = Bounded(name="t", proof=proof, sentences=sentences, size=Size(2, 1, 1, 1, 2), steps=1, given=given)
    settled = settle_bounded(asked)
    assert settled.verdict == "refuted"
    assert json.loads(settled.trace.splitlines()[0])["protocol"] == "pruning"
