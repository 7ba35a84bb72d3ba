"""The model of pruning as a judge of long traces: `JudgingPruning` answers as `Pruning` does, and remembers.

Handlers, decisions and their order are the model's own. What is replaced reads tables: which filters cover, overlap or
match is computed once for each pair, and the subscriptions that a neighbour should know follow from those that it
should have known before. The coverage of rules is left out: no rejection needs it. Instead there are `StepRecord`: what
a step put into the database and what it decided, so that it can be compared with the similarity.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, TypeVar

from attrs import Factory, define

from routeproof.checker.pruning.validate.notebook import ALWAYS
from routeproof.model.filters import Event, Filter
from routeproof.model.messages import Publication, Publish, Subscription, Unsubscribe
from routeproof.model.overlay import LOCAL, Node, Overlay
from routeproof.model.pruning.handler import Cuts, Pruning
from routeproof.model.pruning.vocabulary import PruningParameters, Row, met
from routeproof.model.routing import Routing, Step
from routeproof.model.tables import Tables, by_id

T = TypeVar("T")

REMEMBERED = 1 << 20
"""Answers of each kind."""

Subscriptions: TypeAlias = tuple[Subscription, ...]


@define
class Relations:
    """Relations between two filters, or a filter and an event."""

    covering: dict[tuple[Filter, Filter], bool] = Factory(dict)
    overlapping: dict[tuple[Filter, Filter], bool] = Factory(dict)
    matching: dict[tuple[Filter, Event], bool] = Factory(dict)

    def covers(self, one: Filter, other: Filter) -> bool:
        return _asked(self.covering, (one, other), one.covers)

    def overlaps(self, one: Filter, other: Filter) -> bool:
        return _asked(self.overlapping, (one, other), one.overlaps)

    def matches(self, one: Filter, event: Event) -> bool:
        return _asked(self.matching, (one, event), one.matches)


def _asked(known: dict[tuple[Filter, T], bool], question: tuple[Filter, T], ask: Callable[[T], bool]) -> bool:
    answer = known.get(question)
    if answer is None:
        if len(known) >= REMEMBERED:
            known.clear()
        answer = known[question] = ask(question[1])
    return answer


class _Remembering(Routing):
    """The core below pruning, at one broker."""

    def __init__(self, overlay: Overlay, policy: str) -> None:
        super().__init__(overlay, policy)
        self.relations = Relations()
        self._pools: dict[Node, tuple[Subscriptions, Subscriptions]] = {}
        """Per neighbour, the latest pool and what of it was wanted."""
        self._matched: tuple[Tables | None, Publication | None, list[tuple[Subscription, Node]]] = (None, None, [])

    def candidates(self, tables: Tables, neighbour: Node) -> Subscriptions:
        there = [a.filter for a, x in tables.advs if x == neighbour]
        overlaps = self.relations.overlaps
        return tuple(s for s, x in tables.subs if x != neighbour and any(overlaps(f, s.filter) for f in there))

    def wanted(self, tables: Tables, neighbour: Node, candidates: Subscriptions) -> Subscriptions:
        """COV-4: from what was wanted before, where that was sent and nothing of it has left."""
        if self.covering != "active":
            return super().wanted(tables, neighbour, candidates)
        sent = tables.sent_to(neighbour)
        before, roots = self._pools.get(neighbour, ((), ()))
        if roots != sent or not set(roots) <= set(candidates):
            before, roots = (), ()
        found = dict.fromkeys(roots)
        there = set(sent)
        for s in set(candidates).difference(before):
            if not any(self._goes_before(t, s, there) for t in found):
                for t in [t for t in found if self._goes_before(s, t, there)]:
                    del found[t]
                found[s] = None
        wanted = tuple(sorted(found, key=by_id))
        self._pools[neighbour] = candidates, wanted
        return wanted

    def _goes_before(self, t: Subscription, s: Subscription, sent: set[Subscription]) -> bool:
        """COV-1, COV-10: does t quench s?"""
        covers = self.relations.covers
        if not covers(t.filter, s.filter):
            return False
        return not covers(s.filter, t.filter) or (t not in sent, by_id(t)) < (s not in sent, by_id(s))

    def covers(self, t: Subscription, s: Subscription) -> bool:
        return self.relations.covers(t.filter, s.filter)

    def publish_to(self, step: Step, p: Publication, sender: Node) -> tuple[Node, ...]:
        hops = {x for _, x in self._matching(step.tables, p) if x != LOCAL}
        return tuple(sorted(hops - {sender}))

    def deliver_to(self, tables: Tables, p: Publication) -> Subscriptions:
        return tuple(s for s, x in self._matching(tables, p) if x == LOCAL)

    def _matching(self, tables: Tables, p: Publication) -> list[tuple[Subscription, Node]]:
        if self._matched[0] is not tables or self._matched[1] is not p:
            matches = self.relations.matches
            self._matched = tables, p, [(s, x) for s, x in tables.subs if matches(s.filter, p.event)]
        return self._matched[2]

    def _note_covering(self, *_: object) -> None:
        pass


@define
class StepRecord:
    """Records of one step."""

    rows: list[tuple[str, int, int]] = Factory(list)
    """STA-6: a local subscription, and the distance and the count that were noted for it."""
    decisions: list[tuple[str, Node, tuple[str, ...], int]] = Factory(list)
    """PRN-4: what is withdrawn, a neighbour that had it, the advertisements there that the list has, and which of their
    distances counts (`ALWAYS`: none)."""
    full: list[str] = Factory(list)
    """STA-8: what is withdrawn without a list."""


class JudgingPruning(Pruning, _Remembering):
    """One for each broker: `at_another` shares what is known of filters."""

    def __init__(self, overlay: Overlay, policy: str, parameters: PruningParameters | None = None) -> None:
        super().__init__(overlay, policy, parameters)
        self.minutes = StepRecord()
        """Records of the latest step; the next step begins new ones."""
        self._withdrawn = ""

    def at_another(self) -> JudgingPruning:
        made = JudgingPruning(self.overlay, self.policy, self.parameters)
        made.relations = self.relations
        return made

    def matching(self, step: Step, p: Publication, sender: Node) -> Subscriptions:
        matching = self._matching(step.tables, p)
        if self.parameters.counts == "elsewhere":  # STA-5
            return tuple(s for s, x in matching if x != sender)
        return tuple(s for s, _ in matching)

    def is_drawn(self, tables: Tables, neighbour: Node, s: Subscription) -> bool:
        return any(x == neighbour and self.relations.overlaps(a.filter, s.filter) for a, x in tables.advs)

    # -- minutes -------------------------------------------------------------------------------------------------------

    def note(self, step: Step, s: Subscription, told: Publish, row: Row) -> None:
        self.minutes.rows.append((s.id, met(told).distance, met(told).count))
        super().note(step, s, told, row)

    def write_list(self, step: Step, s: Subscription) -> Unsubscribe:
        written = super().write_list(step, s)
        if written.header is None:
            self.minutes.full.append(s.id)
        return written

    def withdraw(self, step: Step, message: Unsubscribe, sender: Node) -> None:
        self._withdrawn = message.subscription.id
        super().withdraw(step, message, sender)

    def shortened(self, step: Step, cuts: Cuts, neighbour: Node, triggered: int) -> Cuts:
        there = {a.id for a, x in step.tables.advs if x == neighbour}
        listed = tuple(cut.advertisement for cut in cuts if cut.advertisement in there)
        self.minutes.decisions.append((self._withdrawn, neighbour, listed, self.which(triggered)))
        return super().shortened(step, cuts, neighbour, triggered)

    def which(self, triggered: int) -> int:
        """PRN-2: the place of the distance that counts."""
        if self.policy == "selective":
            return 0
        some, many = self.parameters.cuts
        return ALWAYS if triggered < some else 0 if triggered >= many else 1
