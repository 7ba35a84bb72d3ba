"""Property 3: how much of what S matches others match too does not decrease on the way to a publisher.

Everything is about the publications of one advertisement, and about one population at rest. `Similarity` says what is
counted at a broker; that one set of publications lies within another is what is proved of brokers.

`shares` is what that means for shares: publications are counted one by one, and divided by how many S matches. It is
induction over the sample, which is a list: its start and its step are obligations. That the two are enough is what
induction over numbers says.
"""

from __future__ import annotations

import z3

from routeproof.spec.theory.logic.formulas import Truth
from routeproof.spec.theory.logic.proof import Obligation, Premise, Proof
from routeproof.spec.theory.logic.readings import ADV, BROKER, PUB, SUB, Term
from routeproof.spec.theory.propagation.paths import has
from routeproof.spec.theory.propagation.settling import along, known_of
from routeproof.spec.theory.relation.quiet_states import Scene
from routeproof.spec.theory.relation.ways import ways_hold

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
