"""Pruning: a withdrawn subscription stays where the publications of the past cannot tell it from what it covered.

`Pruning` is the routing core under covering, with statistics in publications (`statistics`), lists in
withdrawals and subscriptions that are retained. `spec/pruning.md` is normative; the rule ids in comments are its
headings. Small pure methods, so that a mutant (`mutants`) is one of them replaced.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from attrs import evolve

from routeproof.model.messages import Advertisement, Publication, Publish, Subscribe, Subscription, Unsubscribe
from routeproof.model.overlay import LOCAL, Node
from routeproof.model.protocol import NOTHING_KEPT, Kept, Local
from routeproof.model.pruning.statistics import Statistics, pruned
from routeproof.model.pruning.vocabulary import Congest, Cut, PruningTables, Relieve, cuts_of, withdraw
from routeproof.model.routing import StepEffects
from routeproof.model.tables import Tables, by_id

Cuts = tuple[Cut, ...]


class Pruning(Statistics):
    """Withdrawals that end where keeping a subscription costs little: incremental (000) and selective (001)."""

    name = "pruning"
    may_hold = True

    def kept(self, local: Local) -> Kept:
        return Kept(control=True) if pruned(local).held else NOTHING_KEPT

    def dispatch(self, step: StepEffects, sender: Node, message: Hashable) -> None:
        match message:
            case Publish():
                self.on_publication(step, message, sender)
            case Subscribe(s):
                self.end_hold(step, s)
                self.on_subscribe(step, s, sender)
            case Unsubscribe():
                self.on_withdrawal(step, message, sender)
            case Congest():
                self.on_congest(step)
            case Relieve():
                self.on_relieve(step)
            case _:
                super().dispatch(step, sender, message)

    # -- withdrawals ---------------------------------------------------------------------------------------------------

    def on_withdrawal(self, step: StepEffects, message: Unsubscribe, sender: Node) -> None:
        if step.tables.sub_from(message.subscription) != sender:
            step.rules.add("RTE-8")
            return
        if sender == LOCAL and message.header is None:
            message = self.write_list(step, message.subscription)
            self.purge(step, message.subscription)
        tables = pruned(step.tables)
        if tables.congested:  # PRN-6
            step.rules.add("PRN-6")
            step.tables = evolve(tables, held=(*tables.held, (sender, message)))
        else:
            self.withdraw(step, message, sender)

    def withdraw(self, step: StepEffects, message: Unsubscribe, sender: Node) -> None:
        s = message.subscription
        told = [n for n in self.overlay.neighbours(step.node) if n != sender and s in step.tables.sent_to(n)]
        step.tables = step.tables.without_sub(s)  # RTE-6
        step.rules.add("RTE-6")
        cuts = cuts_of(message)
        if cuts is None:
            self.settle_all(step, "RTE-6")
            return
        triggered = {n: self.triggered(step, told if self.parameters.triggered == "broker" else [n]) for n in told}
        for neighbour in self.overlay.neighbours(step.node):
            if neighbour in told:  # PRN-4
                step.rules.add("PRN-4")
                onward = self.shortened(step, cuts, neighbour, triggered[neighbour])
                self.pass_on(step, s, onward, neighbour) if onward else self.retain(step, s, neighbour)
            elif neighbour != sender:
                self.settle(step, neighbour, "RTE-6")

    def triggered(self, step: StepEffects, neighbours: Iterable[Node]) -> int:
        """SIM-8: how many would have to be sent to these if the withdrawal were passed on to all of them."""
        step.rules.add("SIM-8")
        return len({s for n in neighbours for s in self.uncovered(step.tables, n)})

    def uncovered(self, tables: Tables, neighbour: Node) -> tuple[Subscription, ...]:
        wanted = self.wanted(tables, neighbour, self.candidates(tables, neighbour))
        return tuple(s for s in wanted if s not in tables.sent_to(neighbour))

    def shortened(self, step: StepEffects, cuts: Cuts, neighbour: Node, triggered: int) -> Cuts:
        """PRN-4: what is left of the list for this neighbour, one hop further."""
        there = {a.id for a, x in step.tables.advs if x == neighbour}
        step.rules.add("PRN-2")
        return tuple(
            self.one_less(cut)
            for cut in cuts
            if cut.advertisement in there and self.goes_on(self.counting(cut, triggered))
        )

    def counting(self, cut: Cut, triggered: int) -> int | None:
        """PRN-2, PRN-3: the distance that counts; None has no end."""
        if self.policy == "selective":
            return cut.distances[0]
        some, many = self.parameters.cuts
        if triggered < some:
            return None
        return cut.distances[0] if triggered >= many else cut.distances[1]

    def goes_on(self, distance: int | None) -> bool:
        return distance is None or distance > 0

    def one_less(self, cut: Cut) -> Cut:
        return Cut(cut.advertisement, tuple(None if d is None else d - 1 for d in cut.distances))

    def pass_on(self, step: StepEffects, s: Subscription, onward: Cuts, neighbour: Node) -> None:
        """PRN-4: what s held back, then its withdrawal with what is left of the list."""
        first = len(step.sends)
        self.settle(step, neighbour, "PRN-4")
        said = [self.with_list(message, s, onward) for _, message in step.sends[first:]]
        if self.parameters.sends == "listed":
            said = self.only_listed(step, said, onward, neighbour)
        if any(isinstance(message, Subscribe) for message in said):
            step.rules.add("PRN-5")
        step.sends[first:] = [(neighbour, message) for message in said]

    def with_list(self, message: Hashable, s: Subscription, onward: Cuts) -> Hashable:
        return withdraw(s, onward) if message == Unsubscribe(s) else message

    def only_listed(self, step: StepEffects, said: list[Hashable], onward: Cuts, neighbour: Node) -> list[Hashable]:
        """PRN-5: nothing that no listed advertisement draws; it stays unsent until the neighbour is settled again."""
        listed = {cut.advertisement for cut in onward}
        there = [a for a, _ in step.tables.advs if a.id in listed]
        added = [m.subscription for m in said if isinstance(m, Subscribe)]
        held_back = [s for s in added if not any(self.overlaps(a, s) for a in there)]
        sent = step.tables.sent_to(neighbour)
        step.tables = step.tables.with_sent(neighbour, (s for s in sent if s not in held_back))
        return [m for m in said if not (isinstance(m, Subscribe) and m.subscription in held_back)]

    # -- what is retained ----------------------------------------------------------------------------------------------

    def on_advertise(self, step: StepEffects, a: Advertisement, sender: Node) -> None:
        if self.parameters.newcomers == "withdraw" and step.tables.adv_from(a) is None:
            self.make_way(step, a, sender)
        super().on_advertise(step, a, sender)

    def make_way(self, step: StepEffects, a: Advertisement, neighbour: Node) -> None:
        """PRN-16: what is retained there was never weighed against this one."""
        tables = pruned(step.tables)
        retained = tables.retained_for(neighbour)
        kept = tuple(s for s in retained if not self.overlaps(a, s))
        if kept != retained:
            step.rules.add("PRN-16")
            step.tables = tables.with_retained(neighbour, kept)

    def retain(self, step: StepEffects, s: Subscription, neighbour: Node) -> None:
        """PRN-4: the withdrawal ends here, and the neighbour gets no message."""
        tables = pruned(step.tables)
        if self.parameters.remembers:  # PRN-7
            step.rules.add("PRN-7")
            step.tables = tables.with_retained(neighbour, (*tables.retained_for(neighbour), s))
            if self.parameters.collects:
                self.settle(step, neighbour, "PRN-12")
        else:
            step.tables = tables.with_sent(neighbour, (t for t in tables.sent_to(neighbour) if t != s))

    def candidates(self, tables: Tables, neighbour: Node) -> tuple[Subscription, ...]:
        """PRN-9: the pool, of which what is retained is a part."""
        drawn = super().candidates(tables, neighbour)
        return tuple(sorted({*drawn, *self.staying(pruned(tables), neighbour, drawn)}, key=by_id))

    def staying(
        self, tables: PruningTables, neighbour: Node, drawn: tuple[Subscription, ...]
    ) -> tuple[Subscription, ...]:
        """Retained subscriptions that still have a reason to be. PRN-13: what is a candidate again is not retained."""
        return tuple(
            s
            for s in tables.retained_for(neighbour)
            if s not in drawn
            and self.is_drawn(tables, neighbour, s)
            and not (self.parameters.collects and not self.covers_any(s, drawn))
        )

    def is_drawn(self, tables: PruningTables, neighbour: Node, s: Subscription) -> bool:
        """PRN-11: an advertisement that it intersects lies there."""
        return any(x == neighbour and self.overlaps(a, s) for a, x in tables.advs)

    def covers_any(self, s: Subscription, drawn: tuple[Subscription, ...]) -> bool:
        """PRN-12"""
        return any(self.covers(s, t) for t in drawn)

    def settle(self, step: StepEffects, neighbour: Node, rule: str) -> None:
        tables = pruned(step.tables)
        super().settle(step, neighbour, rule)
        retained = tables.retained_for(neighbour)
        if retained:
            drawn = super().candidates(tables, neighbour)
            pool = self.staying(tables, neighbour, drawn)
            sent = step.tables.sent_to(neighbour)
            kept = tuple(s for s in pool if s in sent)
            step.tables = pruned(step.tables).with_retained(neighbour, kept)
            self._note_retained(step, neighbour, retained, pool, drawn)

    def _note_retained(
        self,
        step: StepEffects,
        neighbour: Node,
        retained: tuple[Subscription, ...],
        pool: tuple[Subscription, ...],
        drawn: tuple[Subscription, ...],
    ) -> None:
        """Which rules decided about them: for coverage only."""
        tables, sent = pruned(step.tables), step.tables.sent_to(neighbour)
        if any(t in sent and self.covers(t, s) for t in pool for s in drawn if s not in sent):
            step.rules.add("PRN-9")
        for s in retained:
            if s in pool:
                step.rules.update(() if s in sent else ("PRN-10",))
            elif s in drawn:
                step.rules.add("PRN-13")
            else:
                step.rules.add("PRN-12" if self.is_drawn(tables, neighbour, s) else "PRN-11")

    # -- congestion ----------------------------------------------------------------------------------------------------

    def deliver_to(self, tables: Tables, p: Publication) -> tuple[Subscription, ...]:
        """PRN-6: not to a client whose withdrawal is held: it is gone."""
        gone = {message.subscription for x, message in pruned(tables).held if x == LOCAL}
        return tuple(s for s in super().deliver_to(tables, p) if s not in gone)

    def on_congest(self, step: StepEffects) -> None:
        step.tables = evolve(pruned(step.tables), congested=True)

    def on_relieve(self, step: StepEffects) -> None:
        """PRN-6: what was held, in the order in which it came."""
        held = pruned(step.tables).held
        step.tables = evolve(pruned(step.tables), held=(), congested=False)
        self.resume(step, held)

    def end_hold(self, step: StepEffects, s: Subscription) -> None:
        """PRN-14: a withdrawal of s that waits does not wait for what comes after it."""
        held = pruned(step.tables).held
        due = tuple(entry for entry in held if entry[1].subscription == s)
        if due and not self.parameters.overtakes:
            step.rules.add("PRN-14")
            step.tables = evolve(pruned(step.tables), held=tuple(entry for entry in held if entry not in due))
            self.resume(step, due)

    def resume(self, step: StepEffects, held: Iterable[tuple[Node, Unsubscribe]]) -> None:
        for sender, message in held:
            if step.tables.sub_from(message.subscription) == sender:
                step.rules.add("PRN-6")
                self.withdraw(step, message, sender)
            else:
                step.rules.add("RTE-8")
