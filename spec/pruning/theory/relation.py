"""Pruning as a relation: the routing core's handler, in which more may be wanted than the candidates.

Whatever decides how far a withdrawal goes, what a broker retains for a neighbour is what it has sent there without
having it from elsewhere any more. So the relation knows no distances, thresholds or statistics, and no table in
addition to those of the core: where a withdrawal ends, what was sent is what is wanted. Each decision that Algorithm 1
can make, under any reading of its parameters, is a case of it, except those that break a promise (`sends`,
`remembers`).

With congestion (PRN-6) a broker may put a withdrawal off at any time, and resume it at any time. A subscription whose
withdrawal is held is in `held` and no longer in `subs`: a broker's table in the prose is both. A held subscription
still draws publications, still quenches and may still be sent on; it gets no deliveries. So a held withdrawal counts as
handled where a client or a neighbour sends it, and the rest is done later, by a step of its own. A relief, and a
subscription that ends holds (PRN-14), is a row of such steps. When a broker is congested, and in which order it resumes
what it holds, is left open.

A client that has withdrawn a subscription may subscribe again (PRN-15). Under a new id that is another subscription,
and proofs are about any number of them. `IssuedAgain` is the step in which it comes back under the same id, to the
broker that it left: whatever is still on its way, held or retained of the former issue, no invariant is lost. At
another broker the home of a subscription would change, of which every invariant speaks: there deliveries are lost
(claim PRN-moves, `traces/corpus/retained-moves-with-its-id.jsonl`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from attrs import evolve, frozen

from routeproof.spec.theory import ADV, BROKER, PUB, SUB, Clause, Logic, Relation, Symbolic, Term, Truth
from routeproof.spec.theory.invariants.step import promises
from routeproof.spec.theory.relation import WorldState
from routeproof.spec.theory.relation.routing import Change, HandlerStep
from routeproof.spec.theory.relation.world import Happening, WorldStep

WANTED = ("RTE-3", "COV-1", "COV-2", "PRN-4", "PRN-5", "PRN-7", "PRN-9", "PRN-10", "PRN-11", "PRN-13")
"""The rules that say what is wanted, under any reading. PRN-12 only ever takes away what may go, and is a case too."""

ELIGIBLE = "what is wanted is a candidate, or was sent and is drawn"


class PruningRelation(HandlerStep):
    """A broker that may retain what it has sent: only the two promises restrict what it wants."""

    protocol = "pruning"

    def eligible(self, u: Term, s: Term) -> Truth:
        """PRN-9, PRN-13: a candidate, or what was sent already (PRN-7) while something from u draws it (PRN-11)."""
        return self.logic.any_of(
            self.candidate(u, s), lambda: self.logic.all_of(self.before.sent(u, s), lambda: is_drawn(self, u, s))
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


class Retaining(HandlerStep):
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


def is_drawn(broker: HandlerStep, u: Term, s: Term) -> Truth:
    """PRN-11: an advertisement that came from u intersects it."""
    logic = broker.logic
    return logic.some((ADV,), lambda a: logic.all_of(broker.after.advs(a, u), broker.facts.overlaps(a, s)))


def is_elsewhere(broker: HandlerStep, table: Relation, u: Term, s: Term) -> Truth:
    """s came from another one than u, says this table."""
    logic = broker.logic
    return logic.some((BROKER,), lambda x: logic.all_of(table(s, x), logic.apart(x, u)))


# -- congestion --------------------------------------------------------------------------------------------------------


HELD = (BROKER, SUB, BROKER)
"""`held(b, s, x)`: b holds a withdrawal of s that came from x; from b itself where a client spoke."""


@frozen
class Putting(Change):
    """A change that is also one of what is held."""

    held: Callable[[Term, Term], Truth] | None = None


class Congested(PruningRelation):
    """Pruning, while withdrawals are held: they stay held, whatever message is handled."""

    held: Relation
    held_after: Relation
    """Subscriptions that this broker holds, before and after the message: no tables of the core."""

    def eligible(self, u: Term, s: Term) -> Truth:
        """RTE-3, of what is in the table all the same."""
        logic = self.logic
        return logic.any_of(
            super().eligible(u, s),
            lambda: logic.all_of(is_elsewhere(self, self.held, u, s), lambda: is_drawn(self, u, s)),
        )

    def on_pub(self, p: Term) -> Change:
        """RTE-5: it goes wherever the table has something that matches. What is held is delivered nothing (PRN-6)."""
        logic, change = self.logic, super().on_pub(p)

        def has(s: Term, u: Term) -> Truth:
            return logic.any_of(self.before.subs(s, u), self.held(s, u))

        def tells(u: Term, q: Term) -> Truth:
            drawn = logic.some((SUB,), lambda s: logic.all_of(has(s, u), self.facts.matches(p, s)))
            return logic.all_of(logic.equal(q, p), logic.apart(u, self.sender), drawn)

        return evolve(change, tells={"pub": tells}, rules=(*change.rules, "PRN-6"))

    def new_tables(self, change: Change) -> list[Clause]:
        held = change.held if isinstance(change, Putting) and change.held is not None else self.held
        clause = Clause(
            "held", (SUB, BROKER), lambda s, x: self.logic.iff(self.held_after(s, x), held(s, x)), ("PRN-6", "PRN-14")
        )
        return [*super().new_tables(change), clause]


class Holds(Congested):
    """The withdrawal that arrives is put off: no neighbour is settled, and no message is sent."""

    def on_unsub(self, s: Term) -> Change:
        logic, change = self.logic, super().on_unsub(s)

        def held(t: Term, x: Term) -> Truth:
            now = logic.all_of(self.before.subs(s, self.sender), logic.equal(t, s), logic.equal(x, self.sender))
            return logic.any_of(self.held(t, x), now)

        return Putting(advs=change.advs, subs=change.subs, held=held, rules=("PRN-6", "RTE-8"))


class Resumes(Congested):
    """A withdrawal that was held is taken up: every neighbour is settled."""

    def on_unsub(self, s: Term) -> Change:
        logic = self.logic
        return Putting(
            advs=self.before.advs,
            subs=self.before.subs,
            settles=lambda u: True,
            held=lambda t, x: logic.all_of(
                self.held(t, x), logic.no(logic.all_of(logic.equal(t, s), logic.equal(x, self.sender)))
            ),
            rules=("PRN-6", "PRN-14", "RTE-6"),
        )


def with_held(handler: type[HandlerStep], before: Relation, after: Relation) -> type[HandlerStep]:
    """The handler of a broker that holds these."""

    class Here(handler):  # type: ignore[misc, valid-type]  # a class that is an argument
        held = staticmethod(before)
        held_after = staticmethod(after)

    return Here


# -- the world ---------------------------------------------------------------------------------------------------------


def held_in(logic: Logic, state: WorldState) -> Relation:
    """The relation of what is held in this state: none of `WorldState`, which is the core's, but named after those."""
    assert isinstance(logic, Symbolic)
    name: str = state.subs.name()  # type: ignore[attr-defined]  # a symbol of Z3
    return logic.relation(name.replace("subs", "held"), HELD)


class CongestedStep(WorldStep):
    """A step of a world in which brokers hold withdrawals. Quiet and `ready` are still of queues alone.

    So a pair is ready, and what is published owed, while withdrawals are held, too: more than in the prose.
    """

    def clauses(self, what: Happening) -> list[Clause]:
        now, then = held_in(self.logic, self.before), held_in(self.logic, self.after)
        self.handler = with_held(self.handler, partial(now, what.here), partial(then, what.here))
        return super().clauses(what)

    def elsewhere(self, what: Happening) -> list[Clause]:
        logic, now, then = self.logic, held_in(self.logic, self.before), held_in(self.logic, self.after)
        stays = Clause(
            "held of other brokers stay",
            HELD,
            lambda b, s, x: logic.implies(logic.apart(b, what.here), logic.iff(then(b, s, x), now(b, s, x))),
        )
        return [*super().elsewhere(what), stays]


class Resumption(CongestedStep):
    """A broker takes up a withdrawal that it holds: no client speaks, and nothing is taken from a queue."""

    def possible(self, what: Happening) -> Truth:
        return what.kind == "unsub" and held_in(self.logic, self.before)(what.here, what.subject, what.sender)

    def queues(self, what: Happening) -> list[Clause]:
        return super().queues(evolve(what, operation="resume"))


class IssuedAgain(CongestedStep):
    """A client subscribes that has subscribed before, and withdrawn that. To the new issue nothing was delivered."""

    def possible(self, what: Happening) -> Truth:
        if what.operation != "subscribe":
            return super().possible(what)
        return self.logic.all_of(self.before.subscribed(what.subject), self.before.unsubscribed(what.subject))

    def done(self, what: Happening) -> list[Clause]:
        logic, now, then = self.logic, self.before, self.after
        if what.operation != "subscribe":
            return super().done(what)
        back = Clause(
            "unsubscribed is what clients have done, and not come back to",
            (SUB,),
            lambda s: logic.iff(then.unsubscribed(s), logic.all_of(now.unsubscribed(s), logic.apart(s, what.subject))),
            ("PRN-15",),
        )
        others = [each for each in super().done(what) if not each.name.startswith("unsubscribed")]
        return [*others, back]

    def ghosts(self, what: Happening) -> list[Clause]:
        logic, now, then = self.logic, self.before, self.after
        if what.operation != "subscribe":
            return super().ghosts(what)
        forgotten = Clause(
            "delivered",
            (PUB, SUB),
            lambda p, s: logic.iff(
                then.delivered(p, s),
                logic.any_of(
                    logic.all_of(now.delivered(p, s), logic.apart(s, what.subject)), self.sends.delivers(p, s)
                ),
            ),
            ("PRN-15",),
        )
        return [*(each for each in super().ghosts(what) if each.name != "delivered"), forgotten]
