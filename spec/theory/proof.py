"""A proof in steps: lemmas that rest on hypotheses and on the lemmas before them, each an obligation of its own.

Z3 finds a proof of one step in milliseconds where it would wander for ever in all of them together. So a step names
what it rests on, of everything or of certain elements, and what was neither taken for granted nor proved is refused.

The text of a proof is a function of a scene. Read over symbols it is proved; read over an example (`examples`) it is
tried out, which is how a step shows that what it assumes can be so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import permutations, product
from typing import Any, TypeAlias

import z3
from attrs import frozen

from routeproof.spec.theory.logic import Truth, all_of, formula, implication
from routeproof.spec.theory.quiet import Scene
from routeproof.spec.theory.readings import Clause, Logic, Sort, Symbolic, Term
from routeproof.spec.theory.theorem import Obligation

Use: TypeAlias = Clause | tuple[Any, ...]
"""A clause, or a clause and terms in the order of its sorts: it is used of these only, and of all where None is."""

Says: TypeAlias = Callable[..., Truth]


def of_each(clauses: Iterable[Clause], *terms: Term) -> list[Use]:
    """What clauses about one sort say of these terms; of four or more, of different ones only, as there are many."""
    rows = {arity: list(product(terms, repeat=arity)) for arity in (1, 2, 3)}
    return [
        (clause, *row)
        for clause in clauses
        for row in rows.get(len(clause.sorts)) or permutations(terms, len(clause.sorts))
    ]


def always(*terms: Term) -> Truth:
    return True


@frozen
class Lemma:
    """`then` holds of all elements of which `when` holds."""

    clause: Clause
    when: Says
    given: Callable[..., Sequence[Use]]
    absurd: bool
    """It is there to be contradicted: together with all hypotheses, what it assumes is never so."""


class Proof:
    """Hypotheses and lemmas, in their order."""

    def __init__(self, logic: Logic) -> None:
        self.logic = logic
        self.lemmas: list[Lemma] = []
        self.taken: list[Clause] = []
        self._rests_on: dict[Clause, frozenset[str]] = {}

    def assume(self, hypothesis: str, *clauses: Clause) -> None:
        """Taken for granted, under this name."""
        for clause in clauses:
            self.taken.append(clause)
            self._rests_on[clause] = frozenset([hypothesis])

    def lemma(
        self,
        name: str,
        sorts: tuple[Sort, ...],
        then: Says,
        given: Callable[..., Sequence[Use]] | Sequence[Use],
        when: Says = always,
        absurd: bool = False,
    ) -> Clause:
        logic = self.logic
        clause = Clause(name, sorts, lambda *terms: logic.implies(when(*terms), lambda: then(*terms)))
        uses = given if callable(given) else (lambda *terms, fixed=tuple(given): fixed)
        self.lemmas.append(Lemma(clause, when, uses, absurd))
        self._rests_on[clause] = frozenset()
        if isinstance(logic, Symbolic):
            self._rests_on[clause] = frozenset().union(*map(self.rests_on, uses(*self.terms(clause))))
        return clause

    def rests_on(self, use: Use) -> frozenset[str]:
        """The hypotheses behind it."""
        clause = use[0] if isinstance(use, tuple) else use
        if clause not in self._rests_on:
            raise ValueError(f"'{clause.name}' is neither taken for granted nor proved before")
        return self._rests_on[clause]

    def hypotheses(self) -> list[str]:
        """All that its lemmas rest on, in the order in which they were taken."""
        used = frozenset[str]().union(*(self._rests_on[lemma.clause] for lemma in self.lemmas))
        taken = dict.fromkeys(name for names in self._rests_on.values() for name in names)
        return [name for name in taken if name in used]

    def terms(self, clause: Clause) -> list[Term]:
        """The elements that a lemma is proved of: any, each with a name of its own."""
        assert isinstance(self.logic, Symbolic)
        return [self.logic.constant(f"{sort.lower()}{place}", sort) for place, sort in enumerate(clause.sorts, 1)]

    def obligation(self, lemma: Lemma, can_be: bool, prefix: str = "") -> Obligation:
        """`can_be`: what it assumes is so in an example. Z3 would search long for one among quantifiers."""
        terms = self.terms(lemma.clause)
        given = [_used(self.logic, use) for use in lemma.given(*terms)]
        goal = formula(implication(all_of(*given), lemma.clause.at(*terms)))
        return Obligation(prefix + lemma.clause.name, goal, guards={"what it assumes": z3.BoolVal(can_be)})

    def holds(self) -> bool:
        """In an example: whether everything that is taken for granted is so."""
        return all(clause.closed(self.logic) is True for clause in self.taken)

    def is_possible(self, lemma: Lemma) -> bool:
        """In an example: whether what the lemma assumes is so of some elements."""
        return lemma.absurd or self.logic.some(lemma.clause.sorts, lemma.when) is True


Build: TypeAlias = Callable[[Scene], Proof]


def obligations(build: Build, scene: Scene, examples: Iterable[Scene], prefix: str = "") -> list[Obligation]:
    """Of a proof in any scene. That it is not about nothing is shown by examples, of which each lemma needs one."""
    proof = build(scene)
    tried = [build(scene) for scene in examples]
    fit = [each for each in tried if each.holds()]
    return [
        proof.obligation(lemma, any(each.is_possible(each.lemmas[place]) for each in fit), prefix)
        for place, lemma in enumerate(proof.lemmas)
    ]


def _used(logic: Logic, use: Use) -> Truth:
    if isinstance(use, Clause):
        return use.closed(logic)
    clause, *terms = use
    terms += [None] * (len(clause.sorts) - len(terms))
    free = [sort for sort, term in zip(clause.sorts, terms, strict=True) if term is None]

    def body(*rest: Term) -> Truth:
        left = iter(rest)
        return clause.at(*(next(left) if term is None else term for term in terms))

    return logic.every(free, body) if free else body()
