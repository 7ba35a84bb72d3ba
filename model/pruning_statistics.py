"""What brokers learn from publications, and what the subscriber's broker concludes when a subscription is withdrawn.

`Statistics` is the half of pruning that goes with publications: headers, the database, and the list of a withdrawal.
What becomes of that list is `pruning`.
"""

from __future__ import annotations

from collections.abc import Sequence

from routeproof.model.critical_distance import critical_distance
from routeproof.model.messages import (
    Advertisement,
    Cut,
    Deliver,
    Publication,
    Publish,
    Subscription,
    Unsubscribe,
)
from routeproof.model.overlay import LOCAL, Node, Overlay
from routeproof.model.protocol import Local
from routeproof.model.pruning_parameters import PruningParameters
from routeproof.model.pruning_state import PruningTables, Row
from routeproof.model.routing import Routing, Step


class Statistics(Routing):
    """The routing core under covering, with statistics."""

    def __init__(self, overlay: Overlay, policy: str, parameters: PruningParameters | None = None) -> None:
        super().__init__(overlay, policy)
        self.parameters = parameters or PruningParameters.of(policy)
        self.covering = self.parameters.base

    def initial(self, node: Node) -> PruningTables:
        return PruningTables()

    # -- publications --------------------------------------------------------------------------------------------------

    def on_publication(self, step: Step, message: Publish, sender: Node) -> None:
        p = message.publication
        told = self.header(step, message, sender)
        for neighbour in self.publish_to(step, p, sender):
            step.send(neighbour, told, "RTE-5", "STA-3")  # STA-3: one header for all copies
        for s in self.deliver_to(step.tables, p):
            step.send(LOCAL, Deliver(p, s), "RTE-5")
            self.note(step, s, told)

    def header(self, step: Step, message: Publish, sender: Node) -> Publish:
        p = message.publication
        if sender == LOCAL:  # STA-1: whatever matches at the publisher's broker
            step.rules.add("STA-1")
            return Publish(p)
        step.rules.add("STA-2")
        if len(self.matching(step, p, sender)) > 1:
            return Publish(p, 0, message.count + 1)
        return Publish(p, message.distance + 1, message.count)

    def matching(self, step: Step, p: Publication, sender: Node) -> tuple[Subscription, ...]:
        """The entries that count as several (STA-2)."""
        matching = [(s, x) for s, x in step.tables.subs if s.filter.matches(p.event)]
        if self.parameters.counts == "elsewhere" and any(x == sender for _, x in matching):
            step.rules.add("STA-5")  # STA-5: those that travel the other way are not ahead of p
            matching = [(s, x) for s, x in matching if x != sender]
        return tuple(s for s, _ in matching)

    def note(self, step: Step, s: Subscription, told: Publish) -> None:
        """STA-6"""
        p, tables, window = told.publication, pruned(step.tables), self.parameters.window
        step.rules.add("STA-6")
        if len(tables.rows_of(s, p.of)) >= window:
            step.rules.add("STA-7")
        step.tables = tables.with_row(s, p.of, Row(p.id, told.distance, told.count), window)

    def purge(self, step: Step, s: Subscription) -> None:
        kept = pruned(step.tables).without_rows(s)
        if kept != step.tables:
            step.rules.add("STA-7")
        step.tables = kept

    # -- the list of a withdrawal --------------------------------------------------------------------------------------

    def write_list(self, step: Step, s: Subscription) -> Unsubscribe:
        """PRN-1: how far the withdrawal is to go, by advertisement; without a list, all the way."""
        tables = pruned(step.tables)
        if self.policy == "selective" and self.most(tables, s) < self.parameters.fewest:  # STA-8
            step.rules.add("STA-8")
            return Unsubscribe(s)
        step.rules.add("PRN-1")
        cuts = (self.cut(step, s, a) for a, x in tables.advs if x != LOCAL and a.filter.overlaps(s.filter))
        return Unsubscribe(s, tuple(cut for cut in cuts if cut is not None))

    def most(self, tables: PruningTables, s: Subscription) -> int:
        """STA-8: the greatest count that was seen."""
        return max((row.count for t, _, rows in tables.rows if t == s for row in rows), default=0)

    def cut(self, step: Step, s: Subscription, a: Advertisement) -> Cut | None:
        rows = pruned(step.tables).rows_of(s, a.id)
        thresholds = self.parameters.thresholds
        if not rows:  # CRD-6
            step.rules.add("CRD-6")
            unknown = {"remove": Cut(a.id, (None,) * len(thresholds)), "zero": Cut(a.id, (0,) * len(thresholds))}
            return unknown.get(self.parameters.without_history)
        step.rules.add("CRD-2")
        distances = [row.distance for row in rows]
        return Cut(a.id, tuple(self.critical(distances, t) for t in thresholds))

    def critical(self, distances: Sequence[int], threshold: int) -> int | None:
        return critical_distance(distances, threshold, self.parameters.inclusive)


def pruned(tables: Local) -> PruningTables:
    assert isinstance(tables, PruningTables)
    return tables
