"""Congestion as a relation (PRN-6): a broker may put a withdrawal off, at any time, and take it up again at any time.

A subscription whose withdrawal is held is in `held` and no longer in `subs`: what a broker's table has in the prose is
both. A held subscription still draws publications, still quenches and may still be sent on; it gets no deliveries. So a
held withdrawal counts as handled where a client or a neighbour sends it, and what is left to do is done later, by a
step of its own. A relief, and a subscription that ends holds (PRN-14), is a row of such steps.

When a broker is congested, and in which order it takes up what it holds, is left open: any choice will do.

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

from routeproof.spec.pruning.theory.relation import PruningRelation, is_drawn, is_elsewhere
from routeproof.spec.theory.logic.formulas import Truth
from routeproof.spec.theory.logic.readings import BROKER, PUB, SUB, Clause, Logic, Relation, Symbolic, Term
from routeproof.spec.theory.relation.routing import Change, Handler
from routeproof.spec.theory.relation.signature import WorldState
from routeproof.spec.theory.relation.world import Happening, WorldStep

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
    """Subscriptions that this broker holds, before and after the message. No table of the core, so they are given to
    the class.
    """

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


def with_held(handler: type[Handler], before: Relation, after: Relation) -> type[Handler]:
    """The handler of a broker that holds these."""

    class Here(handler):  # type: ignore[misc, valid-type]  # a class that is an argument
        held = staticmethod(before)
        held_after = staticmethod(after)

    return Here


# -- the world ---------------------------------------------------------------------------------------------------------


def held_in(logic: Logic, state: WorldState) -> Relation:
    """Returns the relation of what is held in this state. It is no relation of `WorldState`, so that the core's stay
    the core's; it is named after them.
    """
    assert isinstance(logic, Symbolic)
    name: str = state.subs.name()  # type: ignore[attr-defined]  # a symbol of Z3
    return logic.relation(name.replace("subs", "held"), HELD)


class CongestedStep(WorldStep):
    """A step of a world in which brokers hold withdrawals. Quiet and `ready` are still of queues alone.

    So a pair is ready, and what is published owed, while withdrawals are held, too: more than in the prose.
    """

    def _clauses(self, what: Happening) -> list[Clause]:
        now, then = held_in(self.logic, self.before), held_in(self.logic, self.after)
        self.handler = with_held(self.handler, partial(now, what.here), partial(then, what.here))
        return super()._clauses(what)

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
