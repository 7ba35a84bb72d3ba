"""The model's answers are those that the relations of pruning allow; seeded faults and refused readings are not.

`loosely` is by the relation of the proofs, `strictly` with what is retained as a table of its own.
"""

from __future__ import annotations

import pytest
from attrs import evolve

from routeproof.checker.instances import find, shipped
from routeproof.checker.prove.refine.answers import altered
from routeproof.checker.prove.refine.sample import Explored
from routeproof.model.protocols import world
from routeproof.model.pruning_mutants import PRUNING_MUTANTS
from routeproof.spec.theory.pruning import ELIGIBLE
from tests.spec.theory.pruning_answers import is_in_words, loosely, retained_in, strictly

LARGE = ("apart4", "bands3", "listed3", "nested3")
"""Over 100,000 states each: too long for a test."""

BREAK = {"forgets3", "listed3"}
"""With readings that break a promise (`remembers`, `sends`), as the claims about them say."""

SENT = "sent is what is wanted where settled, and what it was elsewhere"

SAMPLE = [
    (instance.name, policy)
    for instance in shipped()
    if is_in_words(instance) and instance.name not in LARGE and instance.name not in BREAK
    for policy in instance.policies
]


def explored(name: str, policy: str, mutant: str | None = None, **readings: object) -> Explored:
    instance = find(name)
    given = dict(instance.readings) | readings
    return Explored.of(world(evolve(instance, readings=tuple(given.items())), policy, mutant))


@pytest.mark.parametrize(("name", "policy"), SAMPLE)
def test_every_answer_is_allowed(name: str, policy: str) -> None:
    made = explored(name, policy)
    assert made.questions
    for question in made.questions:
        for judge in (loosely, strictly):
            found = judge(made, question)
            assert found is None, {"the relation": str(found), **question.told()}


def test_the_sample_retains() -> None:
    assert len(SAMPLE) >= 20
    made = explored("prune3", "incremental")
    assert any(retained_in(question.answer.local) for question in made.questions)
    assert not all(retained_in(question.answer.local) for question in made.questions)


def test_altered_answers_are_refused() -> None:
    made = explored("prune3", "incremental")
    others = [other for question in made.questions for other in altered(question)]
    assert len(others) > 300
    for other in others:
        for judge in (loosely, strictly):
            assert judge(made, other) is not None, other.told()


LOOSELY = {
    "additions-skipped": ("prune3", "sub is said where it is due"),
    "withdrawal-before-additions": ("prune3", "additions before removals"),
    "retained-without-advertisement": ("adverts3", ELIGIBLE),
    "retained-forgotten": ("adverts3", "unsub is said where it is due"),
}
"""What would break a proof."""

STRICTLY = {
    **LOOSELY,
    "retained-without-advertisement": ("adverts3", SENT),
    "retained-do-not-quench": ("prune3", SENT),
    "retained-never-replaced": ("larger3", SENT),
    "not-remembered": ("prune3", "retained is what is wanted without being a candidate, where settled"),
}
"""And what only breaks a rule: the safety that is proved does not rest on it."""


@pytest.mark.parametrize("mutant", LOOSELY)
def test_a_seeded_fault_is_refused_by_the_relation_of_the_proofs(mutant: str) -> None:
    name, clause = LOOSELY[mutant]
    made = explored(name, "incremental", mutant)
    assert [found.clause for each in made.questions if (found := loosely(made, each)) is not None][:1] == [clause]


@pytest.mark.parametrize("mutant", STRICTLY)
def test_a_seeded_fault_is_refused_by_the_rules_word_for_word(mutant: str) -> None:
    name, clause = STRICTLY[mutant]
    made = explored(name, "incremental", mutant)
    assert [found.clause for each in made.questions if (found := strictly(made, each)) is not None][:1] == [clause]


def test_the_other_faults_of_what_is_retained_break_no_promise() -> None:
    assert set(STRICTLY) < set(PRUNING_MUTANTS)
    for mutant in STRICTLY.keys() - LOOSELY.keys():
        made = explored(STRICTLY[mutant][0], "incremental", mutant)
        assert all(loosely(made, question) is None for question in made.questions), mutant


def test_a_boundary_that_forgets_is_refused() -> None:
    made = explored("forgets3", "incremental")
    found = {each.clause for question in made.questions if (each := loosely(made, question)) is not None}
    assert found == {"unsub is said where it is due"}


def test_sending_only_what_is_listed_is_refused() -> None:
    """The shipped counterexample, with one publication fewer: it takes long."""
    instance = find("listed3")
    made = Explored.of(world(evolve(instance, publications=instance.publications[:2]), "incremental"))
    found = {each.clause for question in made.questions if (each := loosely(made, question)) is not None}
    assert found == {"every candidate is covered by one that is wanted"}
