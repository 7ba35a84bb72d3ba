"""Refinement as it is reported: what is proved of small instances, what makes it fail, and what it is asked with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from attrs import evolve

from routeproof.checker.instances import find, shipped
from routeproof.checker.prove.refine import alternatives, theorems
from routeproof.checker.prove.refine.answers import Question, altered, objection, objection_to_packed, singles
from routeproof.checker.prove.refine.sample import USUAL, Explored, Sample
from routeproof.checker.prove.refine.steps import Looser, edits, objection_to_edit
from routeproof.checker.prove.solve import Examination, GaveUp, Judged, examine
from routeproof.checker.prove.theorems import judge
from routeproof.model.instance import POLICIES
from routeproof.model.messages import Deliver, PackedSubscribe, Subscribe
from routeproof.model.protocols import world
from tests.checker.command import Here
from tests.shown import recorded


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Here:
    return Here(tmp_path, monkeypatch, capsys)


def judged(sample: Sample) -> dict[str, Judged]:
    return {theorem.id: judge(theorem) for theorem in theorems(sample)}


# -- what is proved ----------------------------------------------------------------------------------------------------


@recorded
def test_of_an_instance_all_four_hold_up_to_a_bound() -> None:
    found = judged(Sample.of(("reorder2",)))
    assert {id: (each.verdict, len(each.obligations)) for id, each in found.items()} == {
        "AnswersAllowed": ("bounded", 1 + 4 * 4 + 4),
        "AnswersDetermined": ("bounded", 3 * 4 + 3),
        "StepsAllowed": ("bounded", 4 + 4 + 4),
        "StepsDetermined": ("bounded", 4 + 4),
    }
    assert {each.bound for id, each in found.items() if id != "StepsDetermined"} == {"what happens in reorder2"}
    assert found["StepsDetermined"].bound == "what happens in reorder2, of at most 1,200 states"


def test_where_no_world_is_small_no_other_step_is_asked_for(here: Here) -> None:
    """Not vacuous: it is left out, and the report says so."""
    ran = here("prove", "StepsAllowed", "--refinement", "line3")
    assert (ran.code, ran.err) == (0, "")
    assert "none is small enough for StepsDetermined: StepsAllowed" in ran.out
    assert [each.id for each in theorems(Sample.of(("line3",)))] == [
        "AnswersAllowed",
        "AnswersDetermined",
        "StepsAllowed",
    ]


@recorded
def test_the_usual_sample_has_every_kind_of_message_and_every_rule() -> None:
    sample = Sample.usual(USUAL)
    assert sample.whole
    assert set(USUAL) <= {each.name for each in shipped()}
    kinds = {(question.policy, type(question.message)) for each in sample.explored for question in each.questions}
    assert len({policy for policy, _ in kinds}) == len(POLICIES)
    rows = {each.name: each for each in theorems(sample)[0].obligations()}
    assert isinstance(rows["every rule fires"], Examination)
    assert examine(rows["every rule fires"]).verdict == "bounded"
    assert len(rows) == 1 + 5 * len(POLICIES) + len(POLICIES) + 1


def test_everything_is_every_instance_of_the_routing_core() -> None:
    assert set(Sample.everything("routing").names) == {each.name for each in shipped() if each.protocol == "routing"}


# -- what makes it fail ------------------------------------------------------------------------------------------------


@recorded
def test_a_kind_of_message_that_never_comes_up_is_vacuous_where_everything_must() -> None:
    found = judged(evolve(Sample.of(("reorder2",)), whole=True))
    vacuous = {row.name: row.why for row in found["AnswersAllowed"].with_verdict("vacuous")}
    assert vacuous == {f"unadv, {policy}": "no case was tried" for policy in POLICIES}
    assert [row.name for row in found["AnswersAllowed"].with_verdict("refuted")] == ["every rule fires"]
    assert [row.name for row in found["StepsDetermined"].with_verdict("vacuous")] == ["unadvertise", "deliver unadv"]


def test_a_seeded_fault_is_refuted_with_the_clause_that_it_breaks() -> None:
    found = judge(theorems(Sample.of(("tiny",), "removals-first"))[0])
    assert found.verdict == "refuted"
    bad = {row.name: row.shown["the relation"] for row in found.with_verdict("refuted")}
    assert bad["sub, active"] == "additions before removals (COV-8): sub(S), unsub(s), b2, S, s"


@pytest.mark.parametrize("policy", ["none", "active", "lazy"])
def test_every_altered_answer_is_refused(policy: str) -> None:
    explored = Explored.of(world(find("line3"), policy))
    tried = [other for question in explored.questions for other in altered(question)]
    assert len(tried) > 200
    assert all(objection(explored.worded.structure, each) is not None for each in tried)


def test_a_delivery_twice_in_one_step_has_no_words() -> None:
    explored = Explored.of(world(find("tiny"), "none"))
    question = next(q for q in explored.questions if any(isinstance(m, Deliver) for _, m in q.answer.sends))
    twice = evolve(question.answer, sends=question.answer.sends * 2)
    found = objection(explored.worded.structure, evolve(question, answer=twice))
    assert found is not None
    assert found.clause == "it delivers one publication twice for one subscription, in one step"


def test_a_packed_message_is_held_to_the_relation_item_by_item() -> None:
    explored = Explored.of(world(find("line3"), "packing"))
    structure, protocol = explored.worded.structure, explored.world.protocol
    packed = [q for q in explored.questions if isinstance(q.message, PackedSubscribe) and len(singles(protocol, q)) > 1]
    assert packed
    for question in packed:
        parts = singles(protocol, question)
        assert all(isinstance(part.message, Subscribe) and part.policy == "active" for part in parts)
        assert objection_to_packed(structure, protocol, question) is None
        apart = tuple((u, each) for u, m in question.answer.sends for each in _apart(m))
        if apart != question.answer.sends:
            found = objection_to_packed(structure, protocol, _answering(question, apart))
            assert str(found) == "what one step sends to one neighbour travels together (COV-7)"


def test_whole_steps_of_packing_are_held_to_the_relation() -> None:
    """What is sent apart, what is forgotten, and what joins another queue than the one that it was said to."""
    explored = Explored.of(world(find("tiny"), "packing"))
    worded, refused = explored.worded, set()
    for before, step in explored.steps():
        assert worded.objection_to_step(before, step) is None
        assert worded.allowed(before) >= {step.action.label}
        queues = [tuple(each for m in queue for each in _apart(m)) for queue in step.state.queues]
        for other in (
            evolve(step.state, queues=tuple(queues)),
            evolve(step.state, locals=before.locals),
            evolve(step.state, queues=before.queues),
        ):
            if other != step.state:
                found = worded.objection_to_step(before, evolve(step, state=other))
                assert found is not None, step.action.label
                refused.add(found.clause)
    assert {"a packed message is handled as its items, in order", "sub is said where it is due"} <= refused


def test_a_step_of_a_broker_that_packs_wrongly_is_refused() -> None:
    explored = Explored.of(world(find("tiny"), "packing", "packing-withdrawals-first"))
    found = {explored.worded.objection_to_step(before, step) for before, step in explored.steps()} - {None}
    assert {each.clause for each in found if each} == {"additions before removals"}


def _apart(message: object) -> list[object]:
    return [PackedSubscribe((s,)) for s in message.subscriptions] if isinstance(message, PackedSubscribe) else [message]


def _answering(question: Question, sends: tuple[tuple[int, object], ...]) -> Question:
    return evolve(question, answer=evolve(question.answer, sends=sends))


@pytest.mark.parametrize("policy", ["none", "packing"])
def test_an_edit_of_a_queue_that_is_not_first_in_first_out_is_refused(policy: str) -> None:
    explored = Explored.of(world(find("line3"), policy))
    every = list(edits(explored.parts))
    assert any(isinstance(m, PackedSubscribe) for each in every for m in each.said) == (policy == "packing")
    assert all(objection_to_edit(explored.worded, each) is None for each in every)
    for each in every:
        wrong = [each.after[::-1], each.after[1:], (*each.after, *each.before[:1])]
        for after in wrong:
            if after != each.after:
                assert objection_to_edit(explored.worded, evolve(each, after=after)) is not None


def test_where_z3_gives_up_nothing_is_found_and_nothing_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither as another answer, which a looser relation must have, nor as none."""
    monkeypatch.setattr(alternatives, "RLIMIT", 1)
    sample = Sample.of(("reorder2",))
    found = judge(theorems(sample)[1])
    assert found.verdict == "unknown"
    assert all(row.why.startswith("Z3 gives up: ") for row in found.obligations)
    explored = sample.explored[0]
    with pytest.raises(GaveUp):
        alternatives.other_answer(explored.structure, explored.questions[0], Looser)


# -- how it is asked ---------------------------------------------------------------------------------------------------


def test_the_command_names_the_instances(here: Here) -> None:
    ran = here("prove", "--refinement", "reorder2", "duplicate2", "--json", "found.json")
    assert (ran.code, ran.err) == (0, "")
    assert "  what happens in reorder2, duplicate2: AnswersAllowed" in ran.out
    found = json.loads((here.directory / "found.json").read_text(encoding="utf-8"))
    assert [each["id"] for each in found["theorems"]] == [each.id for each in theorems(Sample.usual(USUAL))]
    assert all(each["verdict"] == "bounded" for each in found["theorems"])


def test_a_mutant_is_refuted(here: Here) -> None:
    ran = here("prove", "AnswersAllowed", "--mutant", "delivers-to-first", "--refinement", "tiny")
    assert (ran.code, ran.err) == (1, "")
    assert "deliveries are to local subscriptions that match (RTE-5): p, s" in ran.out


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (("--refinement", "tinny"), 'no instance is called "tinny" (did you mean tiny?)'),
        (("--refinement", "tiny", "--mutant", "nobody"), 'no mutant is called "nobody"'),
        (("--mutant", "removals-first"), "--mutant needs --refinement"),
        (("NumbersCover", "--refinement", "tiny"), 'no theorem is called "NumbersCover"'),
    ],
)
def test_what_cannot_be_asked_is_said_in_one_line(here: Here, argv: tuple[str, ...], says: str) -> None:
    ran = here("prove", *argv)
    assert (ran.code, ran.out) == (2, "")
    assert says in ran.err
    assert ran.err.count("\n") == 1
