"""Every quiet state that can be reached is one of those of which Properties 1 to 3 speak (`quiet`).

The hypotheses of those proofs are lemmas here, under their own names: what is taken for granted there is proved here.
"""

from __future__ import annotations

from routeproof.spec.theory import quiet
from routeproof.spec.theory.invariants import Book, Lemma, Moment, names
from routeproof.spec.theory.logic import Truth
from routeproof.spec.theory.quiet import Scene, quiet_holds
from routeproof.spec.theory.readings import Term

SETTLED = {
    "none": "sent_is_candidate candidates_are_sent",
    "active": "sent_is_candidate candidate_is_covered nothing_sent_covers_another",
    "lazy": "sent_is_candidate candidate_is_covered",
}
"""By policy, what makes everything that is wanted sent: with more a broker is settled only once."""


def quiet_states(policy: str) -> Book:
    """The hypotheses on quiet states under a policy."""
    needs = {
        quiet.AGREEMENT: "agreement came_from_home sent_away_from_home",
        quiet.SETTLED: SETTLED[policy],
        quiet.FLOODED: "known_everywhere_when_quiet",
        quiet.NO_STALE_ADVERTISEMENT: "no_residue_of_advertisements adv_came_from_origin",
        quiet.SUBSCRIBED: "home_has_what_is_active",
        quiet.NO_STALE_SUBSCRIPTION: "home_has_what_is_active came_from_home queues_are_on_links",
    }
    book = Book()
    for hypothesis in quiet.QUIET:
        short = hypothesis.partition(":")[0]
        book.lemmas[f"{policy} / {short}"] = _lemma(policy, hypothesis, f"{policy} / {short}", needs[hypothesis])
    return book


def _lemma(policy: str, hypothesis: str, name: str, needs: str) -> Lemma:
    def clause_at(m: Moment, *terms: Term) -> Truth:
        scene = Scene(m.logic, m.tree, m.facts, m.state, policy)
        clause = quiet_holds(scene)[hypothesis]
        return m.logic.implies(m.is_quiet(), lambda: clause.at(*terms))

    sorts = _SORTS[hypothesis]
    return Lemma(name, f"When it is quiet: {hypothesis}.", sorts, clause_at, names(needs))


_SORTS = {name: clause.sorts for name, clause in quiet_holds(quiet.any_scene("none")).items()}
