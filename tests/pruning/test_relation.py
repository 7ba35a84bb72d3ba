"""The model's answers are those that the relations of pruning allow; seeded faults and refused readings are not.

All shipped instances are for `routeproof prove --refinement`; here are those in which each thing comes up.
"""

from __future__ import annotations

import pytest
from attrs import evolve

from routeproof.checker.instances import find, shipped
from routeproof.checker.prove.refine.answers import Objection, altered
from routeproof.checker.prove.refine.sample import Explored, Sample, apart, in_issues
from routeproof.checker.prove.solve import examine
from routeproof.checker.prove.theorems import THEOREMS, asked
from routeproof.checker.pruning.refinement import (
    AS_IT_CAME,
    IN_ORDER,
    KEPT,
    QuestionPart,
    endings,
    loosely,
    objection_to_pruning,
    parts,
    retained_in,
    strictly,
    tables,
    told_of,
)
from routeproof.checker.pruning.refinement_theorems import USUAL, breaks_a_promise, theorems
from routeproof.checker.system.errors import UsageError
from routeproof.model.messages import Subscribe, Unsubscribe
from routeproof.model.protocols import world
from routeproof.model.pruning.mutants import PRUNING_MUTANTS
from routeproof.model.pruning.vocabulary import Relieve
from routeproof.spec.pruning.theory.relation import ELIGIBLE, Congested, Holds, Resumes
from tests.shown import RECORDED

pytestmark = RECORDED

SENT = "sent is what is wanted where settled, and what it was elsewhere"
DELIVERIES = "deliveries are to local subscriptions that match"


def explored(name: str, policy: str = "incremental", mutant: str | None = None) -> Explored:
    return Explored.of(world(find(name), policy, mutant))


def objections(made: Explored) -> list[Objection]:
    found = (objection_to_pruning(made, question) for question in made.questions)
    return [each for each in found if each is not None]


# -- what is allowed ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", ["incremental", "selective"])
@pytest.mark.parametrize("name", ["back2", "collects3", "hold3", "return3", "moves3", "moves3id", "lazy3", "newcomer3"])
def test_every_answer_is_allowed(name: str, policy: str) -> None:
    made = explored(name, policy)
    assert made.questions
    for question in made.questions:
        found = objection_to_pruning(made, question)
        assert found is None, {"the relation": str(found), **question.told()}


def test_the_sample_retains_holds_and_takes_up() -> None:
    made = explored("return3")
    assert any(retained_in(question.answer.local) for question in made.questions)
    kinds: set[type[Congested]] = set()
    for question in made.questions:
        found = parts(made, question)
        assert not isinstance(found, Objection)
        kinds |= {part.what for part in found}
    assert kinds == {Congested, Holds, Resumes}


def test_a_relief_is_taken_apart() -> None:
    """What is held is a row of questions; each is taken up from the table as it is by then."""
    made = explored("hold3")
    relieved = [q for q in made.questions if isinstance(q.message, Relieve) and tables(q.local).held]
    assert relieved
    for question in relieved:
        found = parts(made, question)
        assert not isinstance(found, Objection)
        assert [part.what for part in found] == [Resumes] * len(tables(question.local).held)


@pytest.mark.parametrize("name", ["collects3", "return3"])
def test_altered_answers_are_refused(name: str) -> None:
    made = explored(name)
    others = [other for question in made.questions for other in altered(question)]
    assert len(others) > 200
    for other in others:
        assert objection_to_pruning(made, other) is not None, other.told()


def test_each_issue_is_a_subscription_of_its_own() -> None:
    instance = find("moves3")
    assert [str(s) for s in apart(instance).subscriptions] == ["S", "S'", "s"]
    assert [(s.at, s.unsubscribes) for s in apart(instance).subscribers] == [(1, True), (2, False), (1, False)]
    made = explored("moves3")
    about = {q.message.subscription for q in made.questions if isinstance(q.message, Subscribe | Unsubscribe)}
    assert {(s.id, s.rank) for s in about} == {("S", 0), ("S'", 1), ("s", 2)}
    assert in_issues(find("back2"), made.questions[:0]) == []
    assert apart(find("back2")).subscriptions == find("back2").subscriptions


# -- and no other ------------------------------------------------------------------------------------------------------


def test_for_every_end_of_a_withdrawal_the_model_has_a_list() -> None:
    """Neighbours at which it ends are any of those that it was sent to."""
    made = explored("fork4", "selective")
    withdrawals = [q for q in made.questions if len(told_of(q)) > 1]
    assert withdrawals
    for question in withdrawals[:20]:
        found = {ends: part for part, ends in endings(made, QuestionPart(question))}
        assert len(found) == 2 ** len(told_of(question))
        assert all(strictly(made, part, ends) is None for ends, part in found.items())
        (other,) = [part for ends, part in found.items() if ends == told_of(question)]
        assert strictly(made, other, frozenset()) is not None


# -- what is refused ---------------------------------------------------------------------------------------------------

REJECTED: dict[str, tuple[str, str]] = {
    "additions-skipped": ("prune3", "sub is said where it is due"),
    "withdrawal-before-additions": ("prune3", "additions before removals"),
    "retained-without-advertisement": ("adverts3", ELIGIBLE),
    "retained-forgotten": ("adverts3", "unsub is said where it is due"),
    "retained-do-not-quench": ("prune3", SENT),
    "retained-never-replaced": ("larger3", SENT),
    "not-remembered": ("prune3", KEPT),
    "retained-and-candidate": ("back2", KEPT),
    "held-withdrawals-dropped": ("hold3", IN_ORDER.clause),
    "delivers-while-held": ("return3", DELIVERIES),
    "hold-outlives-return": ("return3", IN_ORDER.clause),
}
"""What breaks a rule that the relation has, by the first clause that refuses it."""

FROM_THE_RULES = ("retained-do-not-quench", "retained-never-replaced", "not-remembered", "retained-and-candidate")
"""Of these, what is refused word for word only: no promise is broken, and what is proved rests on nothing else."""

LEFT_TO_PROPERTIES = {
    "stops-one-hop-early",
    "stops-one-hop-late",
    "decrement-forgotten",
    "list-for-everybody",
    "strict-threshold",
    "wrong-count",
    "thresholds-swapped",
    "threshold-ignored",
    "second-distance-always",
    "many-off-by-one",
    "some-off-by-one",
    "end-always",
    "triggered-elsewhere",
    "window-ignored",
    "distance-not-reset",
    "publisher-counts-a-hop",
    "own-subscription-counts-twice",
    "database-not-purged",
}
"""Where a withdrawal ends, and the statistics behind it, are open in the relation: `tests/quality/` has what fails."""


def test_every_mutant_is_refused_here_or_by_a_property() -> None:
    assert REJECTED.keys() | LEFT_TO_PROPERTIES == set(PRUNING_MUTANTS)
    assert not REJECTED.keys() & LEFT_TO_PROPERTIES


def test_every_seeded_fault_is_refused_in_an_instance_at_which_prove_looks_without_options() -> None:
    named = THEOREMS["PruningAnswersAllowed"].bound.replace(",", "").split()
    assert {name for name, _ in REJECTED.values()} <= {*named}


@pytest.mark.parametrize("mutant", REJECTED)
def test_a_seeded_fault_is_refused(mutant: str) -> None:
    name, clause = REJECTED[mutant]
    made = explored(name, mutant=mutant)
    found = objections(made)
    assert [each.clause for each in found][:1] == [clause]
    if mutant in FROM_THE_RULES:
        assert all(loosely(made, QuestionPart(question)) is None for question in made.questions)


@pytest.mark.parametrize(
    ("name", "clauses"),
    [
        ("forgets3", {"unsub is said where it is due"}),
        ("overtake2", {"subs"}),
        ("overtake3", {"subs", "sent is what is wanted"}),
    ],
)
def test_a_reading_that_breaks_a_promise_is_refused(name: str, clauses: set[str]) -> None:
    """PRN-7 left out; PRN-14 left out."""
    assert breaks_a_promise(find(name))
    assert {each.clause for each in objections(explored(name))} & clauses


def test_sending_only_what_is_listed_is_refused() -> None:
    """The shipped counterexample, with one publication fewer: it takes long."""
    instance = find("listed3")
    assert breaks_a_promise(instance)
    made = Explored.of(world(evolve(instance, publications=instance.publications[:2]), "incremental"))
    assert "every candidate is covered by one that is wanted" in {each.clause for each in objections(made)}


def test_a_withdrawal_that_is_not_held_as_it_came_is_refused() -> None:
    made = explored("hold3")
    held = next(q for q in made.questions if isinstance(q.message, Unsubscribe) and tables(q.local).congested)
    assert objection_to_pruning(made, held) is None
    lost = evolve(held.answer, local=evolve(tables(held.answer.local), held=()))
    assert objection_to_pruning(made, evolve(held, answer=lost)) == AS_IT_CAME


# -- what is reported --------------------------------------------------------------------------------------------------


def test_of_an_instance_all_three_hold_up_to_a_bound() -> None:
    rows = {theorem.id: theorem for theorem in theorems(Sample.of(("collects3",)))}
    assert list(rows) == ["PruningAnswersAllowed", "PruningAnswersDetermined", "PruningStepsAllowed"]
    for theorem in rows.values():
        assert {examine(each).verdict for each in theorem.obligations()} == {"bounded"}, theorem.id


def test_where_the_relation_has_no_words_for_the_world_only_answers_are_asked() -> None:
    assert [each.id for each in theorems(Sample.of(("back2",)))] == [
        "PruningAnswersAllowed",
        "PruningAnswersDetermined",
    ]


def test_everything_is_every_instance_but_those_that_break_a_promise() -> None:
    names = {each.name for each in shipped() if each.protocol == "pruning"}
    sample = Sample.everything("pruning")
    assert names - set(sample.names) == {"forgets3", "listed3", "overtake2", "overtake3"}
    assert all(name in sample.bound for name in names - set(sample.names))
    assert set(USUAL) <= set(sample.names)


def test_what_is_asked_for_is_of_the_protocols_that_are_named() -> None:
    assert {id.startswith("Pruning") for id in asked(("back2",))} == {True}
    assert {id.startswith("Pruning") for id in asked(("tiny",))} == {False}
    assert asked(()).keys() == asked(("tiny", "prune3")).keys()
    assert asked((), "wrong-count").keys() == asked(("prune3",)).keys()


@pytest.mark.parametrize(
    ("names", "mutant", "says"),
    [
        (("tiny",), "wrong-count", "wrong-count is a mutant of pruning; tiny is an instance of routing"),
        (("prune3",), "removals-first", "removals-first is a mutant of routing; prune3 is an instance of pruning"),
        (("prune3",), "nobody", 'no mutant is called "nobody"'),
        (("prune33",), None, 'no instance is called "prune33"'),
    ],
)
def test_what_cannot_be_asked_is_said_in_one_line(names: tuple[str, ...], mutant: str | None, says: str) -> None:
    with pytest.raises(UsageError) as raised:
        asked(names, mutant)
    assert str(raised.value).startswith(says)
    assert "\n" not in str(raised.value)
