"""One step of the world with our ghosts, under any policy that keeps two promises.

What is proved of any such policy is proved of none, active and lazy at once: `policies` proves that they keep the
promises, and nothing else of a policy is used.
"""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen

from routeproof.spec.theory import ADV, BROKER, ITEM, PUB, SUB, Clause, Relation, Symbolic, Term, Truth, declare
from routeproof.spec.theory.invariants.book import Ghosts, Moment
from routeproof.spec.theory.relation import ABOUT, Facts, Sends, Tree, WorldState
from routeproof.spec.theory.relation.routing import POLICIES, Change, HandlerStep
from routeproof.spec.theory.relation.world import DONE, OPERATIONS, Happening, WorldStep, is_quiet

CANDIDATES = "only candidates are wanted"
COVERED = "every candidate is covered by one that is wanted"

PROMISES = "the promises of the policy"
"""The source of both, which a theorem proves of each policy."""


def promises(handler: HandlerStep, where: Relation) -> list[Clause]:
    """Promises that every policy keeps where a neighbour is settled."""
    logic, f = handler.logic, handler.facts
    return [
        Clause(
            CANDIDATES,
            (BROKER, SUB),
            lambda u, s: logic.implies(logic.all_of(where(u), handler.wanted(u, s)), lambda: handler.eligible(u, s)),
            ("RTE-3",),
            PROMISES,
        ),
        Clause(
            COVERED,
            (BROKER, SUB),
            lambda u, s: logic.implies(
                logic.all_of(where(u), lambda: handler.candidate(u, s)),
                lambda: logic.some((SUB,), lambda t: logic.all_of(handler.wanted(u, t), f.covers(t, s))),
            ),
            ("COV-2",),
            PROMISES,
        ),
    ]


def any_policy(wants: Relation, base: type[HandlerStep] = HandlerStep) -> type[HandlerStep]:
    """The handler under any policy: what it wants is a relation of which nothing is known but the promises."""

    class AnyPolicy(base):  # type: ignore[misc, valid-type]  # the handler of which it is a case is given
        def wanted(self, u: Term, s: Term) -> Truth:
            return wants(u, s)

        def clauses(self, kind: str, subject: Term) -> list[Clause]:
            change: Change = getattr(self, f"on_{kind}")(subject)
            return [*super().clauses(kind, subject), *promises(self, lambda u: self.is_settled(change, u))]

    return AnyPolicy


# -- what happens ------------------------------------------------------------------------------------------------------


@frozen
class StepEvent:
    """A kind of step: a client's operation, or the delivery of a message of some kind."""

    name: str
    kind: str
    operation: str = ""


EVENTS = (
    *(StepEvent(name, kind, name) for name, kind in OPERATIONS.items()),
    *(StepEvent(f"deliver {kind}", kind) for kind in ABOUT),
)


@frozen
class StepView:
    """Two moments, the messages between them, and the wanted subscriptions."""

    now: Moment
    then: Moment
    sends: Sends
    wants: Relation

    @classmethod
    def any(cls, logic: Symbolic, overlay: Tree | None = None, known: Mapping[str, Relation] | None = None) -> StepView:
        """Any two moments, of any world over any tree; an overlay and facts that are known stand for themselves."""
        tree = declare(Tree, logic) if overlay is None else overlay
        facts = declare(Facts, logic, "", link=tree.link, **(known or {}))

        def moment(suffix: str) -> Moment:
            return Moment(logic, facts, tree, declare(WorldState, logic, suffix), declare(Ghosts, logic, suffix))

        return cls(moment(""), moment(AFTER), declare(Sends, logic), logic.relation("wants", (BROKER, SUB)))

    def named(self, event: StepEvent, suffix: str = "") -> Happening:
        """Any step of this kind."""
        logic = self.now.logic
        assert isinstance(logic, Symbolic)
        subject = logic.constant(f"subject_{event.kind}{suffix}", ABOUT[event.kind])
        if event.operation:
            home = {SUB: self.now.home, ADV: self.now.origin, PUB: self.now.source}[DONE[event.operation][1]](subject)
            return Happening(event.kind, subject, home, home, event.operation)
        here, sender = logic.constant(f"here{suffix}", BROKER), logic.constant(f"sender{suffix}", BROKER)
        return Happening(event.kind, subject, here, sender, item=logic.constant(f"item{suffix}", ITEM))

    def step(
        self,
        what: Happening,
        policy: str = "",
        step: type[WorldStep] = WorldStep,
        handler: type[HandlerStep] = HandlerStep,
    ) -> list[Clause]:
        """Clauses that relate the two moments; without a policy, under any."""
        m, chosen = self.now, handler if policy else any_policy(self.wants, handler)
        cited = policy or POLICIES[0]  # of which the rules are cited, where nothing depends on it
        return step(m.logic, m.facts, cited, m.state, self.then.state, self.sends, chosen).clauses(what)

    # -- our ghosts: defined by the step, so that every step gives them one value ----------------------------------

    def ghosts(self, what: Happening) -> list[Clause]:
        logic, now, then = self.now.logic, self.now.ghosts, self.then.ghosts
        unsubscribed, ready = self.then.state.unsubscribed, self.then.state.ready

        def handles(kind: str, b: Term, m: Term) -> Truth:
            return what.kind == kind and logic.all_of(logic.equal(b, what.here), logic.equal(m, what.subject))

        return [
            Clause(
                "heard",
                (BROKER, ADV),
                lambda b, a: logic.iff(then.heard(b, a), logic.any_of(now.heard(b, a), handles("adv", b, a))),
            ),
            Clause(
                "handled",
                (BROKER, PUB),
                lambda b, p: logic.iff(then.handled(b, p), logic.any_of(now.handled(b, p), handles("pub", b, p))),
            ),
            Clause(
                "pledged",
                (SUB, ADV),
                lambda s, a: logic.iff(
                    then.pledged(s, a),
                    logic.any_of(logic.all_of(now.pledged(s, a), logic.no(unsubscribed(s))), ready(s, a)),
                ),
            ),
            Clause("quiet", (), lambda: logic.iff(then.quiet(), is_quiet(logic, self.now.facts, self.then.state))),
        ]

    def told(self, here: Term) -> list[Clause]:
        """After a new message u has what it got before this step, and in this step up to that message."""
        logic, to, f = self.now.logic, self.sends.to, self.now.facts
        now, then, sent = self.now.ghosts.told, self.then.ghosts.told, self.now.state.sent

        def said(says: Relation, i: Term, u: Term, s: Term) -> Truth:
            return logic.some((ITEM,), lambda j: logic.all_of(to(j, u), says(j, s), lambda: self.now.no_later(j, i)))

        def has(i: Term, u: Term, s: Term) -> Truth:
            kept = logic.all_of(sent(here, u, s), lambda: logic.no(said(f.is_unsub, i, u, s)))
            return logic.any_of(kept, lambda: said(f.is_sub, i, u, s))

        return [
            Clause(
                "told by what is new",
                (ITEM, BROKER, SUB),
                lambda i, u, s: logic.implies(to(i, u), lambda: logic.iff(then(i, s), has(i, u, s))),
            ),
            Clause(
                "told by what is not",
                (ITEM, SUB),
                lambda i, s: logic.any_of(
                    logic.some((BROKER,), lambda u: to(i, u)), lambda: logic.iff(then(i, s), now(i, s))
                ),
            ),
        ]


AFTER = "_after"
"""How the relations of the second moment are named."""
