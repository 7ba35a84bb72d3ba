"""Equation 3: what distances tell is the share of Property 3, under any policy and short of the publisher.

Several match p on the way from y to S, exactly where the path of another one that matches p passes y. That way:
whatever is in a table from elsewhere than the publisher's side has its path through that broker. And back: where the
paths of S and of another, t, meet, there is S, or something held S back before; and something other than S that covers
t, since S itself comes to t from where t goes (COV-3).
"""

from __future__ import annotations

from routeproof.spec.pruning.theory import distance
from routeproof.spec.pruning.theory.distance import matches_several, passes, several_on_path, source_of
from routeproof.spec.theory import ADV, BROKER, PUB, SUB, Clause, Term, Truth
from routeproof.spec.theory.proof import Proof, of_each
from routeproof.spec.theory.propagation.paths import Directed, arrives_for, directed, has_for, held, is_candidate, onto
from routeproof.spec.theory.propagation.settling import Hypotheses, along, known_of, told_candidates, told_coverers
from routeproof.spec.theory.relation.quiet_states import Scene


def on_its_way(q: Scene, x: Term, s: Term, p: Term) -> Truth:
    """s and the advertisement of p are active, s matches p, and x lies on the path between their homes."""
    return q.logic.all_of(
        q.wants(s),
        lambda: q.facts.matches(p, s),
        lambda: q.offers(q.facts.adv_of(p)),
        lambda: q.tree.between(q.home(s), x, source_of(q, p)),
    )


def goes_on_or_meets(
    proof: Proof, q: Scene, known: Hypotheses, where: Directed, candidate: Clause, told: Clause, covered: Clause
) -> Clause:
    """Under any policy: s goes all the way to the publisher of p, or is held back where another one matches p."""
    logic, tree, ways, home = q.logic, q.tree, known.ways, q.home

    def seen(y: Term, x: Term, s: Term, p: Term) -> Truth:
        return logic.any_of(held(q, y, s), several_on_path(q, home(s), y, p))

    held_back = proof.lemma(
        "what is held back is so by another one that matches as much",
        (BROKER, SUB, PUB),
        when=lambda y, s, p: logic.all_of(
            q.facts.matches(p, s),
            logic.apart(y, source_of(q, p)),
            has_for(q, y, s, q.facts.adv_of(p)),
            lambda: q.candidate(y, tree.toward(y, source_of(q, p)), s),
            lambda: logic.no(q.state.sent(y, tree.toward(y, source_of(q, p)), s)),
        ),
        then=lambda y, s, p: matches_several(q, y, p),
        given=lambda y, s, p: [
            (covered, y, tree.toward(y, source_of(q, p)), s),
            (told, y, tree.toward(y, source_of(q, p))),
            (ways.next_one, y, source_of(q, p)),
            known.matching,
        ],
        absurd=q.policy == "none",  # nothing is held back then
    )
    return along(
        proof,
        q,
        "it goes all the way, or several match before",
        (BROKER, SUB, PUB),
        when=lambda x, s, p: logic.all_of(on_its_way(q, x, s, p), lambda: logic.apart(x, source_of(q, p))),
        start=lambda x, s, p: home(s),
        end=lambda x, s, p: x,
        holds=seen,
        begins=lambda x, s, p: [(known.subscribed, s), (ways.next_one, home(s), home(s))],
        onward=lambda x, s, p, y: [
            *onto(known, q, x, s, q.facts.adv_of(p), y),
            (candidate, y, s, q.facts.adv_of(p)),
            (held_back, y, s, p),
            (where.arrives, y, tree.toward(y, x), s),
            (ways.neighbours, y, tree.toward(y, x)),
            (ways.parting, home(s), y, tree.toward(y, x)),
            (ways.parting, home(s), y, y),
            (ways.within, home(s), y, tree.toward(y, x)),
            known.drawn,
        ],
    )


def others_come_along(
    proof: Proof, q: Scene, known: Hypotheses, where: Directed, candidate: Clause, covered: Clause
) -> Clause:
    """Under any policy: where the path of t meets that of s, something other than s that covers t is there."""
    logic, tree, ways = q.logic, q.tree, known.ways
    all_of, covers = logic.all_of, q.facts.covers

    def met(s: Term, t: Term, a: Term) -> Term:
        return tree.median(q.home(t), q.home(s), q.source(a))

    def follows(y: Term, s: Term, t: Term, a: Term) -> Truth:
        return logic.some((SUB,), lambda w: all_of(covers(w, t), logic.apart(w, s), lambda: has_for(q, y, w, a)))

    def before_they_meet(s: Term, t: Term, a: Term, y: Term) -> Truth:
        return all_of(tree.between(q.home(t), y, met(s, t, a)), logic.apart(y, met(s, t, a)))

    ahead = proof.lemma(
        "before their ways meet, the way home of the one is the way onward of the other",
        (SUB, SUB, ADV, BROKER),
        when=before_they_meet,
        then=lambda s, t, a, y: all_of(
            logic.equal(tree.toward(y, q.source(a)), tree.toward(y, met(s, t, a))),
            logic.equal(tree.toward(y, q.home(s)), tree.toward(y, met(s, t, a))),
            logic.apart(y, q.source(a)),
            logic.apart(y, q.home(s)),
        ),
        given=lambda s, t, a, y: [
            use
            for end in (q.home(s), q.source(a))
            for use in (
                (ways.meeting, q.home(t), q.home(s), q.source(a), met(s, t, a)),
                (ways.within, q.home(t), met(s, t, a), end, y),
                (ways.same_way, y, met(s, t, a), end),
                (ways.parting, q.home(t), met(s, t, a), met(s, t, a)),
                (ways.parting, y, met(s, t, a), end),
                (ways.parting, q.home(t), y, end),
                (ways.next_one, y, end),
                (ways.next_one, y, met(s, t, a)),
            )
        ],
    )
    hop = proof.lemma(
        "before their ways meet, something other that covers it is sent",
        (SUB, SUB, ADV, BROKER, SUB),
        when=lambda s, t, a, y, w: all_of(
            before_they_meet(s, t, a, y),
            q.offers(a),
            q.facts.overlaps(a, t),
            covers(w, t),
            logic.apart(w, s),
            lambda: has_for(q, y, w, a),
        ),
        then=lambda s, t, a, y, w: logic.some(
            (SUB,), lambda v: all_of(covers(v, t), logic.apart(v, s), q.state.sent(y, tree.toward(y, q.source(a)), v))
        ),
        given=lambda s, t, a, y, w: [
            (ahead, s, t, a, y),
            (candidate, y, w, a),
            (covered, y, tree.toward(y, q.source(a)), w),
            (where.arrives, y, tree.toward(y, q.source(a)), s),
            (ways.next_one, y, q.source(a)),
            (ways.next_one, y, q.home(s)),
            (ways.toward_or_back, y, tree.toward(y, q.home(s)), q.home(s)),
            *known.covering,
        ],
    )
    arrives = arrives_for(proof, q, known)
    return along(
        proof,
        q,
        "where its way meets that of s, there is something other than s that covers it",
        (SUB, SUB, ADV),
        when=lambda s, t, a: all_of(q.wants(t), q.offers(a), q.facts.overlaps(a, t), logic.apart(t, s)),
        start=lambda s, t, a: q.home(t),
        end=met,
        holds=follows,
        begins=lambda s, t, a: [(known.subscribed, t), (ways.next_one, q.home(t), q.source(a)), *known.covering],
        onward=lambda s, t, a, y: [(ahead, s, t, a, y), (hop, s, t, a, y), (arrives, y, None, a)],
    )


def equation_3(q: Scene) -> Proof:
    """The statistic is the cumulative share, at every distance short of the publisher."""
    proof, measures = Proof(q.logic), distance.measures_of(q)
    known = known_of(proof, q)
    logic, tree, ways = q.logic, q.tree, known.ways
    told, covered = told_candidates(proof, q, known), told_coverers(proof, q, known)
    where = directed(proof, q, known, told)
    candidate = is_candidate(proof, q, known)
    goes = goes_on_or_meets(proof, q, known, where, candidate, told, covered)
    along_comes = others_come_along(proof, q, known, where, candidate, covered)
    carried = distance.distance_told(proof, q, known, measures)

    def scope(y: Term, s: Term, p: Term) -> Truth:
        return logic.all_of(on_its_way(q, y, s, p), lambda: logic.apart(y, source_of(q, p)))

    meeting = proof.lemma(
        "paths that both pass a broker meet before it",
        (BROKER,) * 4,
        when=lambda x, y, z, h: logic.all_of(tree.between(x, y, h), tree.between(z, y, h)),
        then=lambda x, y, z, h: logic.all_of(
            tree.between(x, tree.median(z, x, h), y),
            tree.between(x, tree.median(z, x, h), h),
            logic.implies(logic.apart(y, h), logic.apart(tree.median(z, x, h), h)),
        ),
        given=lambda x, y, z, h: [
            *of_each(ways.of_three(), x, y, z, h, tree.median(z, x, h)),
            (ways.meeting, z, x, h, tree.median(z, x, h)),
        ],
    )
    rest = proof.lemma(
        "what is left of a part of a path is left of the path",
        (BROKER,) * 4,
        when=lambda x, y, h, w: logic.all_of(tree.between(x, y, h), tree.between(x, w, y)),
        then=lambda x, y, h, w: tree.between(w, y, h),
        given=lambda x, y, h, w: of_each(ways.of_three(), x, y, h, w),
    )
    sound = proof.lemma(
        "where several match, others' paths pass",
        (BROKER, SUB, PUB),
        when=lambda x, s, p: logic.all_of(logic.apart(x, source_of(q, p)), lambda: matches_several(q, x, p)),
        then=lambda x, s, p: passes(q, x, s, p),
        given=lambda x, s, p: [(where.from_home, x), (where.active, x), (ways.parting, None, x, source_of(q, p))],
    )
    complete = proof.lemma(
        "where another's path meets its own, or before, several match",
        (BROKER, SUB, PUB, SUB),
        when=lambda y, s, p, t: logic.all_of(
            scope(y, s, p),
            logic.apart(t, s),
            q.wants(t),
            q.facts.matches(p, t),
            lambda: tree.between(q.home(t), y, source_of(q, p)),
        ),
        then=lambda y, s, p, t: several_on_path(q, q.home(s), y, p),
        given=lambda y, s, p, t: [
            (along_comes, s, t, q.facts.adv_of(p)),
            (goes, tree.median(q.home(t), q.home(s), source_of(q, p)), s, p),
            (meeting, q.home(s), y, q.home(t), source_of(q, p)),
            (ways.parting, q.home(s), tree.median(q.home(t), q.home(s), source_of(q, p)), source_of(q, p)),
            (ways.next_one, tree.median(q.home(t), q.home(s), source_of(q, p))),
            (ways.within, q.home(s), tree.median(q.home(t), q.home(s), source_of(q, p)), y),
            known.drawn,
            known.matching,
        ],
    )
    proof.lemma(
        "Equation 3: a distance is at most that many hops where others' paths pass the last of them",
        (BROKER, SUB, PUB),
        when=scope,
        then=lambda y, s, p: logic.iff(
            measures.distance(q.home(s), p) <= measures.hops(q.home(s), y), passes(q, y, s, p)
        ),
        given=lambda y, s, p: [
            (carried, q.home(s), y, p),
            (complete, y, s, p),
            (sound, None, s, p),
            (rest, q.home(s), y, source_of(q, p)),
            (ways.nested, None, None, source_of(q, p), y),
            (ways.parting, None, y, source_of(q, p)),
        ],
    )
    return proof
