"""Foundations of proofs about quiet states: their hypotheses, and the result of settling under each policy.

Here the policies differ, and here only: whatever is wanted, a neighbour is sent candidates only, and for every
candidate something that covers it. The latter is where covering needs finitely many subscriptions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import field, frozen

from routeproof.spec.theory import BROKER, SUB, Clause, Sort, Term, Truth, is_strict_order, topmost_from
from routeproof.spec.theory.proof import Proof, Use
from routeproof.spec.theory.relation import COVERING, DRAWN, FINITE, IDS, MATCHING, TREE, facts_hold, path_induction
from routeproof.spec.theory.relation.quiet_states import QUIET, Scene, quiet_holds
from routeproof.spec.theory.relation.ways import WAYS, TreeWays, ways_hold

FINITELY_MANY = "subscriptions are finitely many: of those in question, if any, one is quenched by none of them"


@frozen
class Hypotheses:
    """The hypotheses, taken for granted. After the tree, those on quiet states, in the order of `quiet.QUIET`."""

    ways: TreeWays
    agreement: Clause
    settled: Clause
    flooded: Clause
    no_stale_advertisement: Clause
    subscribed: Clause
    no_stale_subscription: Clause
    covering: Sequence[Clause] = field(kw_only=True)
    ids: Sequence[Clause] = field(kw_only=True)
    drawn: Clause = field(kw_only=True)
    matching: Clause = field(kw_only=True)


def known_of(proof: Proof, q: Scene) -> Hypotheses:
    ways = ways_hold(q.logic, q.tree)
    proof.assume(TREE, *ways.every_one(), theorem=WAYS)
    quiet = quiet_holds(q)
    for name, clause in quiet.items():
        proof.assume(name, clause)
    facts = facts_hold(q.logic, q.facts)
    covering, ids, (drawn,), (matching,) = (
        [each for each in facts if each.source == hypothesis] for hypothesis in (COVERING, IDS, DRAWN, MATCHING)
    )
    for each in (*covering, *ids, drawn, matching):
        proof.assume(each.source, each)
    return Hypotheses(
        ways, *(quiet[name] for name in QUIET), covering=covering, ids=ids, drawn=drawn, matching=matching
    )


# -- what settling comes to --------------------------------------------------------------------------------------------


def told_candidates(proof: Proof, q: Scene, known: Hypotheses) -> Clause:
    return proof.lemma(
        "a neighbour is told candidates only",
        (BROKER, BROKER, SUB),
        when=lambda b, u, s: q.logic.all_of(q.tree.link(b, u), q.state.sent(b, u, s)),
        then=q.candidate,
        given=lambda b, u, s: [(known.settled, b, u, s)],
    )


def told_coverers(proof: Proof, q: Scene, known: Hypotheses) -> Clause:
    logic = q.logic
    unquenched = []
    if q.policy == "active":
        unquenched = [_unquenched(proof, q, known, q.candidate)]
    elif q.policy == "lazy":
        unquenched = [_unquenched(proof, q, known, lambda b, u, s: q.broker(b).fresh(u, s))]
    return proof.lemma(
        "of every candidate a neighbour is told something that covers it",
        (BROKER, BROKER, SUB),
        when=lambda b, u, s: logic.all_of(q.tree.link(b, u), q.candidate(b, u, s)),
        then=lambda b, u, s: logic.some((SUB,), lambda t: logic.all_of(q.state.sent(b, u, t), q.facts.covers(t, s))),
        given=lambda b, u, s: [(known.settled, b, u), *known.covering, *((each, b, u, s) for each in unquenched)],
    )


def _unquenched(proof: Proof, q: Scene, known: Hypotheses, among: Callable[[Term, Term, Term], Truth]) -> Clause:
    """COV-2: below whatever is quenched, something is not."""
    logic = q.logic

    def quenches(b: Term, u: Term, t: Term, s: Term) -> Truth:
        return q.broker(b).quenches(u, t, s)

    order = proof.lemma(
        "quenching is a strict order",
        (BROKER, BROKER),
        then=lambda b, u: is_strict_order(logic, SUB, lambda t, s: quenches(b, u, t, s)),
        given=[*known.covering, *known.ids],
    )

    top = Clause(
        "one is quenched by none",
        (BROKER, BROKER, SUB),
        lambda b, u, s: logic.implies(
            is_strict_order(logic, SUB, lambda t, s: quenches(b, u, t, s)),
            lambda: topmost_from(logic, SUB, s, lambda t: among(b, u, t), lambda r, t: quenches(b, u, r, t)),
        ),
    )
    proof.assume(FINITELY_MANY, top)
    return proof.lemma(
        "what is quenched is covered by what is not",
        (BROKER, BROKER, SUB),
        when=among,
        then=lambda b, u, s: logic.some(
            (SUB,),
            lambda t: logic.all_of(q.broker(b).unquenched(u, t, lambda u, t: among(b, u, t)), q.facts.covers(t, s)),
        ),
        given=lambda b, u, s: [(top, b, u, s), (order, b, u), *known.covering],
    )


# -- along a path ------------------------------------------------------------------------------------------------------


def along(
    proof: Proof,
    q: Scene,
    name: str,
    sorts: tuple[Sort, ...],
    when: Callable[..., Truth],
    start: Callable[..., Term],
    end: Callable[..., Term],
    holds: Callable[..., Truth],
    onward: Callable[..., Sequence[Use]],
    begins: Callable[..., Sequence[Use]] = lambda *terms: (),
) -> Clause:
    """Induction along a path: `holds(y, *terms)` at its start, onward along each of its links, hence at its end."""
    logic, tree = q.logic, q.tree

    def on_the_way(*terms: Term) -> Truth:
        *terms_, y = terms
        return logic.all_of(
            when(*terms_),
            lambda: tree.between(start(*terms_), y, end(*terms_)),
            lambda: logic.apart(y, end(*terms_)),
            lambda: holds(y, *terms_),
        )

    first = proof.lemma(
        f"{name}: at the start", sorts, when=when, then=lambda *terms: holds(start(*terms), *terms), given=begins
    )
    step = proof.lemma(
        f"{name}: onward",
        (*sorts, BROKER),
        when=on_the_way,
        then=lambda *terms: holds(tree.toward(terms[-1], end(*terms[:-1])), *terms[:-1]),
        given=onward,
    )
    induction = Clause(
        f"{name}: induction",
        sorts,
        lambda *terms: path_induction(logic, tree, lambda y: holds(y, *terms), start(*terms), end(*terms)),
    )
    proof.assume(FINITE, induction, theorem=WAYS)
    return proof.lemma(
        name,
        sorts,
        when=when,
        then=lambda *terms: holds(end(*terms), *terms),
        given=lambda *terms: [(first, *terms), (step, *terms), (induction, *terms)],
    )
