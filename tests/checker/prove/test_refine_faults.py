"""Seeded faults of the relation: one that says too little, or something else, is noticed in one direction at least.

Where it forbids what the model does, an answer or a step is refused. Where it allows more than the model does, another
answer, another state or another step is found. Each fault names the instance in which that must happen, and how.
"""

from __future__ import annotations

from functools import cache

import pytest
from attrs import evolve

from routeproof.checker.instances import find
from routeproof.checker.prove.refine.alternatives import other_answer, other_step
from routeproof.checker.prove.refine.answers import objection
from routeproof.checker.prove.refine.sample import Explored
from routeproof.checker.prove.refine.steps import objection_to_page, pages
from routeproof.checker.prove.refine.worlds import Worded
from routeproof.model.protocols import world
from routeproof.spec.theory import ADV, BROKER, SUB, Clause, Term, Truth
from routeproof.spec.theory.relation.routing import Change, HandlerStep
from routeproof.spec.theory.relation.world import Happening, WorldStep
from tests.shown import RECORDED

pytestmark = RECORDED


@cache
def explored(instance: str, policy: str) -> Explored:
    return Explored.of(world(find(instance), policy))


def without(clauses: list[Clause], *beginnings: str) -> list[Clause]:
    left = [clause for clause in clauses if not clause.name.startswith(beginnings)]
    assert len(left) < len(clauses), beginnings
    return left


# -- how it is noticed ------------------------------------------------------------------------------------------------


def refused(each: Explored, handler: type[HandlerStep]) -> str | None:
    """An answer of the model that the relation does not allow, by the clause that forbids it."""
    structure = each.worded.structure
    found = (objection(structure, question, handler) for question in (*each.questions, *each.arbitrary))
    return next((f"forbids: {one.clause}" for one in found if one), None)


def beside(each: Explored, handler: type[HandlerStep]) -> str | None:
    """An answer that the relation allows and the model does not give."""
    structure = each.worded.structure
    found = (other_answer(structure, question, handler) for question in each.questions)
    return "allows another answer" if any(found) else None


def in_the_world(each: Explored, worded: Worded) -> str | None:
    """The same of whole steps, of what can happen, and of the ledger."""
    for page in pages(each.parts):
        if one := objection_to_page(worded, page):
            return f"forbids: {one.clause}"
    for state in each.reached:
        can = {
            a.label for a in each.world.actions if a.kind in ("operation", "deliver") and each.world.enabled(state, a)
        }
        if worded.allowed(state) != can:
            return "what can happen"
    for before, step in each.steps():
        if one := worded.objection_to_step(before, step):
            return f"forbids: {one.clause}"
    for before, step in each.steps():
        if other_step(worded, before, step):
            return "allows another state"
    return None


# -- faults of the broker's relation ----------------------------------------------------------------------------------


class NoOrderOfKinds(HandlerStep):
    def order(self) -> list[Clause]:
        return without(super().order(), "additions before removals")


class NoOrderOfAdditions(HandlerStep):
    def order(self) -> list[Clause]:
        return without(super().order(), "additions in the order")


class NoOrderOfRemovals(HandlerStep):
    def order(self) -> list[Clause]:
        return without(super().order(), "removals in the order")


class RemovalsFirst(HandlerStep):
    def order(self) -> list[Clause]:
        f = self.facts
        rest = without(super().order(), "additions before removals")
        return [*rest, self.first("removals first", f.is_unsub, f.is_sub, lambda s, t: True)]


class EqualQuenchEachOther(HandlerStep):
    def goes_first(self, u: Term, t: Term, s: Term) -> Truth:
        return True


class LowerIdOnly(HandlerStep):
    def goes_first(self, u: Term, t: Term, s: Term) -> Truth:
        return self.facts.lower(t, s)


class NoTie(HandlerStep):
    def goes_first(self, u: Term, t: Term, s: Term) -> Truth:
        return False


class QuenchesItself(HandlerStep):
    def quenches(self, u: Term, t: Term, s: Term) -> Truth:
        return self.logic.all_of(self.facts.covers(t, s), self.logic.any_of(t == s, lambda: self.goes_first(u, t, s)))


class NoDirection(HandlerStep):
    def candidate(self, u: Term, s: Term) -> Truth:
        known = self.logic.some((BROKER,), lambda x: self.after.subs(s, x))
        drawn = self.logic.some((ADV,), lambda a: self.logic.all_of(self.after.advs(a, u), self.facts.overlaps(a, s)))
        return self.logic.all_of(known, drawn)


class AnyAdvertisement(HandlerStep):
    def candidate(self, u: Term, s: Term) -> Truth:
        elsewhere = lambda x: self.logic.all_of(self.after.subs(s, x), self.logic.apart(x, u))  # noqa: E731
        return self.logic.some((BROKER,), elsewhere)


class KeepsWhatIsNoCandidate(HandlerStep):
    def kept(self, u: Term, s: Term) -> Truth:
        return self.before.sent(u, s)


class NothingKept(HandlerStep):
    def kept(self, u: Term, s: Term) -> Truth:
        return False


class NoSettleAfterUnadvertise(HandlerStep):
    def on_unadv(self, a: Term) -> Change:
        return evolve(super().on_unadv(a), settles=lambda u: False)


class NoSettleAfterAdvertise(HandlerStep):
    def on_adv(self, a: Term) -> Change:
        return evolve(super().on_adv(a), settles=lambda u: False)


class FloodsBack(HandlerStep):
    def on_adv(self, a: Term) -> Change:
        return evolve(super().on_adv(a), tells={"adv": lambda u, b: self.logic.equal(a, b)})


class ForgetsAnybodys(HandlerStep):
    def on_unsub(self, s: Term) -> Change:
        return evolve(
            super().on_unsub(s),
            subs=lambda t, x: self.logic.all_of(self.before.subs(t, x), self.logic.apart(t, s)),
        )


class KeepsOldHop(HandlerStep):
    def on_sub(self, s: Term) -> Change:
        logic = self.logic
        return evolve(
            super().on_sub(s),
            subs=lambda t, x: logic.any_of(
                self.before.subs(t, x), logic.all_of(logic.equal(t, s), logic.equal(x, self.sender))
            ),
        )


class SaidTwice(HandlerStep):
    def content(self, kind: str, subject: Term) -> list[Clause]:
        return [clause for clause in super().content(kind, subject) if not clause.name.endswith("said once")]


class SaysWhatIsNotDue(HandlerStep):
    def content(self, kind: str, subject: Term) -> list[Clause]:
        return without(super().content(kind, subject), "sub is said only")


class MayKeepSilent(HandlerStep):
    def content(self, kind: str, subject: Term) -> list[Clause]:
        return without(super().content(kind, subject), "pub is said where")


class DeliversAnything(HandlerStep):
    def content(self, kind: str, subject: Term) -> list[Clause]:
        return without(super().content(kind, subject), "deliveries")


class PublicationComesBack(HandlerStep):
    def on_pub(self, p: Term) -> Change:
        logic = self.logic

        def wants(u: Term, s: Term) -> Truth:
            return logic.all_of(self.before.subs(s, u), self.facts.matches(p, s))

        def back(u: Term, q: Term) -> Truth:
            return logic.all_of(logic.equal(q, p), logic.some((SUB,), lambda s: wants(u, s)))

        return evolve(super().on_pub(p), tells={"pub": back})


SENT = "forbids: sent is what is wanted where settled, and what it was elsewhere"

OF_THE_BROKER: list[tuple[type[HandlerStep], str, str, str]] = [
    (NoOrderOfKinds, "tiny", "active", "allows another answer"),
    (NoOrderOfAdditions, "line3", "none", "allows another answer"),
    (NoOrderOfRemovals, "line3", "active", "allows another answer"),
    (RemovalsFirst, "tiny", "active", "forbids: removals first"),
    (EqualQuenchEachOther, "equal3", "active", SENT),
    (LowerIdOnly, "equal3", "active", SENT),
    (NoTie, "equal3", "active", SENT),
    (QuenchesItself, "tiny", "active", SENT),
    (NoDirection, "cross3", "active", SENT),
    (AnyAdvertisement, "tiny", "none", SENT),
    (KeepsWhatIsNoCandidate, "tiny", "lazy", SENT),
    (NothingKept, "tiny", "lazy", SENT),
    (NoSettleAfterUnadvertise, "unadv3", "none", SENT),
    (NoSettleAfterAdvertise, "tiny", "none", SENT),
    (FloodsBack, "tiny", "none", "forbids: adv is said where it is due"),
    (ForgetsAnybodys, "tiny", "active", "forbids: subs"),
    (KeepsOldHop, "tiny", "none", "forbids: subs"),
    (SaidTwice, "tiny", "none", "allows another answer"),
    (SaysWhatIsNotDue, "tiny", "active", "allows another answer"),
    (MayKeepSilent, "tiny", "lazy", "allows another answer"),
    (DeliversAnything, "tiny", "none", "allows another answer"),
    (PublicationComesBack, "tiny", "none", "forbids: pub is said where it is due"),
]


@pytest.mark.parametrize(
    ("fault", "instance", "policy", "noticed"), OF_THE_BROKER, ids=lambda x: getattr(x, "__name__", "")
)
def test_a_fault_of_the_brokers_relation_is_noticed(
    fault: type[HandlerStep], instance: str, policy: str, noticed: str
) -> None:
    each = explored(instance, policy)
    assert (refused(each, fault) or beside(each, fault)) == noticed


# -- faults of the world's frame --------------------------------------------------------------------------------------


class OthersMayChange(WorldStep):
    def elsewhere(self, what: Happening) -> list[Clause]:
        return without(super().elsewhere(what), "sent")


class NotToTheEnd(WorldStep):
    def queues(self, what: Happening) -> list[Clause]:
        return without(super().queues(what), "what is said joins the end")


class QueuesAreOpen(WorldStep):
    def queues(self, what: Happening) -> list[Clause]:
        return without(super().queues(what), "the head is taken")


class AnyOfTheQueue(WorldStep):
    def is_head(self, item: Term, x: Term, y: Term) -> Truth:
        return True


class TwiceTheSame(WorldStep):
    def possible(self, what: Happening) -> Truth:
        if what.operation == "subscribe":
            return True
        return super().possible(what)


class PublishesUnadvertised(WorldStep):
    def possible(self, what: Happening) -> Truth:
        if what.operation == "publish":
            return self.logic.no(self.before.published(what.subject))
        return super().possible(what)


class NotDone(WorldStep):
    def done(self, what: Happening) -> list[Clause]:
        return super().done(Happening("", None, what.here, what.sender))


class OwedForEver(WorldStep):
    def owed(self, what: Happening, p: Term, s: Term) -> Truth:
        return super().owed(evolve(what, operation="") if what.operation == "unsubscribe" else what, p, s)


class OwedUnready(WorldStep):
    def owed(self, what: Happening, p: Term, s: Term) -> Truth:
        if what.operation != "publish":
            return super().owed(what, p, s)
        new = self.logic.all_of(self.logic.equal(p, what.subject), self.facts.matches(p, s))
        return self.logic.any_of(self.before.owed(p, s), new)


class ReadyAtOnce(WorldStep):
    def ready(self, s: Term, a: Term) -> Truth:
        then = self.after
        return self.logic.all_of(then.subscribed(s), then.advertised(a), self.facts.overlaps(a, s))


class GhostsOpen(WorldStep):
    def ghosts(self, what: Happening) -> list[Clause]:
        return without(super().ghosts(what), "delivered")


class NeverDuplicate(WorldStep):
    def ghosts(self, what: Happening) -> list[Clause]:
        never = Clause("never duplicate", (), lambda: self.logic.no(self.after.duplicate()))
        return [*without(super().ghosts(what), "duplicate"), never]


OF_THE_WORLD: list[tuple[type[WorldStep], str, str]] = [
    (OthersMayChange, "tiny", "allows another state"),
    (NotToTheEnd, "tiny", "allows another state"),
    (QueuesAreOpen, "tiny", "allows another state"),
    (AnyOfTheQueue, "tiny", "what can happen"),
    (TwiceTheSame, "tiny", "what can happen"),
    (PublishesUnadvertised, "tiny", "what can happen"),
    (NotDone, "tiny", "forbids: advertised is what clients have done"),
    (OwedForEver, "tiny", "forbids: owed"),
    (OwedUnready, "tiny", "forbids: owed"),
    (ReadyAtOnce, "tiny", "forbids: ready"),
    (GhostsOpen, "tiny", "allows another state"),
    (NeverDuplicate, "duplicate2", "forbids: never duplicate"),
]


@pytest.mark.parametrize(("fault", "instance", "noticed"), OF_THE_WORLD, ids=lambda x: getattr(x, "__name__", ""))
def test_a_fault_of_the_worlds_relation_is_noticed(fault: type[WorldStep], instance: str, noticed: str) -> None:
    each = explored(instance, "active")
    assert in_the_world(each, Worded(each.world, step=fault)) == noticed


# -- the relation as it is --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", ["none", "active", "lazy"])
def test_the_relation_itself_is_not_a_fault(policy: str) -> None:
    for instance in ("tiny", "unadv3"):
        each = explored(instance, policy)
        assert refused(each, HandlerStep) is None
        assert beside(each, HandlerStep) is None
    assert in_the_world(explored("reorder2", policy), explored("reorder2", policy).worded) is None
