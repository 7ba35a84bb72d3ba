"""Migration in the reference implementation (`spec/migration.md`), on the indexes of the routing core.

A `MigratingBroker` stands at each broker's node, a `MovingPublisher` at each client's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import Factory, asdict, define

from routeproof.impl import Implementation, Own
from routeproof.impl.index.profile import profile_of
from routeproof.impl.routing import Broker, Outbox, PackingOutbox, Sends
from routeproof.impl.simulator import Handler
from routeproof.impl.tcp.codec import Wire
from routeproof.model.instance import POLICIES, Instance
from routeproof.model.messages import CORE, Advertise, Advertisement, Message, PackedUnsubscribe, Publish, Unadvertise
from routeproof.model.migration.vocabulary import (
    MIGRATION,
    READINGS,
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
    movers,
    parameters_of,
    publisher_name,
    topology,
)
from routeproof.model.overlay import LOCAL, Node
from routeproof.model.tables import Tables, by_id


@define
class MovingOutbox(Outbox):
    """An outbox in which messages of migration go behind the subscriptions of the step (MIG-7)."""

    last: Sends = Factory(list)

    def sealed(self) -> Sends:
        return [*super().sealed(), *self.last]


@define
class MovingPackingOutbox(PackingOutbox):
    last: Sends = Factory(list)

    def sealed(self) -> Sends:
        return [*super().sealed(), *self.last]


class MigratingBroker(Broker):
    """`clients`: by the id of an advertisement, the node of its publisher, where that moves."""

    def __init__(
        self,
        node: Node,
        neighbours: Sequence[Node],
        policy: str,
        parameters: MigrationParameters,
        clients: Mapping[str, Node],
    ) -> None:
        if parameters.removal == "at-once" and parameters.record == "kept":
            raise ValueError("a broker that keeps its record of what its neighbour removed is not implemented")
        self.parameters = parameters
        self.clients = dict(clients)
        self._publishers = frozenset(clients.values())
        super().__init__(node, [n for n in neighbours if n not in self._publishers], policy)

    def _empty(self) -> None:
        super()._empty()
        self._attached: set[Advertisement] = set()
        self._moving: set[Advertisement] = set()
        self._flushed: set[Advertisement] = set()
        self._updated: set[Advertisement] = set()
        self._draining: dict[Advertisement, Node] = {}
        self._waiting: list[Arrive] = []
        """MIG-15: publishers that came before their advertisement."""

    @property
    def _drains(self) -> bool:
        return self.parameters.removal == "drained"

    def _outbox(self) -> MovingOutbox | MovingPackingOutbox:
        return MovingPackingOutbox() if self.policy == "packing" else MovingOutbox()

    def receive(self, sender: Node, message: Message) -> Sends:
        """A publisher's message is one of a local client."""
        return super().receive(LOCAL if sender in self._publishers else sender, message)

    def _handle(self, sender: Node, message: Message, out: Outbox) -> None:
        assert isinstance(out, MovingOutbox | MovingPackingOutbox)
        match message:
            case Relocate(a, path) | Arrive(a, path) | Update(a, path) if not self._is_on(a, path):
                pass  # a peer that is mistaken: there is nothing to do here
            case Relocate(a, path):
                self._relocate(a, path, out)
            case Arrive(a, _) if self.parameters.enters == "known" and a not in self._advs:
                self._waiting.append(message)
            case Arrive(a, path):
                self._arrive(a, path, out)
            case Update(a, path):
                self._update(sender, a, path, out)
            case Flushed(a):
                self._flushed.add(a)
                self._end_at_source(a, out)
            case Complete(a):
                self._complete(a, out)
            case Leave(a):  # MIG-8
                self._attached.discard(a)
            case Stay(a):  # MIG-16
                self._moving.discard(a)
                self._flushed.discard(a)
            case Advertise(a):
                if sender == LOCAL and a.id in self.clients:
                    self._attached.add(a)
                super()._handle(sender, message, out)
                self._let_in(a, out)
            case Unadvertise(a) if sender == LOCAL:
                self._attached.discard(a)
                super()._handle(sender, message, out)
            case _:
                super()._handle(sender, message, out)

    def _is_on(self, a: Advertisement, path: Path) -> bool:
        """True if this broker is on the path, and has a channel to the next one."""
        if a.id not in self.clients or self.node not in path:
            return False
        onward = path[path.index(self.node) + 1 :][:1]
        return set(onward) <= set(self.neighbours)

    def _relocate(self, a: Advertisement, path: Path, out: MovingOutbox | MovingPackingOutbox) -> None:
        is_here = a in self._attached and a not in self._moving and self._advs.get(a) == LOCAL
        if len(path) > 1 and is_here:  # MIG-1, else MIG-16
            self._moving.add(a)
            out.last.append((self.clients[a.id], Pause(a, path)))

    def _let_in(self, a: Advertisement, out: MovingOutbox | MovingPackingOutbox) -> None:
        """MIG-15: who waited for this advertisement."""
        for arrival in [each for each in self._waiting if each.advertisement == a]:
            self._waiting.remove(arrival)
            self._arrive(a, arrival.path, out)

    def _arrive(self, a: Advertisement, path: Path, out: MovingOutbox | MovingPackingOutbox) -> None:
        if self.node in self.parameters.refuses:
            out.last.append((self.clients[a.id], Refuse(a)))  # MIG-16
            return
        self._attached.add(a)  # MIG-2
        self._moving.add(a)
        self._update(LOCAL, a, path, out)

    def _update(self, sender: Node, a: Advertisement, path: Path, out: MovingOutbox | MovingPackingOutbox) -> None:
        profile, former = profile_of(a.filter), self._advs.get(a)
        self._advs[a] = sender  # MIG-4
        if sender != LOCAL:
            self._candidates[sender].advertise(profile, self._matching.overlapping(profile, besides=sender))
        if self._drains:
            if former is not None:
                self._draining[a] = former  # MIG-13
        else:
            self._remove(sender)
            if former is not None and former != LOCAL:
                self._candidates[former].unadvertise(profile)
                self._candidates[former].settle()  # MIG-11: the neighbour knows it by itself
        if sender != LOCAL:
            self._settle(sender, out)  # MIG-6
        if self.node == path[-1]:
            self._updated.add(a)
            self._end_at_source(a, out)
        else:
            out.last.append((path[path.index(self.node) + 1], Update(a, path)))  # MIG-3

    def _remove(self, sender: Node) -> None:
        """MIG-5: of what came from there, what nothing elsewhere draws."""
        if sender == LOCAL or self.parameters.checked == "any":
            return
        elsewhere = [a.filter for a, hop in self._advs.items() if hop != sender]
        for entry in list(self._subs.values()):
            if entry.source == sender and not any(f.overlaps(entry.subscription.filter) for f in elsewhere):
                self._drop(entry)
                for neighbour, candidates in self._candidates.items():
                    if neighbour != sender:
                        candidates.unsubscribe(entry)

    def _end_at_source(self, a: Advertisement, out: MovingOutbox | MovingPackingOutbox) -> None:
        """MIG-7, and MIG-12: not before the last publication from here."""
        if a in self._updated and (a in self._flushed or not self._drains):
            for marks in (self._moving, self._flushed, self._updated):
                marks.discard(a)
            self._draining.pop(a, None)
            self._pass_on(a, out)

    def _complete(self, a: Advertisement, out: MovingOutbox | MovingPackingOutbox) -> None:
        former = self._draining.pop(a, LOCAL)
        if former != LOCAL:  # MIG-14: withdrawn in one message
            self._candidates[former].unadvertise(profile_of(a.filter))
            removals = self._candidates[former].settle().removals
            if removals:
                out.last.append((former, PackedUnsubscribe(tuple(entry.subscription for entry in removals))))
        self._pass_on(a, out)

    def _pass_on(self, a: Advertisement, out: MovingOutbox | MovingPackingOutbox) -> None:
        onward = self._advs.get(a)
        if onward == LOCAL and a.id in self.clients:
            self._moving.discard(a)
            out.last.append((self.clients[a.id], Resume(a)))  # MIG-8
        elif onward not in (None, LOCAL):
            out.last.append((onward, Complete(a)))  # MIG-7

    def tables(self) -> Tables:
        known = super().tables()
        return MigrationTables(
            known.advs,
            known.subs,
            known.sent,
            attached=_in_order(self._attached),
            moving=_in_order(self._moving),
            draining=tuple(sorted(self._draining.items(), key=lambda item: by_id(item[0]))),
            flushed=_in_order(self._flushed),
            updated=_in_order(self._updated),
            waiting=tuple(sorted(((a.advertisement, a.path) for a in self._waiting), key=lambda e: by_id(e[0]))),
        )


def _in_order(advertisements: set[Advertisement]) -> tuple[Advertisement, ...]:
    return tuple(sorted(advertisements, key=by_id))


# -- publishers --------------------------------------------------------------------------------------------------------


class MovingPublisher:
    """Begins at `home`. `places`: the brokers to which it has a channel. `marks`: it marks its last publication before
    it moves (MIG-12).
    """

    def __init__(self, node: Node, home: Node, places: Sequence[Node], *, marks: bool) -> None:
        self.node = node
        self.at = home
        self.places = frozenset(places)
        self.marks = marks
        self.advertised = False
        self.paused = False
        self.held: list[Message] = []

    def receive(self, sender: Node, message: Message) -> Sends:
        """One step: an operation, or a message from a broker."""
        match message:
            case Publish() | Unadvertise() if self.paused:  # MIG-1
                self.held.append(message)
                return []
            case Advertise() | Publish() | Unadvertise():
                self._notes(message)
                return [(self.at, message)]
            case Pause(a, path):
                can_go = self.advertised and path[:1] and path[0] in self.places
                return self._pause(a, path) if can_go else [(self.at, Stay(a))]  # MIG-16
            case Resume(a):  # MIG-8
                former, self.at = self.at, sender
                return [*self._released(), (former, Leave(a))]
            case Refuse(a):  # MIG-16
                return [*self._released(), (self.at, Stay(a))]
        return []  # a peer that is mistaken: there is nothing to do here

    def _pause(self, a: Advertisement, path: Path) -> Sends:
        self.paused = True
        mark: Sends = [(self.at, Flushed(a))] if self.marks else []
        return [*mark, (path[0], Arrive(a, path))]

    def _released(self) -> Sends:
        held, self.held, self.paused = self.held, [], False
        for message in held:
            self._notes(message)
        return [(self.at, message) for message in held]

    def _notes(self, message: Message) -> None:
        if isinstance(message, Advertise | Unadvertise):
            self.advertised = isinstance(message, Advertise)

    def tables(self) -> Publisher:
        """Its state as the model has it."""
        return Publisher(self.at, self.advertised, self.paused, tuple(self.held))


# -- for the rooms -----------------------------------------------------------------------------------------------------


def own_of(instance: Instance) -> Own:
    """The readings, the brokers that refuse, and per publisher that moves its node and its home."""
    parameters, layout = parameters_of(instance), topology(instance)
    publishers = [
        [a.advertisement.id, layout.numbered(publisher_name(a.advertisement.id)), a.at] for a in movers(instance)
    ]
    readings = {name: asdict(parameters)[name] for name in READINGS}
    return {"readings": readings, "refuses": list(parameters.refuses), "publishers": publishers}


def make(node: Node, neighbours: Sequence[Node], policy: str, own: Own) -> Handler:
    parameters = MigrationParameters(**own.get("readings", {}), refuses=tuple(own.get("refuses", ())))
    publishers = own.get("publishers", ())
    for _, client, home in publishers:
        if client == node:
            return MovingPublisher(node, home, neighbours, marks=parameters.removal == "drained")
    return MigratingBroker(node, neighbours, policy, parameters, {id: client for id, client, _ in publishers})


def own_wire(policy: str, own: Own) -> Wire:
    """Over TCP a driver may request a move; the other messages of a move come from brokers and publishers only."""
    return Wire((*CORE, *MIGRATION), operations=(Relocate,))


IMPLEMENTATION = Implementation("migration", POLICIES, make, messages=MIGRATION, own_of=own_of, own_wire=own_wire)
