"""Property 2: under active covering a covered subscription spans a path, which ends where it meets its coverers' trees.

Let r cover s, and O be the broker where the paths from their homes to an advertisement meet. From O on something that
covers r is on the path (`coverers_everywhere`), so s goes no further (`goes_no_further`); before O whatever covers s
comes from the side to which s goes, so nothing holds s back (`goes_that_far`, COV-3).
"""

from __future__ import annotations

from routeproof.spec.theory import ADV, BROKER, SUB, Clause, Term, Truth
from routeproof.spec.theory.proof import Proof, Use
from routeproof.spec.theory.propagation import paths
from routeproof.spec.theory.propagation.settling import Hypotheses, along, known_of, told_candidates, told_coverers
from routeproof.spec.theory.relation.quiet_states import Scene


def coverers_everywhere(proof: Proof, q: Scene, known: Hypotheses, candidate: Clause, covered: Clause) -> Clause:
    """Under any policy: on the path from r to an advertisement, everybody has for it something that covers r."""
    logic, tree, ways = q.logic, q.tree, known.ways
    all_of, covers = logic.all_of, q.facts.covers

    def next_one(y: Term, a: Term) -> Term:
        return tree.toward(y, q.source(a))

    def coverer(y: Term, r: Term, a: Term) -> Truth:
        return logic.some((SUB,), lambda t: all_of(covers(t, r), lambda: paths.has_for(q, y, t, a)))

    sent = proof.lemma(
        "toward an advertisement, of what a broker has for it something is sent that covers it",
        (BROKER, SUB, ADV),
        when=lambda y, t, a: all_of(
            q.offers(a), q.facts.overlaps(a, t), logic.apart(y, q.source(a)), lambda: paths.has_for(q, y, t, a)
        ),
        then=lambda y, t, a: logic.some((SUB,), lambda w: all_of(covers(w, t), q.state.sent(y, next_one(y, a), w))),
        given=lambda y, t, a: [(candidate, y, t, a), (covered, y, next_one(y, a), t), (ways.next_one, y, q.source(a))],
    )
    arrives = paths.arrives_for(proof, q, known)
    return along(
        proof,
        q,
        "on the path to an advertisement everybody has for it something that covers it",
        (BROKER, SUB, ADV),
        when=lambda x, r, a: all_of(q.wants(r), paths.draws(q, a, x, r)),
        start=lambda x, r, a: q.home(r),
        end=lambda x, r, a: x,
        holds=lambda y, x, r, a: coverer(y, r, a),
        begins=lambda x, r, a: [(known.subscribed, r), (ways.next_one, q.home(r), q.source(a)), *known.covering],
        onward=lambda x, r, a, y: [
            *paths.onto(known, q, x, r, a, y),
            (sent, y, None, a),
            (arrives, y, None, a),
            *known.covering,
        ],
    )


def goes_no_further(proof: Proof, q: Scene, known: Hypotheses, told: Clause, everywhere: Clause) -> Clause:
    """Active: a covered subscription is passed on only toward the home of what covers it."""
    logic, tree, ways = q.logic, q.tree, known.ways
    all_of = logic.all_of
    rival = proof.lemma(
        "off the way to its coverer, a candidate has a rival that covers the coverer",
        (BROKER, BROKER, SUB, SUB),
        when=lambda x, y, s, r: all_of(
            tree.link(x, y),
            q.candidate(x, y, s),
            q.wants(r),
            q.facts.covers(r, s),
            logic.apart(y, tree.toward(x, q.home(r))),
        ),
        then=lambda x, y, s, r: logic.some((SUB,), lambda t: all_of(q.facts.covers(t, r), q.candidate(x, y, t))),
        given=lambda x, y, s, r: [(everywhere, x, r), known.no_stale_advertisement, *known.covering, *ways.all()],
    )
    quenched = proof.lemma(
        "what has a rival that strictly covers it is not sent",
        (BROKER, BROKER, SUB, SUB),
        when=lambda x, y, s, t: all_of(tree.link(x, y), q.candidate(x, y, t), q.strictly(t, s)),
        then=lambda x, y, s, t: logic.no(q.state.sent(x, y, s)),
        given=lambda x, y, s, t: [(known.settled, x, y), *known.covering],
    )
    return proof.lemma(
        "what is strictly covered is sent only toward the home of what covers it",
        (BROKER, BROKER, SUB, SUB),
        when=lambda x, y, s, r: all_of(tree.link(x, y), q.state.sent(x, y, s), q.wants(r), q.strictly(r, s)),
        then=lambda x, y, s, r: logic.equal(y, tree.toward(x, q.home(r))),
        given=lambda x, y, s, r: [(told, x, y, s), (rival, x, y, s, r), (quenched, x, y, s), *known.covering],
    )


def property_2(q: Scene) -> Proof:
    """Active covering: a strictly covered subscription spans a path, and exactly as much of it as it must."""
    proof = Proof(q.logic)
    known = known_of(proof, q)
    logic, tree, ways, subs, sent = q.logic, q.tree, known.ways, q.state.subs, q.state.sent
    all_of = logic.all_of
    told, covered = told_candidates(proof, q, known), told_coverers(proof, q, known)
    where = paths.directed(proof, q, known, told)
    on_tree = paths.drawn_there(proof, q, known, told, where)
    candidate = paths.is_candidate(proof, q, known)
    everywhere = coverers_everywhere(proof, q, known, candidate, covered)
    toward_it = goes_no_further(proof, q, known, told, everywhere)

    def entry(x: Term, s: Term, f: Term) -> list[Use]:
        """Everything known about the entry at x that has s from f."""
        home = [(known.subscribed, s), (ways.next_one, x, q.home(s))]
        return [(where.from_home, x, s, f), (where.active, x, s, f), *home]

    proof.lemma(
        "Property 2, a path: no broker sends what is strictly covered to two neighbours",
        (BROKER, BROKER, BROKER, SUB, SUB),
        when=lambda x, y, z, s, r: all_of(
            tree.link(x, y), tree.link(x, z), sent(x, y, s), sent(x, z, s), q.wants(r), q.strictly(r, s)
        ),
        then=lambda x, y, z, s, r: logic.equal(y, z),
        given=lambda x, y, z, s, r: [(toward_it, x, y, s, r), (toward_it, x, z, s, r)],
    )
    homes = proof.lemma(
        "Property 2, which: who has what is strictly covered is between its home and that of what covers it",
        (BROKER, SUB, BROKER, SUB),
        when=lambda x, s, f, r: all_of(subs(x, s, f), q.wants(r), q.strictly(r, s)),
        then=lambda x, s, f, r: tree.between(q.home(s), x, q.home(r)),
        given=[known.agreement, where.from_home, toward_it, *ways.all()],
    )
    further = proof.lemma(
        "Property 2, no further: only up to where the ways of it and of each of its coverers meet",
        paths.ENTRY,
        when=lambda x, s, f: all_of(subs(x, s, f), logic.apart(x, q.home(s))),
        then=lambda x, s, f: logic.some((ADV,), lambda a: draws_unmet(q, a, x, s)),
        given=lambda x, s, f: [(on_tree, x, s, f), (homes, x, s, f), (ways.meeting, q.home(s), None, None, x)],
    )
    that_far = goes_that_far(proof, q, known, where, candidate)
    proof.lemma(
        "Property 2, exactly: it is at its home, and on the paths up to where the ways of it and of its coverers meet",
        paths.ENTRY,
        when=lambda x, s, f: unequalled(q, s),
        then=lambda x, s, f: logic.iff(subs(x, s, f), paths.on_its_tree(q, x, s, f, lambda a: draws_unmet(q, a, x, s))),
        given=lambda x, s, f: [(further, x, s, f), *entry(x, s, f), (that_far, x, s)],
    )
    proof.lemma(
        "Property 2, roots: what nothing else covers is on exactly the paths of Property 1",
        paths.ENTRY,
        when=lambda x, s, f: is_root(q, s),
        then=lambda x, s, f: logic.iff(subs(x, s, f), paths.on_its_tree(q, x, s, f, lambda a: paths.draws(q, a, x, s))),
        given=lambda x, s, f: [(on_tree, x, s, f), *entry(x, s, f), (that_far, x, s), *known.covering],
    )
    paths.shape(proof, q, known, where)
    return proof


def draws_unmet(q: Scene, a: Term, x: Term, s: Term) -> Truth:
    """x is on the path of s to a, and not beyond where it meets that of anything that strictly covers s."""
    logic = q.logic

    def unmet(r: Term) -> Truth:
        met = q.tree.median(q.home(s), q.home(r), q.source(a))
        covers = logic.all_of(q.wants(r), lambda: q.strictly(r, s))
        return logic.implies(covers, lambda: q.tree.between(q.home(s), x, met))

    return logic.all_of(paths.draws(q, a, x, s), lambda: logic.every((SUB,), unmet))


def is_root(q: Scene, s: Term) -> Truth:
    """COV-10: no other active subscription covers it."""
    logic = q.logic
    return logic.every(
        (SUB,), lambda t: logic.implies(logic.all_of(q.wants(t), q.facts.covers(t, s)), lambda: logic.equal(t, s))
    )


def unequalled(q: Scene, s: Term) -> Truth:
    """No other active subscription has an equal filter."""
    logic, covers = q.logic, q.facts.covers
    return logic.every(
        (SUB,),
        lambda t: logic.implies(
            logic.all_of(q.wants(t), lambda: covers(t, s), lambda: covers(s, t)), lambda: logic.equal(t, s)
        ),
    )


def goes_that_far(proof: Proof, q: Scene, known: Hypotheses, where: paths.Directed, candidate: Clause) -> Clause:
    """Active: before it meets what covers it, nothing holds it back."""
    logic, tree, ways = q.logic, q.tree, known.ways
    all_of = logic.all_of

    def reaches(x: Term, s: Term, a: Term) -> Truth:
        return all_of(q.wants(s), lambda: unequalled(q, s), lambda: draws_unmet(q, a, x, s))

    def on_the_way(x: Term, s: Term, a: Term, y: Term) -> Truth:
        return all_of(reaches(x, s, a), lambda: tree.between(q.home(s), y, x), lambda: logic.apart(y, x))

    unrivalled = proof.lemma(
        "before it meets what covers it, that comes from where it goes (COV-3)",
        (BROKER, SUB, ADV, BROKER, SUB),
        when=lambda x, s, a, y, t: all_of(
            on_the_way(x, s, a, y), lambda: q.candidate(y, tree.toward(y, x), t), lambda: q.facts.covers(t, s)
        ),
        then=lambda x, s, a, y, t: logic.equal(t, s),
        given=lambda x, s, a, y, t: [
            (where.from_home, y, t),
            (where.active, y, t),
            (ways.meeting, q.home(s), q.home(t), q.source(a), x),
            (ways.within, q.home(s), x, q.home(t), y),
            (ways.same_way, y, x, q.home(t)),
        ],
    )
    return along(
        proof,
        q,
        "it goes as far as where it meets what covers it",
        (BROKER, SUB, ADV),
        when=reaches,
        start=lambda x, s, a: q.home(s),
        end=lambda x, s, a: x,
        holds=lambda y, x, s, a: paths.held(q, y, s),
        begins=lambda x, s, a: [(known.subscribed, s), (ways.next_one, q.home(s), q.home(s))],
        onward=lambda x, s, a, y: [
            *paths.onto(known, q, x, s, a, y),
            (candidate, y, s, a),
            (unrivalled, x, s, a, y),
            (known.settled, y, tree.toward(y, x), s),
            (where.arrives, y, tree.toward(y, x), s),
        ],
    )
