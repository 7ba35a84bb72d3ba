"""Seeded faults of the routing core: every bug that we know of, as a switch.

Each mutant replaces one method of `Routing`. `tests/quality/` asserts which property catches it, under which policy,
and how short its counterexample is; a property that catches none of them has no evidence that it can fail.
"""

from __future__ import annotations

from collections.abc import Hashable

from routeproof.model.messages import (
    Advertisement,
    PackedSubscribe,
    Publication,
    Publish,
    Subscribe,
    Subscription,
    Unadvertise,
)
from routeproof.model.mutants import MutantRegistry
from routeproof.model.overlay import LOCAL, Node
from routeproof.model.protocol import Local, Outcome, Sends
from routeproof.model.routing import Routing, StepEffects
from routeproof.model.tables import Tables

Subs = tuple[Subscription, ...]


COVERING = ("active", "lazy", "packing")
MUTANTS = MutantRegistry("routing", ("none", *COVERING))
mutant = MUTANTS.mutant


# -- settling ----------------------------------------------------------------------------------------------------------


@mutant("removals-first", "COV-8", ("active", "lazy"))
class RemovalsFirst(Routing):
    """Sends withdrawals before the subscriptions that replace them."""

    def tell(self, step: StepEffects, neighbour: Node, added: Subs, removed: Subs) -> None:
        super().tell(step, neighbour, (), removed)
        super().tell(step, neighbour, added, ())


@mutant("no-settle-after-unsubscribe", "RTE-6")
class NoSettleAfterUnsubscribe(Routing):
    """Forgets a withdrawn subscription without a message to its neighbours."""

    def settle(self, step: StepEffects, neighbour: Node, rule: str) -> None:
        if rule != "RTE-6":
            super().settle(step, neighbour, rule)


@mutant("no-settle-after-advertise", "RTE-4")
class NoSettleAfterAdvertise(Routing):
    """Does not send the subscriptions that waited for a late advertisement."""

    def settle(self, step: StepEffects, neighbour: Node, rule: str) -> None:
        if rule != "RTE-4":
            super().settle(step, neighbour, rule)


@mutant("no-settle-after-unadvertise", "RTE-7")
class NoSettleAfterUnadvertise(Routing):
    """Keeps subscriptions forwarded after their last advertisement is withdrawn."""

    def settle(self, step: StepEffects, neighbour: Node, rule: str) -> None:
        if rule != "RTE-7":
            super().settle(step, neighbour, rule)


@mutant("settle-first-neighbour-only", "RTE-3")
class SettleFirstNeighbourOnly(Routing):
    """Settles only the first of its neighbours after a change."""

    def settle_all(self, step: StepEffects, rule: str) -> None:
        for neighbour in self.overlay.neighbours(step.node)[:1]:
            self.settle(step, neighbour, rule)


@mutant("withdrawal-not-sent", "RTE-6")
class WithdrawalNotSent(Routing):
    """Removes a withdrawn subscription from its tables without a message to the neighbour."""

    def tell(self, step: StepEffects, neighbour: Node, added: Subs, removed: Subs) -> None:
        super().tell(step, neighbour, added, ())


@mutant("sent-not-recorded", "RTE-3")
class SentNotRecorded(Routing):
    """Does not record a sent subscription, so that it sends it again and never withdraws it."""

    def settle(self, step: StepEffects, neighbour: Node, rule: str) -> None:
        before = step.tables.sent_to(neighbour)
        super().settle(step, neighbour, rule)
        step.tables = step.tables.with_sent(neighbour, before)


# -- who is wanted -----------------------------------------------------------------------------------------------------


@mutant("quench-from-same-neighbour", "COV-3", COVERING)
class QuenchFromSameNeighbour(Routing):
    """Lets a subscription from a neighbour quench subscriptions that should go to that neighbour."""

    def wanted(self, tables: Tables, neighbour: Node, candidates: Subs) -> Subs:
        wanted = super().wanted(tables, neighbour, candidates)
        from_there = [s for s, x in tables.subs if x == neighbour]
        return tuple(s for s in wanted if not any(self.covers(t, s) for t in from_there))


@mutant("covering-swapped", "COV-1", COVERING)
class CoveringSwapped(Routing):
    """Confuses the covered filter with the covering one."""

    def covers(self, t: Subscription, s: Subscription) -> bool:
        return s.filter.covers(t.filter)


@mutant("overlap-taken-for-cover", "COV-1", COVERING)
class OverlapTakenForCover(Routing):
    """Treats overlapping filters as covering ones."""

    def covers(self, t: Subscription, s: Subscription) -> bool:
        return t.filter.overlaps(s.filter)


@mutant("equal-filters-quench-each-other", "COV-10", ("active", "packing"))
class EqualFiltersQuenchEachOther(Routing):
    """Has no tie-break between equal filters: each quenches the other."""

    def goes_before(self, t: Subscription, s: Subscription, sent: Subs) -> bool:
        return True


@mutant("cover-for-intersection", "RTE-3")
class CoverForIntersection(Routing):
    """Forwards a subscription only toward advertisements that cover it, not toward all that overlap it."""

    def candidates(self, tables: Tables, neighbour: Node) -> Subs:
        there = [a.filter for a, x in tables.advs if x == neighbour]
        return tuple(s for s, x in tables.subs if x != neighbour and any(f.covers(s.filter) for f in there))


@mutant("candidates-come-back", "RTE-3")
class CandidatesComeBack(Routing):
    """Sends a subscription over the link that it came from."""

    def candidates(self, tables: Tables, neighbour: Node) -> Subs:
        there = [a.filter for a, x in tables.advs if x == neighbour]
        return tuple(s for s, _ in tables.subs if any(f.overlaps(s.filter) for f in there))


# -- one policy each ---------------------------------------------------------------------------------------------------


@mutant("none-forwards-once", "RTE-3", ("none",))
class NoneForwardsOnce(Routing):
    """Sends a subscription toward one advertisement only."""

    def wanted(self, tables: Tables, neighbour: Node, candidates: Subs) -> Subs:
        wanted = super().wanted(tables, neighbour, candidates)
        elsewhere = {s for n, subs in tables.sent if n != neighbour for s in subs}
        return tuple(s for s in wanted if s not in elsewhere)


@mutant("active-keeps-covered", "COV-4", ("active", "packing"))
class ActiveKeepsCovered(Routing):
    """Never withdraws a subscription that a later one covers."""

    def wanted(self, tables: Tables, neighbour: Node, candidates: Subs) -> Subs:
        wanted = super().wanted(tables, neighbour, candidates)
        sent = tables.sent_to(neighbour)
        return tuple(s for s in candidates if s in wanted or s in sent)


@mutant("lazy-keeps-withdrawn", "COV-6", ("lazy",))
class LazyKeepsWithdrawn(Routing):
    """Under lazy covering, keeps a sent subscription that is no longer a candidate."""

    def wanted(self, tables: Tables, neighbour: Node, candidates: Subs) -> Subs:
        wanted = super().wanted(tables, neighbour, candidates)
        return wanted + tuple(s for s in tables.sent_to(neighbour) if s not in candidates)


@mutant("lazy-never-uncovers", "COV-6", ("lazy",))
class LazyNeverUncovers(Routing):
    """Under lazy covering, does not send a quenched subscription when its coverer goes."""

    def settle(self, step: StepEffects, neighbour: Node, rule: str) -> None:
        if rule != "RTE-6":
            super().settle(step, neighbour, rule)
            return
        known = step.tables.sent_to(neighbour)
        kept = tuple(s for s in known if s in self.candidates(step.tables, neighbour))
        self.tell(step, neighbour, (), tuple(s for s in known if s not in kept))
        step.tables = step.tables.with_sent(neighbour, kept)


@mutant("packing-first-only", "COV-7", ("packing",))
class PackingFirstOnly(Routing):
    """Handles only the first subscription of a packed message."""

    def handle(self, node: Node, local: Local, sender: Node, message: Hashable) -> Outcome:
        if isinstance(message, PackedSubscribe):
            message = Subscribe(message.subscriptions[0])
        return super().handle(node, local, sender, message)


@mutant("packing-withdrawals-first", "COV-8", ("packing",))
class PackingWithdrawalsFirst(Routing):
    """Sends the packed withdrawals before the packed subscriptions."""

    def pack(self, step: StepEffects) -> Sends:
        return tuple(sorted(super().pack(step), key=lambda send: isinstance(send[1], PackedSubscribe)))


# -- withdrawals and advertisements ------------------------------------------------------------------------------------


@mutant("unsubscribe-by-filter", "RTE-6")
class UnsubscribeByFilter(Routing):
    """Withdraws every subscription with the same filter, even those of other neighbours."""

    def on_unsubscribe(self, step: StepEffects, s: Subscription, sender: Node) -> None:
        for other, _ in step.tables.subs:
            if other != s and other.filter == s.filter:
                step.tables = step.tables.without_sub(other)
        super().on_unsubscribe(step, s, sender)


@mutant("unadvertise-not-flooded", "RTE-7")
class UnadvertiseNotFlooded(Routing):
    """Removes a withdrawn advertisement, but does not pass the withdrawal on."""

    def on_unadvertise(self, step: StepEffects, a: Advertisement, sender: Node) -> None:
        super().on_unadvertise(step, a, sender)
        step.sends = [(n, m) for n, m in step.sends if not isinstance(m, Unadvertise)]


@mutant("advertise-one-way", "RTE-2")
class AdvertiseOneWay(Routing):
    """Floods an advertisement to one neighbour only."""

    def flood_to(self, node: Node, sender: Node) -> tuple[Node, ...]:
        return super().flood_to(node, sender)[:1]


@mutant("waits-for-advertisement", "RTE-3", ("none", "active", "lazy"))
class WaitsForAdvertisement(Routing):
    """Leaves a subscription on its link until it knows an advertisement that overlaps it: it may wait for ever."""

    may_refuse = True

    def accepts(self, node: Node, local: Local, sender: Node, message: Hashable) -> bool:
        assert isinstance(local, Tables)
        if sender == LOCAL or not isinstance(message, Subscribe):
            return True
        return any(a.filter.overlaps(message.subscription.filter) for a, _ in local.advs)


# -- publications ------------------------------------------------------------------------------------------------------


@mutant("publication-sent-back", "RTE-5")
class PublicationSentBack(Routing):
    """Also sends a publication back over the link that it came from."""

    def publish_to(self, step: StepEffects, p: Publication, sender: Node) -> tuple[Node, ...]:
        back = () if sender == LOCAL else (sender,)
        return super().publish_to(step, p, sender) + back


@mutant("publication-per-entry", "RTE-5")
class PublicationPerEntry(Routing):
    """Sends a publication once per matching entry instead of once per last hop."""

    def publish_to(self, step: StepEffects, p: Publication, sender: Node) -> tuple[Node, ...]:
        return tuple(x for s, x in step.tables.subs if x not in (LOCAL, sender) and s.filter.matches(p.event))


@mutant("publication-one-way", "RTE-5")
class PublicationOneWay(Routing):
    """Sends a publication to the first interested neighbour only."""

    def publish_to(self, step: StepEffects, p: Publication, sender: Node) -> tuple[Node, ...]:
        return super().publish_to(step, p, sender)[:1]


@mutant("delivers-unmatched", "RTE-5")
class DeliversUnmatched(Routing):
    """Delivers to every local client if one of them matches."""

    def deliver_to(self, tables: Tables, p: Publication) -> Subs:
        return tuple(s for s, x in tables.subs if x == LOCAL) if super().deliver_to(tables, p) else ()


@mutant("delivers-to-first", "RTE-5")
class DeliversToFirst(Routing):
    """Delivers to the first matching local client only."""

    def deliver_to(self, tables: Tables, p: Publication) -> Subs:
        return super().deliver_to(tables, p)[:1]


@mutant("delivers-or-forwards", "RTE-5")
class DeliversOrForwards(Routing):
    """Does not forward a publication if a local client matches it."""

    def on_publish(self, step: StepEffects, p: Publication, sender: Node) -> None:
        super().on_publish(step, p, sender)
        if any(n == LOCAL for n, _ in step.sends):
            step.sends = [(n, m) for n, m in step.sends if not isinstance(m, Publish)]
