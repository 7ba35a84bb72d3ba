"""The model replayed fast: `Replica` answers as `Routing` does, at the cost of what matches and not of the whole table.

`model/routing.py` was written to be read. A trace has millions of steps at tables of thousands of subscriptions, so
here the model's sets are bit sets: `Universe` numbers the subscriptions of all brokers and knows which of them an event
matches or a filter covers; `Knowledge` is one broker's tables as masks of these numbers; `Replica` runs the model's own
handlers on that. Read `bits`, `buckets`, `index`, `universe` and `knowledge` in this order, and then this module.
docs/decisions/0011 gives the reasons, and how all this is held to the model.

The handlers, what they send and in which order are those of `Routing` itself. What reads tables is replaced: settling
(`settle`), and where a publication goes (`publish`, RTE-5). Of few subscriptions that match, the last hops are looked
up one by one; of many, each last hop's mask is cut with theirs.

Additions and removals of a settle are found from what changed since the last (`changes`). The model's definition
(`Routing.wanted`, COV-2, COV-4, COV-6, COV-10) has three consequences, for filters of which covering is reflexive and
transitive:

1. Under active covering, `sent` is what is wanted exactly where (a) all of it are candidates, (b) none of it covers
   another, and (c) every candidate is covered by some of it. Let it be so. One t that quenches an s in `sent` would be
   covered by a u in `sent`; then u covers s, so u is s by (b), so t and s are equal and t, not sent by (b), does not go
   first: nothing quenches s. And a candidate that is not in `sent` is covered by one that is: strictly, or as an equal
   that goes first. The converse holds because chains of quenching are finite. Under lazy covering, (b) falls away.

2. So after a settle (a) to (c) hold for the candidates of then. Now some candidates came (`new`) and some left, with
   them some of what was sent (`gone`); the rest of `sent` is `kept`. A candidate that nothing kept covers is new, or
   was covered by one that is gone. These are `fresh`. No fresh one was sent, so that among equals the lower id goes
   first; those that no other fresh one quenches are added, and every fresh one is covered by an added one.

3. Under lazy covering that is all. Under active covering an added one may cover a kept one (strictly, or it would not
   be fresh), which is then removed; the others still have (a) to (c). That one is new: what a gone g covered can cover
   no kept k, since g would, and (b) held of the two.

Tables from a trace need not satisfy (a) to (c). The judge looks before the first settle (`_is_right`), and where they
do not, that one settle follows the definition (`_wanted`).
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import cast

from routeproof.checker.validate.fast.bits import mask_of, numbers_of
from routeproof.checker.validate.fast.knowledge import Knowledge
from routeproof.checker.validate.fast.universe import Answer, Universe
from routeproof.model.messages import (
    Advertise,
    PackedSubscribe,
    PackedUnsubscribe,
    Publication,
    Publish,
    Subscribe,
    Subscription,
    Unadvertise,
    Unsubscribe,
)
from routeproof.model.overlay import LOCAL, Node, Overlay
from routeproof.model.protocol import Sends
from routeproof.model.routing import Routing, StepEffects
from routeproof.model.tables import Tables, by_id

__all__ = ["Knowledge", "Replica", "Universe"]


def changes(knowledge: Knowledge, policy: str, neighbour: Node) -> tuple[int, int]:
    """Additions to what the neighbour was sent, and removals from it, that make it what the policy wants."""
    universe = knowledge.universe
    sent = knowledge.sent.get(neighbour, 0)
    candidates = knowledge.candidates.get(neighbour, 0)
    settled = knowledge.settled.get(neighbour, 0)
    if policy == "none":
        return candidates & ~sent, sent & ~candidates
    if neighbour in knowledge.unproven and not _is_right(universe, policy, sent, settled):
        wanted = _wanted(universe, policy, sent, candidates)
        return wanted & ~sent, sent & ~wanted
    if candidates == settled:
        return 0, 0
    return _since(universe, policy, sent, settled, candidates)


def _since(universe: Universe, policy: str, sent: int, settled: int, candidates: int) -> tuple[int, int]:
    gone, kept = sent & ~candidates, sent & candidates
    new = candidates & ~settled
    fresh = new | _released(universe, gone, candidates & ~sent) if gone else new
    if kept and fresh:
        fresh &= ~covered_by(universe, kept, fresh)
    added = _unquenched(universe, fresh, 0)
    removed = gone
    if policy != "lazy" and kept and added & new:
        removed |= covered_by(universe, added & new, kept)
    return added, removed


def _is_right(universe: Universe, policy: str, sent: int, candidates: int) -> bool:
    if sent & ~candidates:
        return False
    reached = 0
    for slot in numbers_of(sent):
        reached |= universe.covered(slot) & ~(1 << slot)
    return not (candidates & ~(sent | reached)) and (policy == "lazy" or not sent & reached)


def _wanted(universe: Universe, policy: str, sent: int, candidates: int) -> int:
    """By the definition."""
    if policy != "lazy":
        return _unquenched(universe, candidates, sent)
    kept = sent & candidates
    return kept | _unquenched(universe, candidates & ~covered_by(universe, kept, candidates), 0)


def _released(universe: Universe, gone: int, waiting: int) -> int:
    """The unsent candidates that a withdrawn subscription may have been quenching.

    May return too many; `_since` drops those that something kept still covers.
    """
    if gone.bit_count() > waiting.bit_count():
        return waiting
    found = 0
    for slot in numbers_of(gone):
        found |= universe.covered(slot) & waiting
    return found


def covered_by(universe: Universe, some: int, these: int) -> int:
    """Returns the members of these that any of those covers; compares from the smaller side."""
    found = 0
    if these.bit_count() <= some.bit_count():
        for slot in numbers_of(these):
            if universe.covering(slot) & some:
                found |= 1 << slot
        return found
    for slot in numbers_of(some):
        found |= universe.covered(slot) & these
        if found == these:
            break
    return found


def _unquenched(universe: Universe, among: int, sent: int) -> int:
    """COV-1, COV-10: those that no other of these quenches."""
    if among.bit_count() < 2:
        return among
    found, left = 0, among
    for slot in numbers_of(among):
        if left >> slot & 1:
            equal = universe.equal(slot) & among
            if not universe.covering(slot) & among & ~equal:
                found |= 1 << _first(universe, equal & sent or equal)
            left &= ~equal
    return found


def _first(universe: Universe, equal: int) -> int:
    return min(numbers_of(equal), key=lambda slot: by_id(universe.subscription(slot)))


# -- publications ------------------------------------------------------------------------------------------------------


def publish(knowledge: Knowledge, sender: Node, matching: Answer) -> tuple[tuple[Node, ...], list[int]]:
    """RTE-5: the last hops of what matches, once each and never back, and the local slots that match; in any order."""
    few = matching.few
    if few is None:
        mask = matching.mask
        there = tuple(hop for hop, slots in knowledge.hops.items() if slots & mask and hop not in (sender, LOCAL))
        here = knowledge.hops.get(LOCAL, 0) & mask
        return there, numbers_of(here) if here else []
    subs = knowledge.subs
    hops: set[Node] = set()
    local: list[int] = []
    for slot in few:
        hop = subs.get(slot)
        if hop == LOCAL:
            local.append(slot)
        elif hop is not None and hop != sender:
            hops.add(hop)
    return tuple(hops), local


# -- handlers ----------------------------------------------------------------------------------------------------------

NOWHERE = Tables()


class Replica:
    """The routing core for all brokers of one judge. It answers what `Routing.handle` answers, fast."""

    def __init__(self, overlay: Overlay, policy: str, universe: Universe | None = None) -> None:
        self.universe = Universe() if universe is None else universe
        self._routing = _OnMasks(overlay, policy)

    def knowledge(self, node: Node, tables: Tables = NOWHERE) -> Knowledge:
        """Knowledge of a broker with these tables."""
        return Knowledge.of(self.universe, node, tables)

    def handle(self, knowledge: Knowledge, sender: Node, message: Hashable) -> Sends:
        """One step: what the broker sends, in the model's order. `knowledge` is what it knows afterwards."""
        routing = self._routing
        step = StepEffects(knowledge.node, cast(Tables, knowledge))  # the handlers use the methods that the two share
        match message:
            case Subscribe(s):
                routing.on_subscribe(step, s, sender)
            case Unsubscribe(s):
                routing.on_unsubscribe(step, s, sender)
            case Publish(p):
                routing.on_publish(step, p, sender)
            case PackedSubscribe(many):  # COV-7
                for s in many:
                    routing.on_subscribe(step, s, sender)
            case PackedUnsubscribe(many):  # COV-7
                for s in many:
                    routing.on_unsubscribe(step, s, sender)
            case Advertise(a):
                routing.on_advertise(step, a, sender)
            case Unadvertise(a):
                routing.on_unadvertise(step, a, sender)
            case _:
                raise TypeError(f"the routing core has no handler for {message!r}")
        return routing.pack(step) if routing.policy == "packing" else tuple(step.sends)


class _OnMasks(Routing):
    """`Routing` where `StepEffects.tables` is a `Knowledge`."""

    def settle_all(self, step: StepEffects, rule: str) -> None:
        """Settles the neighbours for which there may be something to do: of thousands, mostly none."""
        concerned = _knowledge(step.tables).unsettled()
        if concerned:
            for neighbour in sorted(concerned.intersection(self.overlay.neighbours(step.node))):
                self.settle(step, neighbour, rule)

    def settle(self, step: StepEffects, neighbour: Node, rule: str) -> None:
        knowledge = _knowledge(step.tables)
        added, removed = changes(knowledge, self.policy, neighbour)
        if added or removed:
            withdrawn = knowledge.in_sent_order(neighbour, removed)
            self.tell(step, neighbour, tuple(knowledge.in_table_order(added)), tuple(withdrawn))
        knowledge.now_sent(neighbour, added, removed, added if self.policy == "lazy" else 0)

    def publish_to(self, step: StepEffects, p: Publication, sender: Node) -> tuple[Node, ...]:
        knowledge = _knowledge(step.tables)
        return tuple(sorted(publish(knowledge, sender, knowledge.universe.matching(p.event))[0]))

    def deliver_to(self, tables: Tables, p: Publication) -> tuple[Subscription, ...]:
        knowledge = _knowledge(tables)
        _, local = publish(knowledge, LOCAL, knowledge.universe.matching(p.event))
        return tuple(knowledge.in_table_order(mask_of(local)))


def _knowledge(tables: object) -> Knowledge:
    assert isinstance(tables, Knowledge)
    return tables
