"""Refinement: the model takes the steps that the relation of `spec/theory` allows, and the relation allows no others.

There are four theorems about the model's code, each up to a bound. The first two are about one broker's answers and are
made here; the others, about whole steps, are made in `steps`. A protocol on top of the routing core has its own
theorems in its package.

Reading order: `answers` (an instance as a finite structure, and a handler's answer held to the relation),
`alternatives` (other answers and steps that the relation allows), `worlds` (whole steps, with queues and ghosts),
`sample` (the instances and their questions), `steps` and the theorems here (the obligations that `routeproof prove`
reports).

An examination that could only say yes would say nothing. So for each of the model's answers there are others, which
differ in one place and which the relation must refuse. And in addition to the question whether the relation allows
another answer, the same is asked of a relation that lacks a clause, which must.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from routeproof.checker.prove.refine.alternatives import other_answer
from routeproof.checker.prove.refine.answers import Question, altered, heading, objection, objection_to_packed
from routeproof.checker.prove.refine.sample import BEYOND_LINES, SMALL, USUAL, Explored, Refinement, Sample
from routeproof.checker.prove.refine.steps import Looser, case, examined, has_small, steps_allowed, steps_determined
from routeproof.checker.prove.solve import Case, CodeTheorem, Examination
from routeproof.model.instance import POLICIES
from routeproof.spec.catalogues import rules_that_fire
from routeproof.spec.theory.relation import ABOUT, facts_hold
from routeproof.spec.theory.relation.routing import POLICIES as RELATED
from routeproof.spec.theory.relation.routing import HandlerStep

ALTERED = 2
"""Altered answers that are tried of a question: which ones differs from question to question."""

INVENTED = 150
"""Number of invented questions for which Z3 decides, under each policy, what else the relation allows."""

Row = Sequence[tuple[Explored, Question]]


def theorems(sample: Sample, wider: Sample | None = None) -> list[CodeTheorem]:
    """The four of them; `wider` is a sample of more instances for AnswersAllowed, which asks the least of each."""
    answers = wider or sample
    rules = rules_that_fire("routing")
    unpacked = tuple(rule for rule in rules if rule != "COV-7")
    of_steps = CodeTheorem(
        "StepsDetermined",
        unpacked,
        "The relation allows no other state after a step that it allows, in small instances.",
        partial(steps_determined, sample),
        f"{sample.bound}, of at most {SMALL:,} states",
    )
    small = has_small(sample)
    return [
        CodeTheorem(
            "AnswersAllowed",
            ("COV-1", *rules),
            "Each answer that a broker of the model gives is one that the relation allows, and no altered one is.",
            partial(answers_allowed, answers),
            answers.bound,
        ),
        CodeTheorem(
            "AnswersDetermined",
            unpacked,
            "The relation allows no other answer: no other tables, messages, order or deliveries.",
            partial(answers_determined, sample),
            sample.bound,
        ),
        CodeTheorem(
            "StepsAllowed",
            rules,
            "What can happen in a state is what the relation says, and so are queues, clients and ghosts after it.",
            lambda: steps_allowed(sample.explored, sample.whole),
            sample.bound if small else f"{sample.bound}; none is small enough for StepsDetermined",
        ),
        *([of_steps] if small else []),
    ]


def answers_allowed(sample: Sample) -> list[Examination]:
    rows = [
        examined("the facts hold", partial(_facts, sample), both=False),
        *_rows(sample, POLICIES, _allowed, _allowed_of_many),
    ]
    return [*rows, examined("every rule fires", partial(_rules, sample), both=False)] if sample.whole else rows


def answers_determined(sample: Sample) -> list[Examination]:
    return _rows(sample, RELATED, _determined, _determined_of_many)


Cases = Callable[[Row], Iterable[Case]]


def _rows(sample: Sample, policies: Sequence[str], asked: Cases, arbitrary: Cases) -> list[Examination]:
    """One for each kind of message under each policy, about explored questions; one a policy about possible ones."""
    rows: dict[tuple[str, str], list[tuple[Explored, Question]]] = {(k, p): [] for p in policies for k in ABOUT}
    made_up: dict[str, list[tuple[Explored, Question]]] = {policy: [] for policy in policies}
    for explored in sample.explored:
        if explored.world.policy in policies:
            made_up[explored.world.policy] += [(explored, question) for question in explored.arbitrary]
            for question in explored.questions:
                kind, _ = heading(question.message)
                rows[kind, question.policy].append((explored, question))
    return [
        *(examined(f"{k}, {p}", partial(asked, row)) for (k, p), row in rows.items() if row or sample.whole),
        *(examined(f"any tables, {p}", partial(arbitrary, row)) for p, row in made_up.items() if row or sample.whole),
    ]


# -- is it allowed? ----------------------------------------------------------------------------------------------------


def _allowed(row: Row, alter_each: int = 1) -> Iterator[Case]:
    for number, (explored, question) in enumerate(row):
        yield _answer(True, explored, question)
        others = altered(question) if number % alter_each == 0 else []
        for turn in range(min(ALTERED, len(others))):
            yield _answer(False, explored, others[(number // alter_each + turn) % len(others)])


def _allowed_of_many(row: Row) -> Iterator[Case]:
    return _allowed(row, alter_each=10)


def _answer(expected: bool, explored: Explored, question: Question) -> Case:
    if question.policy == "packing":
        found = objection_to_packed(explored.worded.structure, explored.world.protocol, question)
    else:
        found = objection(explored.worded.structure, question)
    return Case(
        expected, found is None, lambda: {"the relation": str(found or "nothing forbids it"), **question.told()}
    )


# -- is another one? ---------------------------------------------------------------------------------------------------


def _determined(row: Row) -> Iterator[Case]:
    """Cases: whether each question has another answer; and for the first, whether a looser relation has one."""
    for number, (explored, question) in enumerate(row):
        yield _other(False, explored, question, HandlerStep)
        if number == 0:
            yield _other(True, explored, question, Looser)


def _determined_of_many(row: Row) -> Iterator[Case]:
    """Cases for as many questions as there is time for, spread over all."""
    return _determined(row[:: max(1, len(row) // INVENTED)])


def _other(expected: bool, explored: Explored, question: Question, handler: type[HandlerStep]) -> Case:
    found = other_answer(explored.worded.structure, question, handler)
    return Case(expected, found is not None, lambda: {"allowed too": str(found), **question.told()})


# -- facts and rules ---------------------------------------------------------------------------------------------------


def _facts(sample: Sample) -> Iterator[Case]:
    items = (("adv", 0), ("sub", 0), ("unsub", 0))
    for explored in sample.explored:
        structure = explored.worded.structure
        logic = structure.logic(len(items))
        for clause in facts_hold(logic, structure.facts(items)):
            holds = clause.closed(logic) is True
            yield case(True, holds, {"instance": structure.instance.name, "fact": clause.name})


def _rules(sample: Sample) -> Iterator[Case]:
    fired = {rule for each in sample.explored for question in each.questions for rule in question.answer.rules}
    for rule in rules_that_fire("routing"):
        yield case(True, rule in fired, {"never fired": rule})


REFINEMENT = Refinement(theorems, USUAL, BEYOND_LINES)
