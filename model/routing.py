"""The routing core: advertise, subscribe, publish and withdraw, with covering.

`Routing` is the protocol. The text of `spec/routing.md` is normative; the rule ids in comments are its headings. The
class is a handful of small pure methods, so that a mutant (`routing_mutants`) is one of them replaced.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from routeproof.model.filters import Event
from routeproof.model.messages import (
    Advertise,
    Advertisement,
    Deliver,
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
from routeproof.model.protocol import NOTHING_KEPT, Kept, Local, Outcome, Sends
from routeproof.model.tables import Tables, by_id


class StepEffects:
    """Effects of one handler call so far; it lives for that call only."""

    def __init__(self, node: Node, tables: Tables) -> None:
        self.node = node
        self.tables = tables
        self.sends: list[tuple[Node, Hashable]] = []
        self.rules: set[str] = set()

    def send(self, receiver: Node, message: Hashable, *rules: str) -> None:
        self.sends.append((receiver, message))
        self.rules.update(rules)


class Routing:
    """Content-based routing on a tree under one covering policy."""

    name = "routing"
    may_refuse = False
    may_hold = False

    def __init__(self, overlay: Overlay, policy: str) -> None:
        self.overlay = overlay
        self.policy = policy
        self.covering = policy  # for a protocol that rests on this one it is another

    def initial(self, node: Node) -> Tables:
        return Tables()

    def accepts(self, node: Node, local: Local, sender: Node, message: Hashable) -> bool:
        return True

    def kept(self, local: Local) -> Kept:
        return NOTHING_KEPT

    def handle(self, node: Node, local: Local, sender: Node, message: Hashable) -> Outcome:
        assert isinstance(local, Tables)
        step = StepEffects(node, local)
        self.dispatch(step, sender, message)
        sends = self.pack(step) if self.covering == "packing" else tuple(step.sends)
        return Outcome(step.tables, sends, frozenset(step.rules))

    def dispatch(self, step: StepEffects, sender: Node, message: Hashable) -> None:
        match message:
            case Advertise(a):
                self.on_advertise(step, a, sender)
            case Unadvertise(a):
                self.on_unadvertise(step, a, sender)
            case Subscribe(s):
                self.on_subscribe(step, s, sender)
            case Unsubscribe(s):
                self.on_unsubscribe(step, s, sender)
            case PackedSubscribe(many):  # COV-7: handled in order, within this one step
                for s in many:
                    self.on_subscribe(step, s, sender)
            case PackedUnsubscribe(many):  # COV-7
                for s in many:
                    self.on_unsubscribe(step, s, sender)
            case Publish(p):
                self.on_publish(step, p, sender)
            case _:
                raise TypeError(f"the routing core has no handler for {message!r}")

    # -- handlers ------------------------------------------------------------------------------------------------------

    def on_advertise(self, step: StepEffects, a: Advertisement, sender: Node) -> None:
        if step.tables.adv_from(a) is not None:  # RTE-8: a copy of what is known changes nothing
            step.rules.add("RTE-8")
            return
        step.tables = step.tables.with_adv(a, sender)  # RTE-2: stored with its last hop, and flooded
        step.rules.add("RTE-2")
        for neighbour in self.flood_to(step.node, sender):
            step.send(neighbour, Advertise(a))
        if sender != LOCAL:
            self.settle(step, sender, "RTE-4")  # RTE-4: subscriptions that were waiting for it follow it back

    def on_unadvertise(self, step: StepEffects, a: Advertisement, sender: Node) -> None:
        if step.tables.adv_from(a) != sender:  # RTE-8: only where it came from may withdraw it
            step.rules.add("RTE-8")
            return
        step.tables = step.tables.without_adv(a)  # RTE-7: forgotten, and the withdrawal flooded
        step.rules.add("RTE-7")
        for neighbour in self.flood_to(step.node, sender):
            step.send(neighbour, Unadvertise(a))
        if sender != LOCAL:
            self.settle(step, sender, "RTE-7")

    def on_subscribe(self, step: StepEffects, s: Subscription, sender: Node) -> None:
        step.tables = step.tables.with_sub(s, sender)  # RTE-3: stored with its last hop, and passed on
        step.rules.add("RTE-3")
        self.settle_all(step, "RTE-3")

    def on_unsubscribe(self, step: StepEffects, s: Subscription, sender: Node) -> None:
        if step.tables.sub_from(s) != sender:  # RTE-8
            step.rules.add("RTE-8")
            return
        step.tables = step.tables.without_sub(s)  # RTE-6: the withdrawal follows the subscription's path
        step.rules.add("RTE-6")
        self.settle_all(step, "RTE-6")

    def on_publish(self, step: StepEffects, p: Publication, sender: Node) -> None:
        for neighbour in self.publish_to(step, p, sender):  # RTE-5: once per last hop, never back
            step.send(neighbour, Publish(p), "RTE-5")
        for s in self.deliver_to(step.tables, p):  # RTE-5: local last hops are deliveries
            step.send(LOCAL, Deliver(p, s), "RTE-5")

    # -- relations, which a judge of long traces remembers -------------------------------------------------------------

    def covers(self, t: Subscription, s: Subscription) -> bool:
        return t.filter.covers(s.filter)  # COV-1

    def overlaps(self, a: Advertisement, s: Subscription) -> bool:
        return a.filter.overlaps(s.filter)

    def matches(self, s: Subscription, event: Event) -> bool:
        return s.filter.matches(event)

    # -- what a broker wants a neighbour to know ---------------------------------------------------------------------

    def candidates(self, tables: Tables, neighbour: Node) -> tuple[Subscription, ...]:
        """RTE-3: what came from elsewhere and intersects an advertisement that lies that way."""
        there = [a for a, x in tables.advs if x == neighbour]
        return tuple(s for s, x in tables.subs if x != neighbour and any(self.overlaps(a, s) for a in there))

    def wanted(self, tables: Tables, neighbour: Node, candidates: tuple[Subscription, ...]) -> tuple[Subscription, ...]:
        """The candidates that the policy lets through, given what the neighbour was sent already."""
        sent = tables.sent_to(neighbour)
        match self.covering:
            case "none":
                return candidates
            case "lazy":  # COV-6: what was sent stays; only what comes after a coverer is quenched
                kept = tuple(s for s in candidates if s in sent)
                fresh = tuple(s for s in candidates if not any(self.covers(k, s) for k in kept))
                return kept + tuple(s for s in fresh if s not in kept and not self.is_quenched(s, fresh, sent))
            case _:  # COV-2, COV-4: active, and packing, which differs only in how it travels
                return tuple(s for s in candidates if not self.is_quenched(s, candidates, sent))

    def is_quenched(self, s: Subscription, among: Iterable[Subscription], sent: tuple[Subscription, ...]) -> bool:
        return any(t != s and self.quenches(t, s, sent) for t in among)

    def quenches(self, t: Subscription, s: Subscription, sent: tuple[Subscription, ...]) -> bool:
        """COV-1, COV-10: t's filter strictly covers s's, or they are equal and t goes first."""
        if not self.covers(t, s):
            return False
        return not self.covers(s, t) or self.goes_before(t, s, sent)

    def goes_before(self, t: Subscription, s: Subscription, sent: tuple[Subscription, ...]) -> bool:
        """COV-10: among equal filters what is already sent stays, then the lower id."""
        return (t not in sent, by_id(t)) < (s not in sent, by_id(s))

    # -- settling ----------------------------------------------------------------------------------------------------

    def settle_all(self, step: StepEffects, rule: str) -> None:
        for neighbour in self.overlay.neighbours(step.node):
            self.settle(step, neighbour, rule)

    def settle(self, step: StepEffects, neighbour: Node, rule: str) -> None:
        """Settles a neighbour: sends the additions and then the removals that it needs, as `rule` requires."""
        tables = step.tables
        sent = tables.sent_to(neighbour)
        candidates = self.candidates(tables, neighbour)
        wanted = self.wanted(tables, neighbour, candidates)
        had, has = set(sent), set(wanted)
        added = tuple(sorted((s for s in wanted if s not in had), key=by_id))
        removed = tuple(s for s in sent if s not in has)
        self.tell(step, neighbour, added, removed)
        step.tables = tables.with_sent(neighbour, wanted)
        if added or removed:
            step.rules.add(rule)
        if self.covering != "none":
            self._note_covering(step, neighbour, candidates, wanted, removed)

    def tell(
        self, step: StepEffects, neighbour: Node, added: tuple[Subscription, ...], removed: tuple[Subscription, ...]
    ) -> None:
        """COV-8: additions before removals, or a publication handled in between is lost."""
        for s in added:
            step.send(neighbour, Subscribe(s))
        for s in removed:
            step.send(neighbour, Unsubscribe(s))
        if added and removed:
            step.rules.add("COV-8")

    def flood_to(self, node: Node, sender: Node) -> tuple[Node, ...]:
        return tuple(n for n in self.overlay.neighbours(node) if n != sender)

    def publish_to(self, step: StepEffects, p: Publication, sender: Node) -> tuple[Node, ...]:
        """RTE-5: the neighbours from which a matching subscription came, but not the one this came from."""
        hops = {x for s, x in step.tables.subs if x != LOCAL and self.matches(s, p.event)}
        return tuple(sorted(hops - {sender}))

    def deliver_to(self, tables: Tables, p: Publication) -> tuple[Subscription, ...]:
        return tuple(s for s, x in tables.subs if x == LOCAL and self.matches(s, p.event))

    def pack(self, step: StepEffects) -> Sends:
        """COV-7: a step's subscriptions to a neighbour in one message, then its withdrawals in one."""
        packed: list[tuple[Node, Hashable]] = []
        for neighbour in self.overlay.neighbours(step.node):
            mine = [m for n, m in step.sends if n == neighbour]
            packed += [(neighbour, m) for m in mine if not isinstance(m, Subscribe | Unsubscribe)]
            added = tuple(m.subscription for m in mine if isinstance(m, Subscribe))
            removed = tuple(m.subscription for m in mine if isinstance(m, Unsubscribe))
            packed += [(neighbour, PackedSubscribe(added))] if added else []
            packed += [(neighbour, PackedUnsubscribe(removed))] if removed else []
            if len(added) > 1 or len(removed) > 1:
                step.rules.add("COV-7")
        return (*packed, *((n, m) for n, m in step.sends if n == LOCAL))

    def _note_covering(
        self,
        step: StepEffects,
        neighbour: Node,
        candidates: tuple[Subscription, ...],
        wanted: tuple[Subscription, ...],
        removed: tuple[Subscription, ...],
    ) -> None:
        """Which covering rules decided this settle: for coverage only, nothing depends on it."""
        quenched = [s for s in candidates if s not in wanted]
        if any(s in removed for s in quenched):
            step.rules.add("COV-4")  # newly covered, so withdrawn where it went
        if any(s not in removed for s in quenched):
            step.rules.add("COV-2")
        if any(self.covers(t, s) and self.covers(s, t) for s in quenched for t in wanted):
            step.rules.add("COV-10")
        if any(t != s and self.covers(t, s) for s in wanted for t in wanted):
            step.rules.add("COV-6")  # two nested ones both stay: only lazy covering allows it
        if any(x == neighbour and self.covers(t, s) for s in wanted for t, x in step.tables.subs):
            step.rules.add("COV-3")  # a coverer that came from there does not quench
