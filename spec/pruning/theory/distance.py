"""Equation 3's statistic: the distance that a publication tells on its way (STA-1, STA-2).

It is zero where the publication matches several subscriptions, else one more than at the broker before. That it is at
most m where it arrives says that several match at one of the m + 1 last brokers: `distance_told`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import z3
from attrs import frozen

from routeproof.spec.pruning.theory.similarity import source_of
from routeproof.spec.theory.logic.formulas import Truth
from routeproof.spec.theory.logic.proof import Proof, of_each
from routeproof.spec.theory.logic.readings import BROKER, PUB, SUB, Clause, Symbolic, Term
from routeproof.spec.theory.propagation.paths import has_for
from routeproof.spec.theory.propagation.settling import Hypotheses, along
from routeproof.spec.theory.relation.quiet_states import Scene

STATISTIC = "a publication's distance is zero at its publisher, and as STA-2 says at every other broker"
HOPS = "hops are counted along the path"

Number = Callable[..., Term]
"""A function from brokers (and a publication) to numbers."""


@frozen
class Measures:
    """`distance(x, p)`: what p carries at x. `hops(x, y)`: how many links lie between."""

    distance: Number
    hops: Number


def matches_several(q: Scene, x: Term, p: Term) -> Truth:
    """x has two subscriptions that match p, from elsewhere than where p comes from."""
    a = q.facts.adv_of(p)
    return has_several(q, lambda t: q.logic.all_of(q.facts.matches(p, t), lambda: has_for(q, x, t, a)))


def has_several(q: Scene, counts: Callable[[Term], Truth]) -> Truth:
    logic = q.logic
    return logic.some((SUB, SUB), lambda t, u: logic.all_of(logic.apart(t, u), lambda: counts(t), lambda: counts(u)))


Several: TypeAlias = Callable[[Scene, Term, Term], Truth]
"""Whether a broker has several subscriptions that match a publication: what STA-2 asks."""


def measures_of(q: Scene, several: Several = matches_several) -> Measures:
    """Any numbers, of which `measured` is then taken for granted; in an example, those that there are."""
    logic, tree = q.logic, q.tree
    if isinstance(logic, Symbolic):
        broker, publication = logic.sort(BROKER), logic.sort(PUB)
        return Measures(
            z3.Function("distance", broker, publication, z3.IntSort()),
            z3.Function("hops", broker, broker, z3.IntSort()),
        )

    def hops(x: Term, y: Term) -> int:
        return 0 if x == y else hops(tree.toward(x, y), y) + 1

    def distance(x: Term, p: Term) -> int:
        if x == source_of(q, p) or several(q, x, p):
            return 0
        return distance(tree.toward(x, source_of(q, p)), p) + 1

    return Measures(distance, hops)


def measured(q: Scene, measures: Measures) -> tuple[Clause, Clause]:
    """STA-1 and STA-2; and what hops are."""
    logic, tree, distance, hops = q.logic, q.tree, measures.distance, measures.hops

    def told_at(x: Term, p: Term) -> Truth:
        source = source_of(q, p)
        return logic.cases(
            logic.equal(x, source),
            logic.equal(distance(x, p), 0),
            lambda: logic.cases(
                matches_several(q, x, p),
                logic.equal(distance(x, p), 0),
                lambda: logic.equal(distance(x, p), distance(tree.toward(x, source), p) + 1),
            ),
        )

    return (
        Clause("distance", (BROKER, PUB), told_at),
        Clause(
            "hops",
            (BROKER, BROKER),
            lambda x, y: logic.cases(
                logic.equal(x, y),
                logic.equal(hops(x, y), 0),
                lambda: logic.equal(hops(x, y), hops(tree.toward(x, y), y) + 1),
            ),
        ),
    )


def distance_told(proof: Proof, q: Scene, known: Hypotheses, measures: Measures) -> Clause:
    """Whether a distance is at most that many hops says whether several matched on the last of them."""
    logic, tree, ways = q.logic, q.tree, known.ways
    distance, hops = measures.distance, measures.hops
    carried, counted = measured(q, measures)
    proof.assume(STATISTIC, carried)
    proof.assume(HOPS, counted)
    stepping = steps_back(proof, q, known)
    distances = along(
        proof,
        q,
        "distances are not negative",
        (BROKER, PUB),
        when=lambda x, p: True,
        start=lambda x, p: source_of(q, p),
        end=lambda x, p: x,
        holds=lambda z, x, p: distance(z, p) >= 0,
        begins=lambda x, p: [(carried, source_of(q, p), p)],
        onward=lambda x, p, z: [
            (carried, tree.toward(z, x), p),
            (stepping, x, source_of(q, p), z, source_of(q, p)),
            (ways.parting, x, source_of(q, p), source_of(q, p)),
        ],
    )
    lengths = along(
        proof,
        q,
        "hops are not negative",
        (BROKER, BROKER),
        when=lambda x, y: True,
        start=lambda x, y: y,
        end=lambda x, y: x,
        holds=lambda z, x, y: hops(z, y) >= 0,
        begins=lambda x, y: [(counted, y, y)],
        onward=lambda x, y, z: [(counted, tree.toward(z, x), y), (stepping, x, y, z, y), (ways.parting, x, y, y)],
    )
    return along(
        proof,
        q,
        "a distance is at most that many hops where several matched on the last of them",
        (BROKER, BROKER, PUB),
        when=lambda x, y, p: logic.all_of(tree.between(x, y, source_of(q, p)), logic.apart(y, source_of(q, p))),
        start=lambda x, y, p: y,
        end=lambda x, y, p: x,
        holds=lambda z, x, y, p: logic.iff(distance(z, p) <= hops(z, y), several_on_path(q, z, y, p)),
        begins=lambda x, y, p: [
            (carried, y, p),
            (counted, y, y),
            (distances, tree.toward(y, source_of(q, p)), p),
            (ways.parting, y, None, y),
        ],
        onward=lambda x, y, p, z: [
            (carried, tree.toward(z, x), p),
            (counted, tree.toward(z, x), y),
            (distances, z, p),
            (lengths, z, y),
            (stepping, x, y, z, source_of(q, p)),
            (ways.first_step, tree.toward(z, x), y),
        ],
    )


def several_on_path(q: Scene, x: Term, y: Term, p: Term) -> Truth:
    logic = q.logic
    return logic.some((BROKER,), lambda w: logic.all_of(q.tree.between(x, w, y), lambda: matches_several(q, w, p)))


def steps_back(proof: Proof, q: Scene, known: Hypotheses) -> Clause:
    """For z on the way from y back to x, where y is on that from x to h: from the one before z, the next one is z."""
    logic, tree = q.logic, q.tree

    def before(z: Term, x: Term) -> Term:
        return tree.toward(z, x)

    return proof.lemma(
        "a step back along a path is a step forward from there",
        (BROKER,) * 4,
        when=lambda x, y, z, h: logic.all_of(tree.between(x, y, h), tree.between(y, z, x), logic.apart(z, x)),
        then=lambda x, y, z, h: logic.all_of(
            *(logic.apart(before(z, x), end) for end in (y, h)),
            *(logic.equal(tree.toward(before(z, x), end), z) for end in (y, h)),
        ),
        given=lambda x, y, z, h: of_each(known.ways.of_three(), x, y, z, h, before(z, x)),
    )
