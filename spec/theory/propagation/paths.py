"""Property 1: where a subscription is, once nothing moves, on any tree and in any number.

What `directed` and `drawn_there` say holds under every policy: who has a subscription has it from the side of its home,
and lies on the way to an advertisement that it intersects. Property 1 adds that without covering nothing is held back.
"""

from __future__ import annotations

from collections.abc import Callable

from attrs import frozen

from routeproof.spec.theory import ADV, BROKER, SUB, Clause, Term, Truth
from routeproof.spec.theory.proof import Proof, Use
from routeproof.spec.theory.propagation.settling import Hypotheses, along, known_of, told_candidates
from routeproof.spec.theory.relation import FINITE, furthest
from routeproof.spec.theory.relation.quiet_states import Scene

ENTRY = (BROKER, SUB, BROKER)


# -- under every policy ------------------------------------------------------------------------------------------------


@frozen
class Directed:
    """Clauses about the direction of subscriptions: their origin, who else has them, and that they are active."""

    from_home: Clause
    back: Clause
    active: Clause
    arrives: Clause


def directed(proof: Proof, q: Scene, known: Hypotheses, told: Clause) -> Directed:
    logic, tree, subs, home = q.logic, q.tree, q.state.subs, q.home
    all_of, apart, equal = logic.all_of, logic.apart, logic.equal
    ways = known.ways.all()

    def astray(x: Term, s: Term, f: Term) -> Truth:
        return all_of(subs(x, s, f), lambda: apart(f, x), lambda: apart(f, tree.toward(x, home(s))))

    def is_astray(x: Term, s: Term) -> Truth:
        return logic.some((BROKER,), lambda f: astray(x, s, f))

    onward = proof.lemma(
        "who has it from elsewhere than the side of its home, has it from one who does, further from home",
        ENTRY,
        when=astray,
        then=lambda x, s, f: all_of(is_astray(f, s), tree.between(home(s), x, f), apart(f, x)),
        given=[known.agreement, told, known.no_stale_subscription, *ways],
        absurd=True,
    )
    last = Clause("the last one astray", (SUB,), lambda s: furthest(logic, tree, lambda x: is_astray(x, s), home(s)))
    proof.assume(FINITE, last)
    nobody = proof.lemma(
        "nobody has it from elsewhere than the side of its home",
        ENTRY,
        then=lambda x, s, f: logic.no(astray(x, s, f)),
        given=lambda x, s, f: [(last, s), (onward, None, s)],
    )
    from_home = proof.lemma(
        "who has it, has it from the side of its home",
        ENTRY,
        when=subs,
        then=lambda x, s, f: equal(f, tree.toward(x, home(s))),
        given=[nobody, known.no_stale_subscription, *ways],
    )
    back = along(
        proof,
        q,
        "who has it, has it by way of all on the path to its home",
        ENTRY,
        when=lambda x, s, z: all_of(has(q, x, s), tree.between(x, z, home(s))),
        start=lambda x, s, z: x,
        end=lambda x, s, z: z,
        holds=lambda y, x, s, z: has(q, y, s),
        onward=lambda x, s, z, y: [
            (known.agreement, tree.toward(y, z), y, s),
            (told, tree.toward(y, z), y, s),
            (from_home, y, s),
            (known.ways.within, x, z, home(s), y),
            (known.ways.same_way, y, z, home(s)),
            (known.ways.next_one, y, z),
        ],
    )
    active = proof.lemma(
        "what anybody has is active",
        ENTRY,
        when=subs,
        then=lambda x, s, f: q.wants(s),
        given=lambda x, s, f: [
            (back, x, s, home(s)),
            (from_home, home(s), s),
            (known.no_stale_subscription, home(s), s),
            *ways,
        ],
    )
    arrives = proof.lemma(
        "what is sent arrives, from the side of its home",
        (BROKER, BROKER, SUB),
        when=lambda x, y, s: all_of(tree.link(x, y), q.state.sent(x, y, s)),
        then=lambda x, y, s: all_of(held(q, y, s), equal(x, tree.toward(y, home(s)))),
        given=lambda x, y, s: [(known.agreement, x, y, s), (from_home, y, s, x), (known.ways.neighbours, x, y)],
    )
    return Directed(from_home, back, active, arrives)


def drawn_there(proof: Proof, q: Scene, known: Hypotheses, told: Clause, where: Directed) -> Clause:
    """Under every policy: what drew it there lies beyond."""
    logic = q.logic
    return proof.lemma(
        "who has it is its home, or between that and an advertisement that it intersects",
        ENTRY,
        when=lambda x, s, f: logic.all_of(q.state.subs(x, s, f), logic.apart(x, q.home(s))),
        then=lambda x, s, f: logic.some((ADV,), lambda a: draws(q, a, x, s)),
        given=[known.agreement, told, known.no_stale_advertisement, where.from_home, *known.ways.all()],
    )


def has(q: Scene, x: Term, s: Term) -> Truth:
    return q.logic.some((BROKER,), lambda f: q.state.subs(x, s, f))


def held(q: Scene, x: Term, s: Term) -> Truth:
    """x has s, from the side of its home."""
    return q.state.subs(x, s, q.tree.toward(x, q.home(s)))


def draws(q: Scene, a: Term, x: Term, s: Term) -> Truth:
    """a is active, s intersects it, and x lies on the path between their homes."""
    return q.logic.all_of(
        q.offers(a), lambda: q.facts.overlaps(a, s), lambda: q.tree.between(q.home(s), x, q.source(a))
    )


def has_for(q: Scene, x: Term, s: Term, a: Term) -> Truth:
    """x has s from elsewhere than from where a is, or a is there."""
    logic = q.logic
    return logic.some(
        (BROKER,),
        lambda f: logic.all_of(
            q.state.subs(x, s, f),
            lambda: logic.any_of(logic.equal(x, q.source(a)), lambda: logic.apart(f, q.tree.toward(x, q.source(a)))),
        ),
    )


def is_candidate(proof: Proof, q: Scene, known: Hypotheses) -> Clause:
    logic, tree = q.logic, q.tree
    return proof.lemma(
        "what a broker has for an advertisement is a candidate for the next one on the way to it",
        (BROKER, SUB, ADV),
        when=lambda x, s, a: logic.all_of(
            q.offers(a), q.facts.overlaps(a, s), logic.apart(x, q.source(a)), lambda: has_for(q, x, s, a)
        ),
        then=lambda x, s, a: q.candidate(x, tree.toward(x, q.source(a)), s),
        given=lambda x, s, a: [(known.flooded, x, a)],
    )


def arrives_for(proof: Proof, q: Scene, known: Hypotheses) -> Clause:
    logic, ways = q.logic, known.ways
    return proof.lemma(
        "what is sent toward an advertisement, the next one has for it",
        (BROKER, SUB, ADV),
        when=lambda y, w, a: logic.all_of(
            logic.apart(y, q.source(a)), q.state.sent(y, q.tree.toward(y, q.source(a)), w)
        ),
        then=lambda y, w, a: has_for(q, q.tree.toward(y, q.source(a)), w, a),
        given=lambda y, w, a: [
            (known.agreement, y, q.tree.toward(y, q.source(a)), w),
            (ways.next_one, y, q.source(a)),
            (ways.toward_or_back, y, q.tree.toward(y, q.source(a)), q.source(a)),
        ],
    )


def onto(known: Hypotheses, q: Scene, x: Term, s: Term, a: Term, y: Term) -> list[Use]:
    """For y on the way of s to x, which is on that to a: the next broker is the same, and it is not back home."""
    ways, home, source = known.ways, q.home(s), q.source(a)
    return [
        (ways.within, home, x, source, y),
        (ways.same_way, y, x, source),
        (ways.next_one, y, x),
        (ways.next_one, y, home),
        (ways.parting, y, x, source),
        (ways.parting, home, y, source),
    ]


def shape(proof: Proof, q: Scene, known: Hypotheses, where: Directed) -> None:
    """Lemmas that make it a tree: a broker has it once, and from one that is nearer to its home and has it too."""
    logic, tree, subs = q.logic, q.tree, q.state.subs
    proof.lemma(
        "simple: who has it, has it from one side only",
        (BROKER, SUB, BROKER, BROKER),
        when=lambda x, s, f, g: logic.all_of(subs(x, s, f), subs(x, s, g)),
        then=lambda x, s, f, g: logic.equal(f, g),
        given=[where.from_home],
    )
    proof.lemma(
        "acyclic: who has it, has it from a neighbour that is nearer to its home",
        ENTRY,
        when=lambda x, s, f: logic.all_of(subs(x, s, f), logic.apart(x, q.home(s))),
        then=lambda x, s, f: logic.all_of(
            tree.link(x, f), logic.apart(x, f), tree.between(x, f, q.home(s)), q.state.sent(f, x, s)
        ),
        given=[known.agreement, where.from_home, *known.ways.all()],
    )


# -- Property 1 --------------------------------------------------------------------------------------------------------


def goes_all_the_way(proof: Proof, q: Scene, known: Hypotheses, where: Directed) -> Clause:
    """Without covering."""
    tree, ways, home = q.tree, known.ways, q.home
    candidate = is_candidate(proof, q, known)
    return along(
        proof,
        q,
        "it goes all the way to an advertisement that it intersects",
        (BROKER, SUB, ADV),
        when=lambda x, s, a: q.logic.all_of(q.wants(s), draws(q, a, x, s)),
        start=lambda x, s, a: home(s),
        end=lambda x, s, a: x,
        holds=lambda y, x, s, a: held(q, y, s),
        begins=lambda x, s, a: [(known.subscribed, s), (ways.next_one, home(s), home(s))],
        onward=lambda x, s, a, y: [
            *onto(known, q, x, s, a, y),
            (candidate, y, s, a),
            (known.settled, y, tree.toward(y, x), s),
            (where.arrives, y, tree.toward(y, x), s),
        ],
    )


def property_1(q: Scene) -> Proof:
    """Without covering: exactly the paths from its home to those of the advertisements that it intersects."""
    proof = Proof(q.logic)
    known = known_of(proof, q)
    told = told_candidates(proof, q, known)
    where = directed(proof, q, known, told)
    on_tree = drawn_there(proof, q, known, told, where)
    reached = goes_all_the_way(proof, q, known, where)
    proof.lemma(
        "Property 1: it is on exactly the paths to the advertisements that it intersects, from the side of its home",
        ENTRY,
        then=lambda x, s, f: q.logic.iff(q.state.subs(x, s, f), on_its_tree(q, x, s, f, lambda a: draws(q, a, x, s))),
        given=lambda x, s, f: [
            (where.from_home, x, s, f),
            (where.active, x, s, f),
            (on_tree, x, s, f),
            (reached, x, s),
            (known.subscribed, s),
            (known.ways.next_one, x, q.home(s)),
        ],
    )
    shape(proof, q, known, where)
    return proof


def on_its_tree(q: Scene, x: Term, s: Term, f: Term, drawn: Callable[[Term], Truth]) -> Truth:
    """s is active, f is on the side of its home, and x is that, or drawn upon."""
    logic = q.logic
    return logic.all_of(
        q.wants(s),
        logic.equal(f, q.tree.toward(x, q.home(s))),
        lambda: logic.any_of(logic.equal(x, q.home(s)), lambda: logic.some((ADV,), drawn)),
    )
