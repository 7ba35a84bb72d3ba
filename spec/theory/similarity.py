"""Property 3: how much of what S matches others match too does not decrease on the way to a publisher.

Everything is about the publications of one advertisement, and about one population at rest. `Similarity` says what is
counted at a broker; that one set of publications lies within another is what is proved of brokers, `counting` is what
that means for shares.
"""

from __future__ import annotations

from routeproof.spec.theory.logic import Truth
from routeproof.spec.theory.proof import Proof
from routeproof.spec.theory.propagation import has
from routeproof.spec.theory.quiet import Scene
from routeproof.spec.theory.readings import ADV, BROKER, PUB, SUB, Term
from routeproof.spec.theory.settling import along, known_of
from routeproof.spec.theory.ways import ways_hold

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
    """What is counted at a broker is counted at every later one."""
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
