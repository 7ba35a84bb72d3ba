"""Property 3 and the statistic of Equation 3: shares along a path, and the distance that a publication carries.

The share of S's matching publications that others match too does not decrease on the way to a publisher. Everything is
about the publications of one advertisement, and about one population at rest. `Similarity` names what is counted at a
broker; that one set of publications lies within another is proved of brokers. `shares` states it for shares:
publications are counted one by one, and divided by how many S matches. The proof is an induction over the sample, which
is a list: its start and its step are obligations, and the induction schema for numbers does the rest.

A publication carries a distance on its way (STA-1, STA-2). It is zero where the publication matches several
subscriptions, otherwise one more than at the broker before. If it is at most m on arrival, several subscriptions match
at one of the m + 1 last brokers: `distance_told`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import z3
from attrs import frozen

from routeproof.spec.theory import ADV, BROKER, PUB, SUB, Clause, Symbolic, Term, Truth
from routeproof.spec.theory.proof import Obligation, Premise, Proof, of_each
from routeproof.spec.theory.propagation.paths import has, has_for
from routeproof.spec.theory.propagation.settling import Hypotheses, along, known_of
from routeproof.spec.theory.relation.quiet_states import Scene
from routeproof.spec.theory.relation.ways import ways_hold

# -- shares ------------------------------------------------------------------------------------------------------------

PLACES = (BROKER, BROKER, SUB, PUB)

NESTED = (
    "who is on what is left of a path is on the path, as on a tree (theorem TreeWays) and wherever paths are shortest"
)
"""All that Property 3 needs of the overlay."""


def source_of(q: Scene, p: Term) -> Term:
    """The home of its publisher."""
    return q.source(q.facts.adv_of(p))


def passes(q: Scene, x: Term, s: Term, p: Term) -> Truth:
    """Another active subscription matches p, and x lies on the path from its home to the publisher of p."""
    logic = q.logic

    def other(t: Term) -> Truth:
        return logic.all_of(
            logic.apart(t, s),
            q.wants(t),
            lambda: q.facts.matches(p, t),
            lambda: q.tree.between(q.home(t), x, source_of(q, p)),
        )

    return logic.some((SUB,), other)


def in_table(q: Scene, x: Term, s: Term, p: Term) -> Truth:
    """Another subscription in the table of x matches p."""
    logic = q.logic

    def other(t: Term, f: Term) -> Truth:
        return logic.all_of(logic.apart(t, s), q.state.subs(x, t, f), lambda: q.facts.matches(p, t))

    return logic.some((SUB, BROKER), other)


def on_the_way(q: Scene, x: Term, y: Term, s: Term, p: Term) -> Truth:
    """x and y are on the path from the home of s to the publisher of p, in this order, and s matches p."""
    return q.logic.all_of(
        q.facts.matches(p, s),
        lambda: q.tree.between(q.home(s), x, source_of(q, p)),
        lambda: q.tree.between(x, y, source_of(q, p)),
    )


def property_3(q: Scene) -> Proof:
    """Every publication that is counted at a broker is counted at every later one."""
    proof = Proof(q.logic)
    logic, ways = q.logic, ways_hold(q.logic, q.tree)
    proof.assume(NESTED, ways.nested)
    proof.lemma(
        "Property 3: what others' paths pass at a broker, they pass at every later one",
        PLACES,
        when=lambda x, y, s, p: logic.all_of(on_the_way(q, x, y, s, p), lambda: passes(q, x, s, p)),
        then=lambda x, y, s, p: passes(q, y, s, p),
        given=lambda x, y, s, p: [(ways.nested, None, x, source_of(q, p), y)],
    )
    return proof


def property_3_in_tables(q: Scene) -> Proof:
    """Without covering the same is true of what is in their tables, wherever that came from."""
    proof = Proof(q.logic)
    known = known_of(proof, q)
    logic, tree, ways = q.logic, q.tree, known.ways

    def drawn(x: Term, t: Term, a: Term) -> Truth:
        return logic.all_of(has(q, x, t), q.offers(a), q.facts.overlaps(a, t))

    step = proof.lemma(
        "who has what an advertisement draws, the next one on the way to that has it too",
        (BROKER, SUB, ADV),
        when=lambda x, t, a: logic.all_of(drawn(x, t, a), logic.apart(x, q.source(a))),
        then=lambda x, t, a: has(q, tree.toward(x, q.source(a)), t),
        given=lambda x, t, a: [
            known.agreement,
            known.settled,
            (known.flooded, x, a),
            (ways.next_one, x, q.source(a)),
            ways.both_ways,
        ],
    )
    stays = along(
        proof,
        q,
        "who has what an advertisement draws, has it in all tables on the way to that",
        (BROKER, BROKER, SUB, ADV),
        when=lambda x, y, t, a: logic.all_of(drawn(x, t, a), tree.between(x, y, q.source(a))),
        start=lambda x, y, t, a: x,
        end=lambda x, y, t, a: y,
        holds=lambda z, x, y, t, a: has(q, z, t),
        onward=lambda x, y, t, a, z: [
            (step, z, t, a),
            (ways.within, x, y, q.source(a), z),
            (ways.same_way, z, y, q.source(a)),
            (ways.parting, z, y, q.source(a)),
        ],
    )
    proof.lemma(
        "Property 3 in tables: what is in a table is in all later ones",
        PLACES,
        when=lambda x, y, s, p: logic.all_of(
            on_the_way(q, x, y, s, p), lambda: q.offers(q.facts.adv_of(p)), lambda: in_table(q, x, s, p)
        ),
        then=lambda x, y, s, p: in_table(q, y, s, p),
        given=lambda x, y, s, p: [(stays, x, y, None, q.facts.adv_of(p)), known.drawn],
    )
    return proof


SAMPLE = "the sample is finite, and the same at every broker"
MATCHED = "S matches something in it: of nothing there is no share (SIM-4)"


def shares() -> list[Obligation]:
    """Counts of publications 0 to n - 1: how many count at one broker, at another, and how many S matches."""
    n = z3.Int("n")
    counts = one, other, matched = [
        z3.Function(name, z3.IntSort(), z3.IntSort()) for name in ("one", "other", "matched")
    ]
    members = in_one, in_other, in_s = [z3.Function(f"in_{each}", z3.IntSort(), z3.BoolSort()) for each in counts]

    def ordered(at: z3.ArithRef) -> z3.BoolRef:
        return z3.And(one(at) >= 0, one(at) <= other(at), other(at) <= matched(at))

    counted = [
        condition
        for count, member in zip(counts, members, strict=True)
        for condition in (count(0) == 0, count(n + 1) == count(n) + z3.If(member(n), 1, 0))
    ]
    nested = z3.And(z3.Implies(in_one(n), in_other(n)), z3.Implies(in_other(n), in_s(n)))
    more = {"the next one counts at the other broker only": z3.And(nested, ordered(n), in_other(n), z3.Not(in_one(n)))}
    i, j, k = z3.Ints("i j k")
    share = [z3.ToReal(each) / z3.ToReal(k) for each in (i, j)]
    in_order = z3.And(i >= 0, i <= j, j <= k)
    same = z3.And(in_one(n) == in_other(n), one(n) == other(n))
    known = [Premise(each, (SAMPLE,)) for each in counted]
    return [
        Obligation(
            "of no publication the counts are in order",
            ordered(z3.IntVal(0)),
            known,
            {"there is one that counts at the other broker only": z3.And(nested, in_other(n), z3.Not(in_one(n)))},
        ),
        Obligation(
            "one more publication keeps them in order",
            z3.Implies(z3.And(nested, ordered(n)), ordered(n + 1)),
            known,
            more,
        ),
        Obligation(
            "what is counted at both or at neither is counted equally",
            z3.And(one(0) == other(0), z3.Implies(same, one(n + 1) == other(n + 1))),
            known,
            {"the next one counts at both": z3.And(same, in_one(n))},
        ),
        Obligation(
            "shares are in the order of counts, from 0 to 1",
            z3.Implies(z3.And(in_order, k > 0), z3.And(share[0] >= 0, share[0] <= share[1], share[1] <= 1)),
            guards={"some, not all": z3.And(in_order, i > 0, i < j, j < k)},
            supposes=frozenset([MATCHED]),
        ),
    ]


# -- the distance of a publication -------------------------------------------------------------------------------------


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
