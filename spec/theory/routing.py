"""The routing core as a relation: which steps of one broker `spec/routing.md` allows.

`Handler` relates a broker's tables before and after one message, and what it says meanwhile: a list of clauses for each
kind of message, and a step is allowed where all of them hold. Nothing is computed: what is wanted is said by the
property that it has (`wanting`), and what is sent by who must hear of what, each once, in which order. The world around
it, queues, clients and ghosts, is `world_relation`; another protocol brings its own handler and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable

from attrs import Factory, frozen

from routeproof.spec.theory.logic import Truth
from routeproof.spec.theory.readings import ADV, BROKER, ITEM, PUB, SUB, Clause, Logic, Relation, Term
from routeproof.spec.theory.signature import ABOUT, Facts, Sends, Tables
from routeproof.spec.theory.wanting import POLICIES, Wanting

__all__ = ["POLICIES", "Change", "Handler"]


def _never(*terms: Term) -> Truth:
    return False


@frozen
class Change:
    """What one kind of message asks for: entries of the new tables, whom to settle, whom to tell of it."""

    advs: Callable[[Term, Term], Truth]
    subs: Callable[[Term, Term], Truth]
    settles: Callable[[Term], Truth] = _never
    tells: dict[str, Callable[[Term, Term], Truth]] = Factory(dict)
    """Per kind: `tells[kind](u, m)` where u must hear of m, apart from what settling says."""
    delivers: Callable[[Term, Term], Truth] = _never
    rules: tuple[str, ...] = ()


class Handler(Wanting):
    """One step of the broker `here`, which hears a message from `sender`; `here` itself where a client speaks."""

    def __init__(
        self,
        logic: Logic,
        facts: Facts,
        policy: str,
        here: Term,
        sender: Term,
        before: Tables,
        after: Tables,
        sends: Sends,
    ) -> None:
        super().__init__(logic, facts, policy, before, after)
        self.here, self.sender, self.sends = here, sender, sends

    def clauses(self, kind: str, subject: Term) -> list[Clause]:
        """What must hold of a step that handles a message of this kind about `subject`."""
        return [*self.content(kind, subject), *self.order()]

    def content(self, kind: str, subject: Term) -> list[Clause]:
        """All of it but the order in which messages are said."""
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

    # -- what is said --------------------------------------------------------------------------------------------------

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
        return logic.all_of(near, lambda: change.tells.get(kind, _never)(u, m))

    def messages(self, kind: str, change: Change) -> list[Clause]:
        """Of one kind: what is due is said, once, and nothing else."""
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
        """COV-8. Nothing else is ever said to a neighbour in one step beside subscriptions and withdrawals."""
        f = self.facts
        return [
            self.first("additions before removals", f.is_sub, f.is_unsub, lambda s, t: True),
            self.first("additions in the order of ids", f.is_sub, f.is_sub, f.lower),
            self.first("removals in the order of ids", f.is_unsub, f.is_unsub, f.lower),
        ]

    def first(self, name: str, one: Relation, other: Relation, where: Relation) -> Clause:
        """Where the one is about s and the other about t, and `where` holds of s and t, the one is said first."""
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
