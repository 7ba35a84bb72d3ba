"""Promises that each policy keeps, on which the invariants rest; and what is true of one policy only.

That something covers a candidate and is wanted needs finiteness: of infinitely many candidates each could be quenched
by the next. The schema is `topmost`, used of the candidates in question and of quenching, which is proved to be a
strict order.
"""

from __future__ import annotations

from attrs import frozen

from routeproof.spec.theory.invariants.book import Book, Moment
from routeproof.spec.theory.invariants.step import promises
from routeproof.spec.theory.logic.formulas import Truth, formula
from routeproof.spec.theory.logic.proof import Obligation, Premise, premise
from routeproof.spec.theory.logic.readings import BROKER, SUB, Relation, Symbolic, Term, declare, topmost_from
from routeproof.spec.theory.propagation.settling import FINITELY_MANY
from routeproof.spec.theory.relation.routing import POLICIES, Handler
from routeproof.spec.theory.relation.signature import Facts, Sends, TableRelations, facts_hold


def keep_their_promises(handler: type[Handler] = Handler) -> list[Obligation]:
    """Obligations that each policy keeps its promises, at a broker with any tables."""
    return [obligation for policy in POLICIES for obligation in _PolicyBroker.under(policy, handler).obligations()]


@frozen
class _PolicyBroker:
    policy: str
    logic: Symbolic
    handler: Handler
    facts: Facts
    u: Term

    @classmethod
    def under(cls, policy: str, handler: type[Handler]) -> _PolicyBroker:
        logic = Symbolic()
        facts = declare(Facts, logic)
        here, u = logic.constant("here", BROKER), logic.constant("u", BROKER)
        before, after = declare(TableRelations, logic), declare(TableRelations, logic, "_after")
        broker = handler(logic, facts, policy, here, u, before, after, declare(Sends, logic))
        return cls(policy, logic, broker, facts, u)

    def obligations(self) -> list[Obligation]:
        logic, u = self.logic, self.u
        r, s, t = (logic.constant(name, SUB) for name in "rst")
        covering = [each for each in facts_hold(logic, self.facts) if set(each.sorts) == {SUB}]
        given = [premise(logic, clause) for clause in covering]
        only, covered = promises(self.handler, lambda u: True)
        candidate = self.handler.candidate(u, s)
        alone = logic.every((SUB,), lambda t: logic.equal(t, s))
        made = [
            Obligation(
                f"{self.policy} / {only.name}",
                formula(only.at(u, s)),
                guards={"something is wanted": formula(self.handler.wanted(u, s))},
            ),
            Obligation(
                f"{self.policy} / {covered.name}",
                formula(covered.at(u, s)),
                [*given, Premise(formula(self.finitely_many(s)), (FINITELY_MANY,))],
                {"a candidate, the only subscription": formula(logic.all_of(candidate, alone))},
            ),
        ]
        if self.policy != "none":
            chain = formula(logic.all_of(self.quenches(r, s), self.quenches(s, t)))
            made += [
                Obligation(
                    f"{self.policy} / nothing quenches itself",
                    formula(logic.no(self.quenches(s, s))),
                    given,
                    {"something quenches": formula(self.quenches(t, s))},
                ),
                Obligation(
                    f"{self.policy} / what quenches what quenches it quenches it",
                    formula(logic.implies(chain, self.quenches(r, t))),
                    given,
                    {"three of them": chain},
                ),
            ]
        return made

    def quenches(self, t: Term, s: Term) -> Truth:
        return self.handler.quenches(self.u, t, s)

    def finitely_many(self, s: Term) -> Truth:
        """Among s and the subscriptions that could quench it, directly or not, one is quenched by none of them."""
        logic, broker, u = self.logic, self.handler, self.u
        among: Relation = {"none": broker.candidate, "active": broker.candidate, "lazy": broker.fresh}[self.policy]
        return topmost_from(logic, SUB, s, lambda t: among(u, t), self.quenches)


# -- what is true of one policy ------------------------------------------------------------------------------------

NONE, ACTIVE = Book(), Book()


@NONE.conjunct(BROKER, BROKER, SUB, needs="came_from_home said_away_from_home queues_are_on_links adv_came_from_origin")
def candidates_are_sent(m: Moment, x: Term, y: Term, s: Term) -> Truth:
    """Without covering, every candidate was sent."""
    return m.logic.implies(
        m.logic.all_of(m.tree.link(x, y), lambda: m.candidate(x, y, s)), lambda: m.state.sent(x, y, s)
    )


@ACTIVE.conjunct(BROKER, BROKER, SUB, SUB)
def nothing_sent_covers_another(m: Moment, x: Term, y: Term, s: Term, t: Term) -> Truth:
    """No subscription that was sent to a neighbour covers another one that was sent there."""
    sent = m.logic.all_of(m.tree.link(x, y), m.state.sent(x, y, s), m.state.sent(x, y, t), m.facts.covers(t, s))
    return m.logic.implies(sent, m.equal(t, s))


@ACTIVE.lemma(BROKER, BROKER, SUB, SUB, needs="agreement came_from_home nothing_sent_covers_another")
def compact(m: Moment, x: Term, y: Term, s: Term, t: Term) -> Truth:
    """When it is quiet, of two subscriptions from one neighbour neither covers the other."""
    logic, subs = m.logic, m.state.subs
    held = logic.all_of(m.is_quiet(), logic.apart(x, y), subs(y, s, x), subs(y, t, x), m.facts.covers(t, s))
    return logic.implies(held, m.equal(t, s))
