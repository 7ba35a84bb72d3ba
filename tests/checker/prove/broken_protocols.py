"""Seeded faults of the relation: protocols that are wrong, each as one method replaced, and the conjunct that falls.

They are to the proofs what `routing_mutants` are to the explorer: a proof that accepts one of them proves nothing.
"""

from __future__ import annotations

from collections.abc import Callable

from attrs import evolve, frozen

from routeproof.spec.theory import BROKER, SUB, Clause, Term, Truth
from routeproof.spec.theory.relation.routing import Change, HandlerStep
from routeproof.spec.theory.relation.world import Happening, WorldStep


@frozen
class Broken:
    """`event / sentence` is an obligation that must be refuted."""

    event: str
    sentence: str
    handler: type[HandlerStep] = HandlerStep
    step: type[WorldStep] = WorldStep


BROKEN: dict[str, Broken] = {}

Make = Callable[[type], type]


def fault(event: str, sentence: str) -> Make:
    def register(cls: type) -> type:
        handler = cls if issubclass(cls, HandlerStep) else HandlerStep
        step = cls if issubclass(cls, WorldStep) else WorldStep
        BROKEN[cls.__name__] = Broken(event, sentence, handler, step)
        return cls

    return register


# -- the broker ----------------------------------------------------------------------------------------------------


@fault("deliver unsub", "all of the old or all of the new")
class RemovalsFirst(HandlerStep):
    """COV-8 the other way around."""

    def order(self) -> list[Clause]:
        f = self.facts
        return [self.first("additions before removals", f.is_unsub, f.is_sub, lambda s, t: True)]


@fault("deliver adv", "candidate is covered")
class NoSettleAfterAdvertise(HandlerStep):
    """RTE-4 left out."""

    def on_adv(self, a: Term) -> Change:
        return evolve(super().on_adv(a), settles=lambda u: False)


@fault("deliver unadv", "sent is candidate")
class NoSettleAfterUnadvertise(HandlerStep):
    """RTE-7 without settling."""

    def on_unadv(self, a: Term) -> Change:
        return evolve(super().on_unadv(a), settles=lambda u: False)


@fault("deliver unsub", "sent is candidate")
class NoSettleAfterUnsubscribe(HandlerStep):
    """RTE-6 without settling."""

    def on_unsub(self, s: Term) -> Change:
        return evolve(super().on_unsub(s), settles=lambda u: False)


@fault("deliver adv", "heard or queued")
class AdvertisesNowhere(HandlerStep):
    """Knows an advertisement and tells nobody (RTE-2)."""

    def on_adv(self, a: Term) -> Change:
        return evolve(super().on_adv(a), tells={})


@fault("deliver unadv", "forgotten or queued")
class WithdrawsNowhere(HandlerStep):
    """Forgets an advertisement and tells nobody (RTE-7)."""

    def on_unadv(self, a: Term) -> Change:
        return evolve(super().on_unadv(a), tells={})


@fault("deliver sub", "candidate is covered")
class SentNotRecorded(HandlerStep):
    """What was sent stays as it was in the books."""

    def new_tables(self, change: Change) -> list[Clause]:
        logic, now, then = self.logic, self.before.sent, self.after.sent
        kept = Clause("sent stays", (BROKER, SUB), lambda u, s: logic.iff(then(u, s), now(u, s)))
        return [*super().new_tables(change)[:2], kept]


@fault("deliver unsub", "changes are said")
class WithdrawalNotSent(HandlerStep):
    """Strikes what is no longer wanted from its books without a word (RTE-6)."""

    def due(self, kind: str, change: Change, u: Term, m: Term) -> Truth:
        return False if kind == "unsub" else super().due(kind, change, u, m)


@fault("deliver sub", "sent away from home")
class CandidatesComeBack(HandlerStep):
    """Sends a subscription over the link that it came from (RTE-3)."""

    def candidate(self, u: Term, s: Term) -> Truth:
        logic = self.logic
        return logic.some((BROKER,), lambda x: self.after.subs(s, x))


@fault("deliver unsub", "came from home")
class KeepsWithdrawn(HandlerStep):
    """Takes a withdrawn subscription for one of its own clients'."""

    def on_unsub(self, s: Term) -> Change:
        logic, change = self.logic, super().on_unsub(s)

        def subs(t: Term, x: Term) -> Truth:
            return logic.any_of(change.subs(t, x), logic.all_of(logic.equal(t, s), logic.equal(x, self.here)))

        return evolve(change, subs=subs)


@fault("deliver pub", "copy is news")
class SentBack(HandlerStep):
    """Sends a publication over the link that it came from as well (RTE-5)."""

    def on_pub(self, p: Term) -> Change:
        logic = self.logic
        tells: dict[str, Callable[[Term, Term], Truth]] = {"pub": lambda u, q: logic.equal(q, p)}
        return evolve(super().on_pub(p), tells=tells)


@fault("deliver pub", "copy ahead")
class ForwardsNothing(HandlerStep):
    """Delivers a publication and does not pass it on (RTE-5)."""

    def on_pub(self, p: Term) -> Change:
        return evolve(super().on_pub(p), tells={})


@fault("deliver pub", "owed is delivered at home")
class DeliversNothing(HandlerStep):
    """Passes a publication on and does not deliver it (RTE-5)."""

    def on_pub(self, p: Term) -> Change:
        return evolve(super().on_pub(p), delivers=lambda q, s: False)


@fault("deliver pub", "precise")
class DeliversUnmatched(HandlerStep):
    """Delivers to every local subscription (RTE-5)."""

    def on_pub(self, p: Term) -> Change:
        logic = self.logic
        return evolve(
            super().on_pub(p), delivers=lambda q, s: logic.all_of(logic.equal(q, p), self.before.subs(s, self.here))
        )


@fault("deliver sub", "adv is news")
class SaysTwice(HandlerStep):
    """Says again what is queued already."""

    def on_sub(self, s: Term) -> Change:
        logic = self.logic

        def known(u: Term, a: Term) -> Truth:
            return logic.some((BROKER,), lambda x: self.before.advs(a, x))

        return evolve(super().on_sub(s), tells={"adv": known})


# -- the world around it -------------------------------------------------------------------------------------------


@fault("unsubscribe", "in one queue")
class QueuesOverlap(WorldStep):
    """What is said may be queued elsewhere already."""

    def queues(self, what: Happening) -> list[Clause]:
        return [each for each in super().queues(what) if each.name != "what is said is new"]


@fault("deliver sub", "the receiver has what it was told")
class NotFifo(WorldStep):
    """Takes any message of a queue, not its head."""

    def is_head(self, item: Term, x: Term, y: Term) -> Truth:
        return True


@fault("subscribe", "new messages come last")
class JumpsTheQueue(WorldStep):
    """What is said does not join the end."""

    def queues(self, what: Happening) -> list[Clause]:
        return [each for each in super().queues(what) if "joins the end" not in each.name]


@fault("unsubscribe", "home has what is active")
class ForgetsWithdrawals(WorldStep):
    """What a client withdraws does not count as withdrawn."""

    def done(self, what: Happening) -> list[Clause]:
        now, then, logic = self.before, self.after, self.logic
        kept = Clause("nothing is done", (SUB,), lambda s: logic.iff(then.unsubscribed(s), now.unsubscribed(s)))
        return [each for each in super().done(what) if "unsubscribed" not in each.name] + [kept]


@fault("publish", "owed was pledged")
class OwesEverybody(WorldStep):
    """Owes a publication to whoever it matches, ready or not."""

    def owed(self, what: Happening, p: Term, s: Term) -> Truth:
        logic = self.logic
        if what.operation != "publish":
            return super().owed(what, p, s)
        return logic.any_of(
            self.before.owed(p, s), logic.all_of(logic.equal(p, what.subject), self.facts.matches(p, s))
        )


@fault("deliver sub", "ready before or quiet")
class AlwaysReady(WorldStep):
    """Takes every pair for ready."""

    def ready(self, s: Term, a: Term) -> Truth:
        return self.facts.overlaps(a, s)
