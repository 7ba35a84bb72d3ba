"""The routing core as a relation: which steps of one broker `spec/routing.md` allows.

`HandlerStep` relates a broker's tables before and after one message, and the messages that it sends meanwhile. It has a
list of clauses for each kind of message; a step is allowed where all of them hold. Nothing is computed: a policy says
of any subscription whether the broker wants a neighbour to know it (`wanted`), and clauses state which neighbour must
get which message, each once, and in which order. The world around it, queues,
clients and ghosts, is `world`; another protocol brings its own handler and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from attrs import Factory, define, frozen

from routeproof.spec.theory import ADV, BROKER, ITEM, PUB, SUB, Clause, Logic, Relation, Term, Truth, never
from routeproof.spec.theory.relation import ABOUT, Facts, Sends, TableRelations

WANTED_BY: dict[str, tuple[str, ...]] = {
    "none": ("RTE-3",),
    "active": ("RTE-3", "COV-1", "COV-2", "COV-3", "COV-4", "COV-10"),
    "lazy": ("RTE-3", "COV-1", "COV-2", "COV-3", "COV-6", "COV-10"),
}
"""Per policy, the rules that say what is wanted."""

POLICIES = tuple(WANTED_BY)


@frozen
class Change:
    """Effects of one kind of message: entries of the new tables, neighbours to settle, and neighbours to inform."""

    advs: Callable[[Term, Term], Truth]
    subs: Callable[[Term, Term], Truth]
    settles: Callable[[Term], Truth] = never
    tells: dict[str, Callable[[Term, Term], Truth]] = Factory(dict)
    """Per kind: `tells[kind](u, m)` where u must get m, in addition to the messages of settling."""
    delivers: Callable[[Term, Term], Truth] = never
    rules: tuple[str, ...] = ()


@define(slots=False, eq=False)
class HandlerStep:
    """One step of the broker `here`, which hears a message from `sender`; `here` itself where a client speaks."""

    protocol: ClassVar[str] = "routing"

    logic: Logic
    facts: Facts
    policy: str
    here: Term
    sender: Term
    before: TableRelations
    after: TableRelations
    sends: Sends

    # -- what it wants its neighbours to know, once the message is in its tables ---------------------------------------

    def candidate(self, u: Term, s: Term) -> Truth:
        """RTE-3: it came from elsewhere, and intersects an advertisement that came from u."""
        logic = self.logic
        return logic.all_of(
            logic.some((BROKER,), lambda x: logic.all_of(self.after.subs(s, x), logic.apart(x, u))),
            lambda: logic.some((ADV,), lambda a: logic.all_of(self.after.advs(a, u), self.facts.overlaps(a, s))),
        )

    def eligible(self, u: Term, s: Term) -> Truth:
        """True if s may be wanted at all. Other protocols admit more."""
        return self.candidate(u, s)

    def wanted_by(self) -> tuple[str, ...]:
        """The rules that say what is wanted."""
        return WANTED_BY[self.policy]

    def wanted(self, u: Term, s: Term) -> Truth:
        """COV-2, COV-3, COV-4, COV-6: the candidates that the policy lets through."""
        match self.policy:
            case "none":
                return self.candidate(u, s)
            case "active":
                return self.unquenched(u, s, self.candidate)
            case "lazy":
                return self.logic.any_of(self.kept(u, s), lambda: self.unquenched(u, s, self.fresh))
        raise ValueError(f"no such policy: {self.policy}")

    def unquenched(self, u: Term, s: Term, among: Callable[[Term, Term], Truth]) -> Truth:
        """It is among them, and none of them quenches it."""
        logic = self.logic
        return logic.all_of(
            among(u, s),
            lambda: logic.no(logic.some((SUB,), lambda t: logic.all_of(self.quenches(u, t, s), lambda: among(u, t)))),
        )

    def kept(self, u: Term, s: Term) -> Truth:
        """COV-6: a candidate that was sent already."""
        return self.logic.all_of(self.before.sent(u, s), lambda: self.candidate(u, s))

    def fresh(self, u: Term, s: Term) -> Truth:
        """COV-6: a candidate that nothing kept covers."""
        logic = self.logic
        return logic.all_of(
            self.candidate(u, s),
            lambda: logic.no(
                logic.some((SUB,), lambda k: logic.all_of(self.facts.covers(k, s), lambda: self.kept(u, k)))
            ),
        )

    def quenches(self, u: Term, t: Term, s: Term) -> Truth:
        """COV-2: t's filter strictly covers that of s, or the two are equal and t goes first."""
        logic, f = self.logic, self.facts
        return logic.all_of(
            logic.apart(t, s),
            f.covers(t, s),
            lambda: logic.any_of(logic.no(f.covers(s, t)), lambda: self.goes_first(u, t, s)),
        )

    def goes_first(self, u: Term, t: Term, s: Term) -> Truth:
        """COV-10: what was sent goes first, then the lower id."""
        logic, sent = self.logic, self.before.sent
        return logic.cases(logic.iff(sent(u, t), sent(u, s)), lambda: self.facts.lower(t, s), lambda: sent(u, t))

    # -- the clauses of a step -----------------------------------------------------------------------------------------

    def clauses(self, kind: str, subject: Term) -> list[Clause]:
        """Clauses of a step that handles a message of this kind about `subject`."""
        return [*self.content(kind, subject), *self.order()]

    def content(self, kind: str, subject: Term) -> list[Clause]:
        """All clauses but the order of messages."""
        change: Change = getattr(self, f"on_{kind}")(subject)
        return [
            *self.new_tables(change),
            *(clause for kind in ABOUT for clause in self.messages(kind, change)),
            Clause(
                "deliveries are to local subscriptions that match",
                (PUB, SUB),
                lambda p, s: self.logic.iff(self.sends.delivers(p, s), change.delivers(p, s)),
                ("RTE-5",),
            ),
        ]

    # -- what each kind of message asks for ----------------------------------------------------------------------------

    def on_adv(self, a: Term) -> Change:
        """RTE-2, RTE-4; RTE-8 where it is known."""
        logic, new = self.logic, self.logic.no(self.logic.some((BROKER,), lambda x: self.before.advs(a, x)))
        return Change(
            advs=lambda b, x: logic.any_of(
                self.before.advs(b, x), logic.all_of(new, logic.equal(b, a), logic.equal(x, self.sender))
            ),
            subs=self.before.subs,
            settles=lambda u: logic.all_of(new, logic.equal(u, self.sender)),
            tells={"adv": lambda u, b: logic.all_of(new, logic.equal(b, a), logic.apart(u, self.sender))},
            rules=("RTE-2", "RTE-4", "RTE-8"),
        )

    def on_unadv(self, a: Term) -> Change:
        """RTE-7; RTE-8 where it came from elsewhere, or is unknown."""
        logic, mine = self.logic, self.before.advs(a, self.sender)
        return Change(
            advs=lambda b, x: logic.all_of(self.before.advs(b, x), logic.no(logic.all_of(mine, logic.equal(b, a)))),
            subs=self.before.subs,
            settles=lambda u: logic.all_of(mine, logic.equal(u, self.sender)),
            tells={"unadv": lambda u, b: logic.all_of(mine, logic.equal(b, a), logic.apart(u, self.sender))},
            rules=("RTE-7", "RTE-8"),
        )

    def on_sub(self, s: Term) -> Change:
        """RTE-3."""
        logic = self.logic
        return Change(
            advs=self.before.advs,
            subs=lambda t, x: logic.cases(
                logic.equal(t, s), logic.equal(x, self.sender), lambda: self.before.subs(t, x)
            ),
            settles=lambda u: True,
            rules=("RTE-3",),
        )

    def on_unsub(self, s: Term) -> Change:
        """RTE-6; RTE-8 where it came from elsewhere, or is unknown."""
        logic, mine = self.logic, self.before.subs(s, self.sender)
        return Change(
            advs=self.before.advs,
            subs=lambda t, x: logic.all_of(self.before.subs(t, x), logic.no(logic.all_of(mine, logic.equal(t, s)))),
            settles=lambda u: mine,
            rules=("RTE-6", "RTE-8"),
        )

    def on_pub(self, p: Term) -> Change:
        """RTE-5."""
        logic, f = self.logic, self.facts
        return Change(
            advs=self.before.advs,
            subs=self.before.subs,
            tells={
                "pub": lambda u, q: logic.all_of(
                    logic.equal(q, p),
                    logic.apart(u, self.sender),
                    lambda: logic.some((SUB,), lambda s: logic.all_of(self.before.subs(s, u), f.matches(p, s))),
                )
            },
            delivers=lambda q, s: logic.all_of(logic.equal(q, p), self.before.subs(s, self.here), f.matches(p, s)),
            rules=("RTE-5",),
        )

    # -- tables ----------------------------------------------------------------------------------------------------

    def new_tables(self, change: Change) -> list[Clause]:
        logic = self.logic
        return [
            Clause(
                "advs", (ADV, BROKER), lambda a, x: logic.iff(self.after.advs(a, x), change.advs(a, x)), change.rules
            ),
            Clause(
                "subs", (SUB, BROKER), lambda s, x: logic.iff(self.after.subs(s, x), change.subs(s, x)), change.rules
            ),
            Clause(
                "sent is what is wanted where settled, and what it was elsewhere",
                (BROKER, SUB),
                lambda u, s: logic.iff(
                    self.after.sent(u, s),
                    logic.cases(self.is_settled(change, u), lambda: self.wanted(u, s), lambda: self.before.sent(u, s)),
                ),
                (*change.rules, *self.wanted_by()),
            ),
        ]

    def is_settled(self, change: Change, u: Term) -> Truth:
        return self.logic.all_of(self.facts.link(self.here, u), lambda: change.settles(u))

    # -- messages ------------------------------------------------------------------------------------------------------

    def due(self, kind: str, change: Change, u: Term, m: Term) -> Truth:
        """Must u hear this in this step? Only neighbours ever must."""
        logic, near = self.logic, self.facts.link(self.here, u)
        match kind:
            case "sub":
                return logic.all_of(
                    self.is_settled(change, u), logic.no(self.before.sent(u, m)), lambda: self.wanted(u, m)
                )
            case "unsub":
                return logic.all_of(
                    self.is_settled(change, u), self.before.sent(u, m), lambda: logic.no(self.wanted(u, m))
                )
        return logic.all_of(near, lambda: change.tells.get(kind, never)(u, m))

    def messages(self, kind: str, change: Change) -> list[Clause]:
        """Clauses about messages of one kind: each that is due is sent, once, and nothing else."""
        logic, to, says, about = self.logic, self.sends.to, self.facts.says(kind), ABOUT[kind]
        rules = (*change.rules, "COV-8") if kind in ("sub", "unsub") else change.rules
        return [
            Clause(
                f"{kind} is said only where it is due",
                (ITEM, BROKER, about),
                lambda i, u, m: logic.implies(logic.all_of(to(i, u), says(i, m)), lambda: self.due(kind, change, u, m)),
                rules,
            ),
            Clause(
                f"{kind} is said where it is due",
                (BROKER, about),
                lambda u, m: logic.implies(
                    self.due(kind, change, u, m),
                    lambda: logic.some((ITEM,), lambda i: logic.all_of(to(i, u), says(i, m))),
                ),
                rules,
            ),
            Clause(
                f"{kind} is said once",
                (ITEM, BROKER, about),
                lambda i, u, m: logic.implies(
                    logic.all_of(to(i, u), says(i, m)),
                    lambda: logic.every(
                        (ITEM,), lambda j: logic.implies(logic.all_of(to(j, u), says(j, m)), logic.equal(i, j))
                    ),
                ),
                rules,
            ),
        ]

    def order(self) -> list[Clause]:
        """COV-8. In one step a neighbour gets subscriptions and withdrawals together with no other message."""
        f = self.facts
        return [
            self.first("additions before removals", f.is_sub, f.is_unsub, lambda s, t: True),
            self.first("additions in the order of ids", f.is_sub, f.is_sub, f.lower),
            self.first("removals in the order of ids", f.is_unsub, f.is_unsub, f.lower),
        ]

    def first(self, name: str, one: Relation, other: Relation, where: Relation) -> Clause:
        """Where the one is about s and the other about t, and `where` holds of s and t, the one is sent first."""
        logic, to = self.logic, self.sends.to
        return Clause(
            name,
            (ITEM, ITEM, BROKER, SUB, SUB),
            lambda i, j, u, s, t: logic.implies(
                logic.all_of(to(i, u), lambda: to(j, u), lambda: one(i, s), lambda: other(j, t), lambda: where(s, t)),
                lambda: self.facts.before(i, j),
            ),
            ("COV-8",),
        )
