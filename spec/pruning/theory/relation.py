"""Pruning as a relation: the routing core's handler, in which more may be wanted than the candidates.

Whatever decides how far a withdrawal goes, what a broker retains for a neighbour is what it has sent there without
having it from elsewhere any more. So the relation knows no distances, thresholds or statistics, and no table in
addition to those of the core: where a withdrawal ends, what was sent is what is wanted. Each decision that Algorithm 1
can make, under any reading of its parameters, is a case of it, but for those that break a promise (`sends`,
`remembers`).

No broker holds a withdrawal here (PRN-6): `congestion` has brokers that do.
"""

from __future__ import annotations

from attrs import evolve

from routeproof.spec.theory.invariants.step import promises
from routeproof.spec.theory.logic.formulas import Truth
from routeproof.spec.theory.logic.readings import ADV, BROKER, Clause, Relation, Term
from routeproof.spec.theory.relation.routing import Change, Handler

WANTED = ("RTE-3", "COV-1", "COV-2", "PRN-4", "PRN-5", "PRN-7", "PRN-9", "PRN-10", "PRN-11", "PRN-13")
"""The rules that say what is wanted, under any reading. PRN-12 only ever takes away what may go, and is a case too."""

ELIGIBLE = "what is wanted is a candidate, or was sent and is drawn"


class PruningRelation(Handler):
    """A broker that may retain what it has sent: only the two promises restrict what it wants."""

    def eligible(self, u: Term, s: Term) -> Truth:
        """PRN-9, PRN-13: a candidate, or what was sent already (PRN-7) while something from u draws it (PRN-11)."""
        return self.logic.any_of(
            self.candidate(u, s),
            lambda: self.logic.all_of(self.before.sent(u, s), lambda: is_drawn(self, u, s)),
        )

    def wanted_by(self) -> tuple[str, ...]:
        return WANTED

    def wanted(self, u: Term, s: Term) -> Truth:
        """PRN-4: where a withdrawal ends, what was sent stays wanted: it is only known by what is sent in the end."""
        wanted: Truth = self.after.sent(u, s)
        return wanted


def relaxed(broker: PruningRelation, where: Relation) -> list[Clause]:
    """The promises of the core, of which the first is weaker here."""
    only, covered = promises(broker, where)
    return [evolve(only, name=ELIGIBLE, rules=("RTE-3", "PRN-7", "PRN-9", "PRN-11")), covered]


def answering(broker: type[PruningRelation]) -> type[PruningRelation]:
    """Returns a class that judges an answer: what is wanted is read from the answer, and must keep the promises."""

    class Answer(broker):  # type: ignore[misc, valid-type]  # a class that is an argument
        def clauses(self, kind: str, subject: Term) -> list[Clause]:
            change: Change = getattr(self, f"on_{kind}")(subject)
            return [*super().clauses(kind, subject), *relaxed(self, lambda u: self.is_settled(change, u))]

    return Answer


class Retaining(Handler):
    """A handler with `retained` as a table of its own, as in the prose: the core's policies choose from the pool.

    `retained` is what was retained before the message, and what the withdrawal that is handled leaves behind. It is
    given to the class, as is what may go for another reason: neither is a table of the core.
    """

    retained: Relation
    has_reason: Relation
    """PRN-12: what is retained need not go for want of anything below it."""
    held: Relation = staticmethod(lambda s, x: False)
    """PRN-6: of what came from x a withdrawal is held once the message is handled; the table has it all the same."""

    def is_candidate(self, u: Term, s: Term) -> Truth:
        """RTE-3, of what came from elsewhere; of what is held, too."""
        return self.logic.any_of(
            super().candidate(u, s),
            lambda: self.logic.all_of(is_elsewhere(self, self.held, u, s), lambda: is_drawn(self, u, s)),
        )

    def candidate(self, u: Term, s: Term) -> Truth:
        """PRN-9: the pool; what is retained is in it while something from u draws it (PRN-11)."""
        return self.logic.any_of(
            self.is_candidate(u, s),
            lambda: self.logic.all_of(self.retained(u, s), lambda: is_drawn(self, u, s), lambda: self.has_reason(u, s)),
        )


def is_drawn(broker: Handler, u: Term, s: Term) -> Truth:
    """PRN-11: an advertisement that came from u intersects it."""
    logic = broker.logic
    return logic.some((ADV,), lambda a: logic.all_of(broker.after.advs(a, u), broker.facts.overlaps(a, s)))


def is_elsewhere(broker: Handler, table: Relation, u: Term, s: Term) -> Truth:
    """s came from another one than u, says this table."""
    logic = broker.logic
    return logic.some((BROKER,), lambda x: logic.all_of(table(s, x), logic.apart(x, u)))
