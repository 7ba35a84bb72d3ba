"""Seeded faults of pruning: each replaces one method of `Pruning`.

`tests/quality/` asserts which property catches each, in which instance, and how short its counterexample is.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

from routeproof.model.messages import Advertisement, Publication, Publish, Subscribe, Subscription, Unsubscribe
from routeproof.model.mutants import MutantRegistry
from routeproof.model.overlay import LOCAL, Node
from routeproof.model.pruning.handler import Cuts, Pruning
from routeproof.model.pruning.statistics import critical_distance
from routeproof.model.pruning.vocabulary import PRUNING, Cut, PruningTables, Row, met, publish
from routeproof.model.routing import StepEffects
from routeproof.model.tables import Tables

Subs = tuple[Subscription, ...]

PRUNING_MUTANTS = MutantRegistry("pruning", PRUNING)
mutant = PRUNING_MUTANTS.mutant


# -- how far a withdrawal goes -----------------------------------------------------------------------------------------


@mutant("stops-one-hop-early", "PRN-4")
class StopsOneHopEarly(Pruning):
    """Ends a withdrawal when one hop is left."""

    def goes_on(self, distance: int | None) -> bool:
        return distance is None or distance > 1


@mutant("stops-one-hop-late", "PRN-4")
class StopsOneHopLate(Pruning):
    """Passes a withdrawal on when no hop is left."""

    def goes_on(self, distance: int | None) -> bool:
        return distance is None or distance >= 0


@mutant("decrement-forgotten", "PRN-4")
class DecrementForgotten(Pruning):
    """Passes the distances on without reducing them."""

    def one_less(self, cut: Cut) -> Cut:
        return cut


@mutant("list-for-everybody", "PRN-4")
class ListForEverybody(Pruning):
    """Passes a withdrawal on toward a neighbour because of advertisements in other directions."""

    def shortened(self, step: StepEffects, cuts: Cuts, neighbour: Node, triggered: int) -> Cuts:
        return tuple(self.one_less(cut) for cut in cuts if self.goes_on(self.counting(cut, triggered)))


@mutant("strict-threshold", "CRD-3")
class StrictThreshold(Pruning):
    """Treats a share equal to the threshold as one below it."""

    def critical(self, distances: Sequence[int], threshold: int) -> int | None:
        return critical_distance(distances, threshold, inclusive=False)


@mutant("wrong-count", "PRN-2", ("incremental",))
class WrongCount(Pruning):
    """Chooses the threshold by the number of all subscriptions, not by the number of triggered ones."""

    def uncovered(self, tables: Tables, neighbour: Node) -> Subs:
        return self.candidates(tables, neighbour)


@mutant("thresholds-swapped", "CRD-4", ("incremental",))
class ThresholdsSwapped(Pruning):
    """Writes the distance of the greater threshold first."""

    def cut(self, step: StepEffects, s: Subscription, a: Advertisement) -> Cut | None:
        cut = super().cut(step, s, a)
        return None if cut is None else Cut(cut.advertisement, cut.distances[::-1])


@mutant("threshold-ignored", "CRD-2")
class ThresholdIgnored(Pruning):
    """Uses the greatest distance of all rows as the critical one, whatever the threshold."""

    def critical(self, distances: Sequence[int], threshold: int) -> int | None:
        return max(distances)


@mutant("second-distance-always", "PRN-2", ("incremental",))
class SecondDistanceAlways(Pruning):
    """Never uses the first distance, even if many subscriptions are triggered."""

    def counting(self, cut: Cut, triggered: int) -> int | None:
        return super().counting(cut, min(triggered, self.parameters.cuts[1] - 1))


@mutant("many-off-by-one", "PRN-2", ("incremental",))
class ManyOffByOne(Pruning):
    """Uses the second distance if exactly as many subscriptions are triggered as the first requires."""

    def counting(self, cut: Cut, triggered: int) -> int | None:
        return super().counting(cut, triggered - (triggered == self.parameters.cuts[1]))


@mutant("some-off-by-one", "PRN-2", ("incremental",))
class SomeOffByOne(Pruning):
    """Uses no distance if exactly as many subscriptions are triggered as the second requires."""

    def counting(self, cut: Cut, triggered: int) -> int | None:
        return super().counting(cut, triggered - (triggered == self.parameters.cuts[0]))


@mutant("end-always", "PRN-2", ("incremental",))
class EndAlways(Pruning):
    """Uses the second distance if too few subscriptions are triggered for any."""

    def counting(self, cut: Cut, triggered: int) -> int | None:
        return super().counting(cut, max(triggered, self.parameters.cuts[0]))


@mutant("triggered-elsewhere", "SIM-8", ("incremental",))
class TriggeredElsewhere(Pruning):
    """Counts triggered subscriptions for one neighbour instead of all, and for all instead of one."""

    def triggered(self, step: StepEffects, neighbours: Iterable[Node]) -> int:
        all_told = [n for n in self.overlay.neighbours(step.node) if self.uncovered(step.tables, n)]
        asked = list(neighbours)[:1] if self.parameters.triggered == "broker" else all_told
        return super().triggered(step, asked)


# -- what goes in its place --------------------------------------------------------------------------------------------


@mutant("additions-skipped", "PRN-5")
class AdditionsSkipped(Pruning):
    """Passes a withdrawal on without sending the subscriptions that it held back, but records them as sent."""

    def pass_on(self, step: StepEffects, s: Subscription, onward: Cuts, neighbour: Node) -> None:
        first = len(step.sends)
        super().pass_on(step, s, onward, neighbour)
        step.sends[first:] = [(n, m) for n, m in step.sends[first:] if not isinstance(m, Subscribe)]


@mutant("withdrawal-before-additions", "COV-8")
class WithdrawalBeforeAdditions(Pruning):
    """Passes a withdrawal on before the subscriptions that it held back."""

    def pass_on(self, step: StepEffects, s: Subscription, onward: Cuts, neighbour: Node) -> None:
        first = len(step.sends)
        super().pass_on(step, s, onward, neighbour)
        step.sends[first:] = sorted(step.sends[first:], key=lambda send: isinstance(send[1], Subscribe))


# -- what is retained --------------------------------------------------------------------------------------------------


@mutant("retained-do-not-quench", "PRN-9")
class RetainedDoNotQuench(Pruning):
    """Sends subscriptions although a retained one covers them."""

    def wanted(self, tables: Tables, neighbour: Node, candidates: Subs) -> Subs:
        kept = self.kept_there(tables, neighbour)
        others = tuple(s for s in candidates if s not in kept)
        return tuple(s for s in candidates if s in kept) + super().wanted(tables, neighbour, others)

    def kept_there(self, tables: Tables, neighbour: Node) -> Subs:
        assert isinstance(tables, PruningTables)
        return tables.retained_for(neighbour)


@mutant("retained-never-replaced", "PRN-10")
class RetainedNeverReplaced(RetainedDoNotQuench):
    """Keeps a retained subscription although a wider one has replaced it."""

    def wanted(self, tables: Tables, neighbour: Node, candidates: Subs) -> Subs:
        wanted = Pruning.wanted(self, tables, neighbour, candidates)
        return tuple(s for s in candidates if s in wanted or s in self.kept_there(tables, neighbour))


@mutant("retained-without-advertisement", "PRN-11")
class RetainedWithoutAdvertisement(Pruning):
    """Keeps a retained subscription although no advertisement draws it any more."""

    def is_drawn(self, tables: PruningTables, neighbour: Node, s: Subscription) -> bool:
        return True


@mutant("retained-forgotten", "PRN-11")
class RetainedForgotten(Pruning):
    """Forgets a retained subscription without a message when no advertisement draws it any more."""

    def settle(self, step: StepEffects, neighbour: Node, rule: str) -> None:
        assert isinstance(step.tables, PruningTables)
        kept = step.tables.retained_for(neighbour)
        first = len(step.sends)
        super().settle(step, neighbour, rule)
        if rule == "RTE-7":
            forgotten = [Unsubscribe(s) for s in kept]
            step.sends[first:] = [(n, m) for n, m in step.sends[first:] if m not in forgotten]


@mutant("not-remembered", "PRN-7")
class NotRemembered(Pruning):
    """Ends a withdrawal without recording that the neighbour still has the subscription, but still lets it quench."""

    def retain(self, step: StepEffects, s: Subscription, neighbour: Node) -> None:
        pass


@mutant("retained-and-candidate", "PRN-13")
class RetainedAndCandidate(Pruning):
    """Keeps a subscription retained that has come back."""

    def staying(self, tables: PruningTables, neighbour: Node, drawn: Subs) -> Subs:
        again = tuple(s for s in tables.retained_for(neighbour) if s in drawn)
        return super().staying(tables, neighbour, drawn) + again


# -- statistics --------------------------------------------------------------------------------------------------------


@mutant("distance-not-reset", "STA-2")
class DistanceNotReset(Pruning):
    """Continues to count the distance where several subscriptions match."""

    def header(self, step: StepEffects, message: Publish, sender: Node) -> Publish:
        told = super().header(step, message, sender)
        return told if sender == LOCAL else publish(told.publication, met(message).distance + 1, met(told).count)


@mutant("publisher-counts-a-hop", "STA-1")
class PublisherCountsAHop(Pruning):
    """Starts with distance 1 at the publisher's broker."""

    def header(self, step: StepEffects, message: Publish, sender: Node) -> Publish:
        return publish(message.publication, 1) if sender == LOCAL else super().header(step, message, sender)


@mutant("own-subscription-counts-twice", "STA-2")
class OwnSubscriptionCountsTwice(Pruning):
    """Counts one matching subscription as several."""

    def matching(self, step: StepEffects, p: Publication, sender: Node) -> Subs:
        return 2 * super().matching(step, p, sender)


@mutant("database-not-purged", "STA-7")
class DatabaseNotPurged(Pruning):
    """Keeps the statistics of a subscription that its client has withdrawn."""

    def purge(self, step: StepEffects, s: Subscription) -> None:
        pass


@mutant("window-ignored", "STA-7")
class WindowIgnored(Pruning):
    """Keeps more rows than the window allows."""

    def note(self, step: StepEffects, s: Subscription, told: Publish, row: Row) -> None:
        assert isinstance(step.tables, PruningTables)
        step.tables = step.tables.with_row(s, told.publication.of, row, sys.maxsize)


# -- congestion --------------------------------------------------------------------------------------------------------


@mutant("held-withdrawals-dropped", "PRN-6")
class HeldWithdrawalsDropped(Pruning):
    """Forgets the held withdrawals when it is relieved."""

    def resume(self, step: StepEffects, held: Iterable[tuple[Node, Unsubscribe]]) -> None:
        pass


@mutant("delivers-while-held", "PRN-6")
class DeliversWhileHeld(Pruning):
    """Delivers to a client that is gone while its withdrawal is held."""

    def deliver_to(self, tables: Tables, p: Publication) -> Subs:
        return super(Pruning, self).deliver_to(tables, p)


@mutant("hold-outlives-return", "PRN-14")
class HoldOutlivesReturn(Pruning):
    """Continues to hold the withdrawal of a subscription that was issued again."""

    def end_hold(self, step: StepEffects, s: Subscription) -> None:
        pass
