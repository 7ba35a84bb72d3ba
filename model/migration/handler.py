"""Migration: publishers that move from broker to broker while they publish.

`Migration` is the routing core, with publishers that are nodes of their own. `spec/migration.md` is normative; the rule
ids in comments are its headings. Small pure methods, so that a mutant (`mutants`) is one of them replaced.

As printed (`removal = "at-once"`) the update removes entries as it passes, and publications that are still on their way
find no entry any more. Drained, an advertisement counts as lying both ways until the completion has passed, and the
completion follows the last publication from the old place.
"""

from __future__ import annotations

from collections.abc import Hashable

from attrs import evolve

from routeproof.model.messages import Advertise, Advertisement, PackedUnsubscribe, Publish, Subscription, Unadvertise
from routeproof.model.migration.vocabulary import (
    MIGRATION,
    Arrive,
    Complete,
    Flushed,
    Leave,
    MigrationParameters,
    MigrationTables,
    Path,
    Pause,
    Publisher,
    Refuse,
    Relocate,
    Resume,
    Stay,
    Update,
    publisher_name,
)
from routeproof.model.overlay import LOCAL, Node, Overlay, Topology
from routeproof.model.protocol import NOTHING_KEPT, Kept, Local, Outcome, Sends
from routeproof.model.routing import Routing, StepEffects
from routeproof.model.tables import Tables


def migrating(tables: Tables) -> MigrationTables:
    """The tables of a broker of this protocol."""
    assert isinstance(tables, MigrationTables)
    return tables


A_MOVE = Kept(True, frozenset())
"""Tags of a broker at which a publisher waits for its advertisement: the network is not quiet."""


class Migration(Routing):
    """Brokers, and the publishers that move among them."""

    name = "migration"
    may_refuse = True
    may_hold = True

    def __init__(
        self, topology: Topology, overlay: Overlay, policy: str, parameters: MigrationParameters, homes: dict[str, Node]
    ) -> None:
        super().__init__(overlay, policy)
        self.parameters = parameters
        self.is_drained = parameters.removal == "drained"
        self.clients = {name: node for node, name in topology.names}
        self.homes = {self.clients[publisher_name(id)]: at for id, at in homes.items()}

    def client(self, a: Advertisement) -> Node | None:
        """The client node of an advertisement's publisher; None where it never moves."""
        return self.clients.get(publisher_name(a.id))

    def initial(self, node: Node) -> Local:  # type: ignore[override]  # publishers have no tables
        return MigrationTables() if node in self.overlay.brokers else Publisher(self.homes[node])

    def accepts(self, node: Node, local: Local, sender: Node, message: Hashable) -> bool:
        if isinstance(local, Publisher) and sender == LOCAL:
            return self.takes(local, message, self.homes[node])
        return True

    def takes(self, local: Publisher, message: Hashable, home: Node) -> bool:
        """True if a publisher takes this operation now (readings `waits` and `publishes`)."""
        if isinstance(message, Publish) and self.parameters.publishes == "arrived" and local.at == home:
            return False
        return not (local.paused and self.parameters.waits == "pause")

    def may_arrive(self, tables: MigrationTables, a: Advertisement) -> bool:
        """MIG-15: the target must know the advertisement, or the update would overtake its flood."""
        return self.parameters.enters == "any-time" or tables.adv_from(a) is not None

    def kept(self, local: Local) -> Kept:
        if isinstance(local, MigrationTables):
            return A_MOVE if local.waiting else NOTHING_KEPT
        if not isinstance(local, Publisher) or not local.held:
            return NOTHING_KEPT
        publications = frozenset(m.publication.id for m in local.held if isinstance(m, Publish))
        return Kept(any(isinstance(m, Unadvertise) for m in local.held), publications)

    def handle(self, node: Node, local: Local, sender: Node, message: Hashable) -> Outcome:
        if isinstance(local, Publisher):
            return self.at_publisher(local, sender, message)
        return super().handle(node, local, sender if sender in self.overlay.brokers else LOCAL, message)

    # -- at a publisher ------------------------------------------------------------------------------------------------

    def at_publisher(self, local: Publisher, sender: Node, message: Hashable) -> Outcome:
        match message:
            case Advertise():
                return Outcome(evolve(local, advertised=True), ((local.at, message),))
            case Publish() | Unadvertise() if local.paused:
                return self.hold(local, message)
            case Publish():
                return Outcome(local, ((local.at, message),))
            case Unadvertise():
                return Outcome(evolve(local, advertised=False), ((local.at, message),))
            case Pause(a, _) if not local.advertised:  # MIG-16: it has withdrawn meanwhile
                return Outcome(local, ((local.at, Stay(a)),), frozenset({"MIG-16"}))
            case Pause(a, path):
                return self.on_pause(local, a, path)
            case Resume(a):
                return self.release(local, sender, Leave(a), "MIG-8")
            case Refuse(a):
                return self.release(local, local.at, Stay(a), "MIG-16")
        raise TypeError(f"a publisher has no handler for {message!r}")

    def hold(self, local: Publisher, message: Publish | Unadvertise) -> Outcome:
        """MIG-1: buffered."""
        return Outcome(evolve(local, held=(*local.held, message)), (), frozenset({"MIG-1"}))

    def on_pause(self, local: Publisher, a: Advertisement, path: Path) -> Outcome:
        """MIG-1: it stops, and goes to the target; MIG-12: what it has sent here is ahead of the mark."""
        mark: Sends = ((local.at, Flushed(a)),) if self.is_drained else ()
        rules = {"MIG-1", "MIG-12"} if mark else {"MIG-1"}
        return Outcome(evolve(local, paused=True), (*mark, (path[0], Arrive(a, path))), frozenset(rules))

    def release(self, local: Publisher, at: Node, farewell: Hashable, rule: str) -> Outcome:
        """Messages that it held back go to the broker at which it is from now on."""
        is_gone = any(isinstance(m, Unadvertise) for m in local.held)
        sends: Sends = tuple((at, message) for message in local.held)
        after = Publisher(at, advertised=local.advertised and not is_gone)
        return Outcome(after, (*sends, (local.at, farewell)), frozenset({rule}))

    # -- at a broker ---------------------------------------------------------------------------------------------------

    def dispatch(self, step: StepEffects, sender: Node, message: Hashable) -> None:
        match message:
            case Relocate(a, path):
                self.on_relocate(step, a, path)
            case Arrive(a, path) if not self.may_arrive(migrating(step.tables), a):
                step.tables = migrating(step.tables).with_waiting(a, path)
                step.rules.add("MIG-15")
            case Arrive(a, path):
                self.on_arrive(step, a, path)
            case Update(a, path):
                self.on_update(step, a, path, sender)
            case Flushed(a):
                self.mark(step, "flushed", a)
                self.end_at_source(step, a)
            case Complete(a):
                self.on_complete(step, a, sender)
            case Leave(a):
                self.unmark(step, a, "attached")
                step.rules.add("MIG-8")
            case Stay(a):
                self.unmark(step, a, "moving", "flushed")
                step.rules.add("MIG-16")
            case Advertise(a) if sender == LOCAL and self.client(a) is not None:
                self.mark(step, "attached", a)
                super().dispatch(step, sender, message)
            case Advertise(a):
                super().dispatch(step, sender, message)
                self.let_in(step, a)
            case Unadvertise(a) if sender == LOCAL:
                self.unmark(step, a, "attached")
                super().dispatch(step, sender, message)
            case _:
                super().dispatch(step, sender, message)

    def on_relocate(self, step: StepEffects, a: Advertisement, path: Path) -> None:
        client = self.client(a)
        if client is None or len(path) == 1 or not self.is_here(step, a):
            step.rules.add("MIG-16")
            return
        self.mark(step, "moving", a)
        step.send(client, Pause(a, path), "MIG-1")

    def is_here(self, step: StepEffects, a: Advertisement) -> bool:
        """MIG-16: only a publisher that is connected here, and neither comes nor goes, can be moved from here."""
        tables = migrating(step.tables)
        return a in tables.attached and a not in tables.moving and tables.adv_from(a) == LOCAL

    def let_in(self, step: StepEffects, a: Advertisement) -> None:
        """MIG-15: a publisher that came before its advertisement is taken in."""
        path = dict(migrating(step.tables).waiting).get(a)
        if path is not None:
            step.tables = migrating(step.tables).without_waiting(a)
            self.on_arrive(step, a, path)

    def on_arrive(self, step: StepEffects, a: Advertisement, path: Path) -> None:
        client = self.client(a)
        assert client is not None
        if step.node in self.parameters.refuses:
            step.send(client, Refuse(a), "MIG-16")
            return
        self.mark(step, "attached", a)
        self.mark(step, "moving", a)
        step.rules.add("MIG-2")
        self.on_update(step, a, path, LOCAL)

    def on_update(self, step: StepEffects, a: Advertisement, path: Path, sender: Node) -> None:
        """MIG-3: the three operations on the tables, then on toward the source."""
        old = step.tables.adv_from(a)
        step.tables = step.tables.with_adv(a, sender)  # MIG-4: op 1
        step.rules.add("MIG-4")
        if self.is_drained:
            self.drain(step, a, old)
        else:
            self.remove(step, sender)
            self.forget(step, old)
        if sender != LOCAL:
            self.settle(step, sender, "MIG-6")  # MIG-6: op 3
        if step.node == path[-1]:
            self.mark(step, "updated", a)
            self.end_at_source(step, a)
        else:
            step.send(path[path.index(step.node) + 1], Update(a, path), "MIG-3")

    def drain(self, step: StepEffects, a: Advertisement, old: Node | None) -> None:
        """MIG-13: until the completion has passed, publications may still come from the old place."""
        if old is not None:
            step.tables = migrating(step.tables).with_draining(a, old)
            step.rules.add("MIG-13")

    def remove(self, step: StepEffects, sender: Node) -> None:
        """MIG-5: op 2, of entries from the new last hop."""
        if sender == LOCAL:
            return
        for s, x in step.tables.subs:
            if x == sender and not self.is_drawn(step.tables, s, sender):
                step.tables = step.tables.without_sub(s)
                step.rules.add("MIG-5")

    def is_drawn(self, tables: Tables, s: Subscription, neighbour: Node) -> bool:
        """True if an advertisement keeps this entry from the neighbour."""
        counts_all = self.parameters.checked == "any"
        return any(self.overlaps(a, s) for a, x in tables.advs if counts_all or x != neighbour)

    def forget(self, step: StepEffects, neighbour: Node | None) -> None:
        """MIG-11: the record of what the neighbour toward the source drops in its op 2."""
        if neighbour not in (None, LOCAL) and self.parameters.record == "forgotten":
            assert neighbour is not None
            wanted = self.candidates(step.tables, neighbour)
            sent = step.tables.sent_to(neighbour)
            step.tables = step.tables.with_sent(neighbour, [s for s in sent if s in wanted])
            step.rules.add("MIG-11")

    def end_at_source(self, step: StepEffects, a: Advertisement) -> None:
        """MIG-7: the completion follows the update, and (MIG-12) the publisher's last publication from here."""
        tables = migrating(step.tables)
        if a not in tables.updated or not (a in tables.flushed or not self.is_drained):
            return
        if self.is_drained:
            step.rules.add("MIG-12")
            self.end_draining(step, a)
        self.unmark(step, a, "moving", "flushed", "updated")
        self.pass_completion(step, a)

    def on_complete(self, step: StepEffects, a: Advertisement, sender: Node) -> None:
        if self.is_drained:
            self.end_draining(step, a)
            self.withdraw_from(step, sender)
        self.pass_completion(step, a)

    def end_draining(self, step: StepEffects, a: Advertisement) -> None:
        step.tables = migrating(step.tables).without_draining(a)

    def pass_completion(self, step: StepEffects, a: Advertisement) -> None:
        """MIG-7: toward where the advertisement lies now; MIG-8: at the target its publisher may speak."""
        onward, client = step.tables.adv_from(a), self.client(a)
        if onward == LOCAL and client is not None:
            self.unmark(step, a, "moving")
            step.send(client, Resume(a), "MIG-8")
        elif onward is not None:
            step.send(onward, Complete(a), "MIG-7")

    def withdraw_from(self, step: StepEffects, neighbour: Node) -> None:
        """MIG-14: what only the moved advertisement drew there is withdrawn, in one message."""
        sent = step.tables.sent_to(neighbour)
        wanted = self.wanted(step.tables, neighbour, self.candidates(step.tables, neighbour))
        removed = tuple(s for s in sent if s not in wanted)
        step.tables = step.tables.with_sent(neighbour, [s for s in sent if s in wanted])
        if removed:
            step.send(neighbour, PackedUnsubscribe(removed), "MIG-14")

    def candidates(self, tables: Tables, neighbour: Node) -> tuple[Subscription, ...]:
        """RTE-3, where an advertisement that drains lies both ways (MIG-13)."""
        there = [a for a, _ in tables.advs if migrating(tables).lies(a, neighbour)]
        return tuple(s for s, x in tables.subs if x != neighbour and any(self.overlaps(a, s) for a in there))

    def pack(self, step: StepEffects) -> Sends:
        """COV-7; what migration says goes behind the subscriptions of the step, and to publishers too."""
        own = [(n, m) for n, m in step.sends if isinstance(m, MIGRATION)]
        step.sends = [(n, m) for n, m in step.sends if not isinstance(m, MIGRATION)]
        withdrawn = [(n, m) for n, m in step.sends if isinstance(m, PackedUnsubscribe)]
        step.sends = [each for each in step.sends if each not in withdrawn]
        return (*super().pack(step), *withdrawn, *own)

    def mark(self, step: StepEffects, name: str, a: Advertisement) -> None:
        step.tables = migrating(step.tables).marked(name, a)

    def unmark(self, step: StepEffects, a: Advertisement, *names: str) -> None:
        for name in names:
            step.tables = migrating(step.tables).marked(name, a, present=False)
