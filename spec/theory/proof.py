"""Theorems, their obligations, and proofs in steps.

A theorem is a sentence with its hypotheses and the obligations that prove it. An obligation that is proved from
contradictory assumptions says nothing. Therefore each names its guards: formulas that must be satisfiable together with
the assumptions, otherwise the theorem fails.

A proof in steps has lemmas that rest on hypotheses and on the lemmas before them, each an obligation of its own. Z3
proves one step in milliseconds where it finds no proof from all lemmas together. A step names what it rests on; a
premise that was neither assumed nor proved is refused.

Each premise names its source: a hypothesis of the theorem, or the theorem that proves it. What a theorem assumes and
what it rests on follow from what its obligations are given, and the judge refuses a premise of another source
(`Theorem.unnamed`).

The text of a proof is a function of a scene. Read over symbols it is proved; read over an example (`quiet_states`) it
is tried out, which shows that the assumptions of a step can be met.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import permutations, product
from typing import Any, TypeAlias, TypeVar

import z3
from attrs import Factory, field, frozen

from routeproof.spec.theory import Clause, Logic, Sort, Symbolic, Term, Truth, all_of, always, formula, implication


@frozen
class ShownValue:
    """Something that a counterexample tells: what `write` makes of the values that its terms have."""

    terms: Sequence[z3.ExprRef]
    write: Callable[[Sequence[Any]], str]


DEFINITION = "a definition"
"""The source of a premise that says what a symbol of the obligation means, and nothing of the world."""

NO_SOURCE = "a premise without a source"


def proved_by(theorem: str) -> str:
    """Returns the source of what this theorem proves."""
    return f"theorem {theorem}"


@frozen
class Premise:
    """A formula that an obligation is given, and its sources: hypotheses in their words, or theorems."""

    formula: z3.BoolRef = field(converter=formula)
    sources: tuple[str, ...] = (NO_SOURCE,)


def premise(logic: Logic, clause: Clause, *sources: str) -> Premise:
    """Returns the sentence of a clause as a premise, from these sources or from the clause's own."""
    return Premise(clause.closed(logic), sources or (clause.source or NO_SOURCE,))


def _each_written(guards: Mapping[str, Truth]) -> dict[str, z3.BoolRef]:
    return {name: formula(guard) for name, guard in guards.items()}


def _premises(given: Iterable[Premise | z3.BoolRef]) -> tuple[Premise, ...]:
    return tuple(each if isinstance(each, Premise) else Premise(each) for each in given)


@frozen
class Obligation:
    """One formula that must be valid: `goal`, given all of `given`."""

    name: str
    goal: z3.BoolRef = field(converter=formula)
    given: Sequence[Premise] = field(default=(), converter=_premises)
    guards: Mapping[str, z3.BoolRef] = field(factory=dict, converter=_each_written)
    """By what they say: each must be possible. What is given is, in any case."""
    shown: Mapping[str, ShownValue] = Factory(dict)
    smaller: Sequence[z3.BoolRef] = ()
    """Further wishes for a counterexample, from the most wanted on: the first one that can be met is taken."""
    supposes: frozenset[str] = frozenset()
    """Sources of the hypotheses of the goal itself, in addition to the given ones."""

    @property
    def formulas(self) -> list[z3.BoolRef]:
        """The premises, as Z3 is given them."""
        return [each.formula for each in self.given]

    @property
    def sources(self) -> set[str]:
        """Everything that the obligation takes from elsewhere."""
        return {*self.supposes, *(source for each in self.given for source in each.sources)} - {DEFINITION}


@frozen
class Theorem:
    """`bound` is empty where it is about everything; otherwise it says about what."""

    id: str
    rules: tuple[str, ...]
    about: str
    obligations: Callable[[], Sequence[Obligation]]
    hypotheses: tuple[str, ...] = ()
    bound: str = ""
    rests_on: tuple[str, ...] = ()
    """The theorems that prove what its own proof is given, by id: hypotheses that are no assumptions."""
    beside: tuple[str, ...] = ()
    """Theorems on which it rests without being given what they say, such as the other cases of the same induction."""

    @property
    def basis(self) -> tuple[str, ...]:
        """Every theorem that it rests on."""
        return (*self.rests_on, *self.beside)

    def unnamed(self, obligations: Iterable[Obligation]) -> list[str]:
        """Returns the sources of its obligations' premises that the theorem does not name."""
        named = {*self.hypotheses, *map(proved_by, (self.id, *self.basis))}
        return sorted({source for each in obligations for source in each.sources} - named)


Use: TypeAlias = Clause | tuple[Any, ...]
"""A clause, or a clause and terms in the order of its sorts: it is used of these only, and of all where None is."""

Says: TypeAlias = Callable[..., Truth]


def of_each(clauses: Iterable[Clause], *terms: Term) -> list[Use]:
    """Uses of clauses about one sort for these terms; for four or more, different terms only, to be few."""
    rows = {arity: list(product(terms, repeat=arity)) for arity in (1, 2, 3)}
    return [
        (clause, *row)
        for clause in clauses
        for row in rows.get(len(clause.sorts)) or permutations(terms, len(clause.sorts))
    ]


@frozen
class ProofLemma:
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
        self.lemmas: list[ProofLemma] = []
        self.taken: list[Clause] = []
        self._rests_on: dict[Clause, frozenset[str]] = {}
        self._proved_by: dict[Clause, frozenset[str]] = {}

    def assume(self, hypothesis: str, *clauses: Clause, theorem: str = "") -> None:
        """Taken for granted, under this name; `theorem` is the one that proves it of all that the hypothesis allows."""
        for clause in clauses:
            self.taken.append(clause)
            self._rests_on[clause] = frozenset([hypothesis])
            self._proved_by[clause] = frozenset([proved_by(theorem)] if theorem else [])

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
        self.lemmas.append(ProofLemma(clause, when, uses, absurd))
        self._rests_on[clause] = self._proved_by[clause] = frozenset()
        if isinstance(logic, Symbolic):
            used = uses(*self.terms(clause))
            self._rests_on[clause] = frozenset().union(*map(self.rests_on, used))
            self._proved_by[clause] = frozenset().union(*(self._proved_by[_clause_of(use)] for use in used))
        return clause

    def rests_on(self, use: Use) -> frozenset[str]:
        """The hypotheses behind it."""
        clause = _clause_of(use)
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
        return self.logic.any_of_each(clause.sorts)

    def obligation(self, lemma: ProofLemma, can_be: bool, prefix: str = "") -> Obligation:
        """`can_be`: what it assumes is so in an example. Z3 would search long for one among quantifiers."""
        terms = self.terms(lemma.clause)
        given = [_used(self.logic, use) for use in lemma.given(*terms)]
        goal = implication(all_of(*given), lemma.clause.at(*terms))
        return Obligation(
            prefix + lemma.clause.name,
            goal,
            guards={"what it assumes": can_be},
            supposes=self._rests_on[lemma.clause] | self._proved_by[lemma.clause],
        )

    def holds(self) -> bool:
        """In an example: whether everything that is taken for granted is so."""
        return all(clause.closed(self.logic) is True for clause in self.taken)

    def is_possible(self, lemma: ProofLemma) -> bool:
        """In an example: whether what the lemma assumes is so of some elements."""
        return lemma.absurd or self.logic.some(lemma.clause.sorts, lemma.when) is True


S = TypeVar("S")

Build: TypeAlias = Callable[[S], Proof]
"""The text of a proof, as a function of a scene."""


def obligations(build: Build[S], scene: S, examples: Iterable[S], prefix: str = "") -> list[Obligation]:
    """Obligations of a proof in any scene. Examples show that it is not vacuous; each lemma needs one."""
    proof = build(scene)
    tried = [build(scene) for scene in examples]
    fit = [each for each in tried if each.holds()]
    return [
        proof.obligation(lemma, any(each.is_possible(each.lemmas[place]) for each in fit), prefix)
        for place, lemma in enumerate(proof.lemmas)
    ]


def _clause_of(use: Use) -> Clause:
    clause: Clause = use[0] if isinstance(use, tuple) else use
    return clause


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
