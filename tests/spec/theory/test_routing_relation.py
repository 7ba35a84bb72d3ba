"""The relation of the routing core: both readings say the same, its facts can fail, and each transition can happen.

That it says what the model does is held elsewhere: tests/checker/prove/test_refine_*.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count, product
from typing import Any

import attrs
import pytest
import z3
from attrs import evolve

from routeproof.checker.instances import find
from routeproof.checker.prove.refine.answers import (
    Question,
    Structure,
    altered,
    broken,
    hop,
    relation,
    spoken,
    tables,
    word,
)
from routeproof.checker.prove.refine.sample import Explored
from routeproof.model.protocols import world
from routeproof.spec.catalogues import RULES
from routeproof.spec.theory import (
    ADV,
    BROKER,
    ITEM,
    SORTS,
    SUB,
    Clause,
    Grounded,
    Sort,
    Symbolic,
    declare,
    formula,
    holding,
)
from routeproof.spec.theory.relation import ABOUT, Facts, Sends, TableRelations, WorldState, facts_hold
from routeproof.spec.theory.relation.routing import POLICIES, HandlerStep
from routeproof.spec.theory.relation.world import DONE, OPERATIONS, WorldStep, initially, is_quiet

# -- two readings ------------------------------------------------------------------------------------------------------


RUN = count()
"""Z3 takes the name of a sort once."""


class Pinned:
    """Z3's reading over sorts that have just these elements; what is known is a formula about which ones are meant."""

    def __init__(self, elements: dict[Sort, tuple[int, ...]]) -> None:
        self.elements = {sort: each or (0,) for sort, each in elements.items()}
        run = next(RUN)
        made = {
            sort: z3.EnumSort(f"{sort}/{run}", [f"{sort}{e}/{run}" for e in each])
            for sort, each in self.elements.items()
        }
        self.logic = Symbolic({sort: sort_ for sort, (sort_, _) in made.items()})
        self.term = {
            (sort, e): constant
            for sort, (_, constants) in made.items()
            for e, constant in zip(self.elements[sort], constants, strict=True)
        }
        self.all = {sort_.name(): constants for sort_, constants in made.values()}

    def record(self, signature: type[Any], known: Any) -> Any:
        fields = attrs.fields(signature)
        return signature(**{f.name: self._about(getattr(known, f.name), f.metadata["sorts"]) for f in fields})

    def _about(self, known: Callable[..., bool], sorts: tuple[Sort, ...]) -> Callable[..., z3.BoolRef]:
        tuples = list(product(*(self.elements[sort] for sort in sorts)))
        meant = [[self.term[pair] for pair in zip(sorts, v, strict=True)] for v in tuples if known(*v)]
        return lambda *terms: z3.Or([z3.And([t == m for t, m in zip(terms, each, strict=True)]) for each in meant])

    def holds(self, said: z3.ExprRef) -> bool:
        """Of all elements, or some: there are no others."""
        simple = z3.simplify(said)
        if z3.is_quantifier(simple):
            every = product(*(self.all[simple.var_sort(i).name()] for i in range(simple.num_vars())))
            bodies = (z3.substitute_vars(simple.body(), *reversed(terms)) for terms in every)
            return (all if simple.is_forall() else any)(self.holds(body) for body in bodies)
        if z3.is_and(simple) or z3.is_or(simple):
            return (all if z3.is_and(simple) else any)(self.holds(part) for part in simple.children())
        if z3.is_not(simple):
            return not self.holds(simple.arg(0))
        if z3.is_eq(simple):
            return self.holds(simple.arg(0)) == self.holds(simple.arg(1))
        assert z3.is_true(simple) or z3.is_false(simple), simple
        return bool(z3.is_true(simple))


def read_by_z3(structure: Structure, question: Question) -> bool:
    said = spoken(question.answer.sends)
    pinned = Pinned({**structure.elements, ITEM: tuple(range(max(1, len(said.words))))})
    node = question.node
    kind, subject = word(question.message)
    facts = evolve(structure.facts(said.words), adv_of=NOT_A_RELATION, home_of_adv=NOT_A_RELATION)
    handler = HandlerStep(
        pinned.logic,
        pinned.record(Facts, evolve(facts, home_of_sub=NOT_A_RELATION)),
        question.policy,
        pinned.term[BROKER, node],
        pinned.term[BROKER, hop(node, question.sender)],
        pinned.record(TableRelations, tables(node, question.local)),
        pinned.record(TableRelations, tables(node, question.answer.local)),
        pinned.record(Sends, said.sends),
    )
    clauses = handler.clauses(kind, pinned.term[ABOUT[kind], subject])
    return all(pinned.holds(formula(clause.closed(pinned.logic))) for clause in clauses)


NOT_A_RELATION = holding(())
"""Functions have no part in a handler's relation."""


def read_over_sets(structure: Structure, question: Question) -> bool:
    said = spoken(question.answer.sends)
    logic = structure.logic(len(said.words))
    return broken(structure, relation(structure, question, logic, said, HandlerStep), logic, said.words) is None


@pytest.mark.parametrize("policy", POLICIES)
def test_both_readings_say_the_same(policy: str) -> None:
    explored = Explored.of(world(find("tiny"), policy))
    structure = explored.worded.structure
    seen = set()
    for question in explored.questions[::3]:
        for each in (question, *_sayable(altered(question)[:2])):
            answer = read_over_sets(structure, each)
            assert read_by_z3(structure, each) == answer
            seen.add(answer)
    assert seen == {True, False}


def _sayable(questions: list[Question]) -> Iterator[Question]:
    """Without those that say a delivery twice, which no set of deliveries can."""
    for each in questions:
        delivered = [send for send in each.answer.sends if send[0] == 0]
        if len(set(delivered)) == len(delivered):
            yield each


def test_what_is_known_is_folded_and_what_is_open_stays() -> None:
    logic = Grounded({SUB: (1, 2)})
    assert logic.every((SUB,), lambda s: s > 0) is True
    assert logic.some((SUB,), lambda s: s > 2) is False
    assert logic.every((ADV,), lambda a: False) is True
    assert logic.some((ADV,), lambda a: True) is False
    open_ = z3.Bool("open")
    assert z3.is_true(z3.simplify(formula(logic.some((SUB,), lambda s: open_ if s == 1 else True))))
    assert z3.eq(logic.every((SUB,), lambda s: open_ if s == 1 else True), open_)


def test_a_part_is_asked_only_where_it_matters() -> None:
    logic = Grounded({})

    def never() -> bool:
        raise AssertionError("it does not matter")

    assert logic.all_of(False, never) is False
    assert logic.any_of(True, never) is True
    assert logic.implies(False, never) is True
    assert logic.cases(True, False, never) is False


def test_bound_names_are_never_taken_twice() -> None:
    logic = Symbolic()
    covers = logic.relation("covers", (SUB, SUB))
    s, t = logic.constant("sub.1", SUB), logic.constant("sub.2", SUB)
    said = logic.every((SUB,), lambda one: logic.some((SUB,), lambda other: covers(one, other)))
    assert z3.eq(said, z3.ForAll([s], z3.Exists([t], covers(s, t))))


# -- facts -------------------------------------------------------------------------------------------------------------


def lies(facts: Facts) -> Iterator[tuple[str, Facts]]:
    yield "a filter covers itself", evolve(facts, covers=lambda t, s: t != s and facts.covers(t, s))
    yield "covering is transitive", evolve(facts, covers=lambda t, s: t == s or (t, s) in {(0, 1), (1, 2)})
    yield "what covers matches all that is matched", evolve(facts, matches=lambda p, s: s == 1)
    yield "what covers overlaps all that is overlapped", evolve(facts, overlaps=lambda a, s: s == 1)
    yield "what matches a publication overlaps its advertisement", evolve(facts, overlaps=lambda a, s: False)
    yield "ids are in order: none before itself", evolve(facts, lower=lambda s, t: s <= t)
    yield "ids are in order: total", evolve(facts, lower=lambda s, t: False)
    yield "items are in order: transitive", evolve(facts, before=lambda i, j: (j - i) % 3 == 1)
    yield "an item says something", evolve(facts, is_sub=holding(()))
    yield "an item says one sub", evolve(facts, is_sub=lambda i, s: i == 1)
    yield "an item that says adv does not say sub", evolve(facts, is_sub=lambda i, s: s == i)


def test_each_fact_holds_of_an_instance_and_not_of_a_lie() -> None:
    structure = Structure(find("line3"))
    items = (("adv", 0), ("sub", 1), ("unsub", 2))
    logic, facts = structure.logic(len(items)), structure.facts(items)
    assert broken(structure, facts_hold(logic, facts), logic, items) is None
    for name, lie in lies(facts):
        assert name in {clause.name for clause in facts_hold(logic, lie) if clause.closed(logic) is not True}, name


# -- for Z3 ------------------------------------------------------------------------------------------------------------


def transitions(step: WorldStep, logic: Symbolic) -> Iterator[list[Clause]]:
    x, y, item = logic.constant("x", BROKER), logic.constant("y", BROKER), logic.constant("item", ITEM)
    for name in OPERATIONS:
        yield step.operation(name, logic.constant("m", DONE[name][1]))
    for kind, sort in ABOUT.items():
        yield step.delivery(kind, logic.constant("m", sort), item, x, y)


@pytest.mark.parametrize("policy", POLICIES)
def test_every_clause_is_a_formula_with_a_name_of_its_own(policy: str) -> None:
    logic = Symbolic()
    facts = declare(Facts, logic)
    now, then, sends = declare(WorldState, logic), declare(WorldState, logic, "_after"), declare(Sends, logic)
    made = list(transitions(WorldStep(logic, facts, policy, now, then, sends), logic))
    assert len(made) == len(OPERATIONS) + len(ABOUT)
    for clauses in (facts_hold(logic, facts), initially(logic, now), *made):
        names = [clause.name for clause in clauses]
        assert len(names) == len(set(names))
        for clause in clauses:
            assert isinstance(formula(clause.closed(logic)), z3.BoolRef)
            assert set(clause.sorts) <= set(SORTS)
            assert set(clause.rules) <= set(RULES)
    assert isinstance(is_quiet(logic, facts, now), z3.BoolRef)


def test_a_policy_that_there_is_not_is_refused() -> None:
    logic = Symbolic()
    known, sends = declare(TableRelations, logic), declare(Sends, logic)
    handler = HandlerStep(logic, declare(Facts, logic), "eager", None, None, known, known, sends)
    with pytest.raises(ValueError, match="no such policy: eager"):
        handler.wanted(logic.constant("u", BROKER), logic.constant("s", SUB))


def test_nothing_is_known_at_the_start() -> None:
    explored = Explored.of(world(find("tiny"), "none"))
    start = explored.worded.state(explored.world.initial(), [])
    logic = explored.worded.structure.logic()
    assert broken(explored.worded.structure, initially(logic, start), logic) is None
    busy = evolve(start, published=holding([(0,)]))
    found = broken(explored.worded.structure, initially(logic, busy), logic)
    assert found is not None
    assert found.clause == "published is empty"
