"""What a broker wants a neighbour to know, once a message is in its tables: the policies, each as the property it has.

Nothing is computed: a policy says of any subscription whether it is wanted, and `routing` says what is sent for that.
"""

from __future__ import annotations

from collections.abc import Callable

from routeproof.spec.theory.logic import Truth
from routeproof.spec.theory.readings import ADV, BROKER, SUB, Logic, Term
from routeproof.spec.theory.signature import Facts, Tables

WANTED_BY: dict[str, tuple[str, ...]] = {
    "none": ("RTE-3",),
    "active": ("RTE-3", "COV-1", "COV-2", "COV-3", "COV-4", "COV-10"),
    "lazy": ("RTE-3", "COV-1", "COV-2", "COV-3", "COV-6", "COV-10"),
}
"""Per policy, the rules that say what is wanted."""

POLICIES = tuple(WANTED_BY)


class Wanting:
    """A broker's tables before and after a message, and what it wants by them."""

    def __init__(self, logic: Logic, facts: Facts, policy: str, before: Tables, after: Tables) -> None:
        self.logic, self.facts, self.policy = logic, facts, policy
        self.before, self.after = before, after

    def candidate(self, u: Term, s: Term) -> Truth:
        """RTE-3: it came from elsewhere, and intersects an advertisement that came from u."""
        logic = self.logic
        return logic.all_of(
            logic.some((BROKER,), lambda x: logic.all_of(self.after.subs(s, x), logic.apart(x, u))),
            lambda: logic.some((ADV,), lambda a: logic.all_of(self.after.advs(a, u), self.facts.overlaps(a, s))),
        )

    def eligible(self, u: Term, s: Term) -> Truth:
        """What may be wanted at all. Pruning has more of it (`pruning`)."""
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
