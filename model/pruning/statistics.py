"""Statistics of brokers about publications, and the list that the subscriber's broker derives for a withdrawal.

`Statistics` is the half of pruning that goes with publications: headers, the database, and the list of a withdrawal.
What becomes of that list is `pruning`.

Critical distances: how far toward a publisher a withdrawn subscription still differs from what it covered.

A row has the header of one delivered publication; a threshold is a share in percent. Whole numbers throughout: a share
that is exactly the threshold must not depend on rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from routeproof.model.messages import Advertisement, Deliver, Publication, Publish, Subscription, Unsubscribe
from routeproof.model.overlay import LOCAL, Node, Overlay
from routeproof.model.protocol import Local
from routeproof.model.pruning.vocabulary import Cut, PruningParameters, PruningTables, Row, met, publish, withdraw
from routeproof.model.routing import Routing, StepEffects


def critical_distance(distances: Sequence[int], threshold: int, inclusive: bool = True) -> int | None:
    """CRD-2: the least distance whose share reaches the threshold; None where no distance does."""
    if _reaches(share(distances, inf, inclusive), len(distances), threshold, inclusive):
        return next(mu for mu in range(max(distances) + 2) if _satisfies(distances, mu, threshold, inclusive))
    return None


def share(distances: Sequence[int], mu: float, inclusive: bool = True) -> int:
    """CRD-1: of so many rows the distance is at most mu (or less: CRD-3)."""
    return sum(d <= mu if inclusive else d < mu for d in distances)


def _satisfies(distances: Sequence[int], mu: int, threshold: int, inclusive: bool) -> bool:
    return _reaches(share(distances, mu, inclusive), len(distances), threshold, inclusive)


def _reaches(part: int, whole: int, threshold: int, inclusive: bool) -> bool:
    """CRD-3"""
    return part * 100 >= threshold * whole if inclusive else part * 100 > threshold * whole


class Statistics(Routing):
    """The routing core under covering, with statistics."""

    def __init__(self, overlay: Overlay, policy: str, parameters: PruningParameters | None = None) -> None:
        super().__init__(overlay, policy)
        self.parameters = parameters or PruningParameters.of(policy)
        self.covering = self.parameters.base

    def initial(self, node: Node) -> PruningTables:
        return PruningTables()

    # -- publications --------------------------------------------------------------------------------------------------

    def on_publication(self, step: StepEffects, message: Publish, sender: Node) -> None:
        p = message.publication
        told = self.header(step, message, sender)
        for neighbour in self.publish_to(step, p, sender):
            step.send(neighbour, told, "RTE-5", "STA-3")  # STA-3: one header for all copies
        for s in self.deliver_to(step.tables, p):
            step.send(LOCAL, Deliver(p, s), "RTE-5")
            self.note(step, s, told, self.row(message, sender, told))

    def row(self, message: Publish, sender: Node, told: Publish) -> Row:
        """STA-6; by the reading `rows` the header as it arrived, which a publisher's own broker makes itself."""
        p = message.publication
        if self.parameters.rows == "arrived" and sender != LOCAL:
            return Row(p.id, met(message).distance, met(message).count, (p.event, sender))
        return Row(p.id, met(told).distance, met(told).count)

    def header(self, step: StepEffects, message: Publish, sender: Node) -> Publish:
        p = message.publication
        if sender == LOCAL:  # STA-1: whatever matches at the publisher's broker
            step.rules.add("STA-1")
            return publish(p)
        step.rules.add("STA-2")
        distance, count = updated(len(self.matching(step, p, sender)), met(message).distance, met(message).count)
        return publish(p, distance, count)

    def matching(self, step: StepEffects, p: Publication, sender: Node) -> tuple[Subscription, ...]:
        """The entries that count as several (STA-2)."""
        matching = [(s, x) for s, x in step.tables.subs if self.matches(s, p.event)]
        if self.parameters.counts == "elsewhere" and any(x == sender for _, x in matching):
            step.rules.add("STA-5")  # STA-5: those that travel the other way are not ahead of p
            matching = [(s, x) for s, x in matching if x != sender]
        return tuple(s for s, _ in matching)

    def note(self, step: StepEffects, s: Subscription, told: Publish, row: Row) -> None:
        """STA-6"""
        p, tables, window = told.publication, pruned(step.tables), self.parameters.window
        step.rules.add("STA-6")
        if len(tables.rows_of(s, p.of)) >= window:
            step.rules.add("STA-7")
        step.tables = tables.with_row(s, p.of, row, window)

    def purge(self, step: StepEffects, s: Subscription) -> None:
        kept = pruned(step.tables).without_rows(s)
        if kept != step.tables:
            step.rules.add("STA-7")
        step.tables = kept

    # -- the list of a withdrawal --------------------------------------------------------------------------------------

    def write_list(self, step: StepEffects, s: Subscription) -> Unsubscribe:
        """PRN-1: how far the withdrawal is to go, by advertisement; without a list, all the way."""
        tables = pruned(step.tables)
        if self.policy == "selective" and self.most(tables, s) < self.parameters.fewest:  # STA-8
            step.rules.add("STA-8")
            return Unsubscribe(s)
        step.rules.add("PRN-1")
        cuts = (self.cut(step, s, a) for a, x in tables.advs if x != LOCAL and self.overlaps(a, s))
        return withdraw(s, tuple(cut for cut in cuts if cut is not None))

    def most(self, tables: PruningTables, s: Subscription) -> int:
        """STA-8: the greatest count that was seen."""
        return max((self.read(tables, row).count for t, _, rows in tables.rows if t == s for row in rows), default=0)

    def read(self, tables: PruningTables, row: Row) -> Row:
        """STA-9: what was noted as it arrived is updated by the table as it is now."""
        if row.came is None:
            return row
        event, hop = row.came
        matching = [s for s, x in tables.subs if self.matches(s, event) and self.is_counted(x, hop)]
        return Row(row.publication, *updated(len(matching), row.distance, row.count))

    def is_counted(self, source: Node, hop: Node) -> bool:
        """STA-5: does an entry from there count for a publication from that hop?"""
        return source != hop or self.parameters.counts == "all"

    def cut(self, step: StepEffects, s: Subscription, a: Advertisement) -> Cut | None:
        rows = pruned(step.tables).rows_of(s, a.id)
        if any(row.came is not None for row in rows):
            step.rules.add("STA-9")
        thresholds = self.parameters.thresholds
        if not rows:  # CRD-6
            step.rules.add("CRD-6")
            unknown = {"remove": Cut(a.id, (None,) * len(thresholds)), "zero": Cut(a.id, (0,) * len(thresholds))}
            return unknown.get(self.parameters.without_history)
        step.rules.add("CRD-2")
        distances = [self.read(pruned(step.tables), row).distance for row in rows]
        return Cut(a.id, tuple(self.critical(distances, t) for t in thresholds))

    def critical(self, distances: Sequence[int], threshold: int) -> int | None:
        return critical_distance(distances, threshold, self.parameters.inclusive)


def updated(matching: int, distance: int, count: int) -> tuple[int, int]:
    """STA-2: distance and count after a broker at which so many subscriptions match."""
    return (0, count + 1) if matching > 1 else (distance + 1, count)


def pruned(tables: Local) -> PruningTables:
    assert isinstance(tables, PruningTables)
    return tables
