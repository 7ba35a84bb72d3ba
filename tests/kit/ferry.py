"""The ferry: a tiny protocol from outside, with a client that buffers, a coordinator, a channel that opens and closes.

The routing core, but publications come from a client node, the ferry, which may speak to its broker only while it is
moored there. The harbour, a coordinator, lets it moor and cast off. What clients publish meanwhile waits aboard. The
first message on the ferry's channel to its broker is `Open`, the last one before it leaves is `Close`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from attrs import evolve, frozen

from routeproof.impl import Implementation, Own
from routeproof.impl.routing import Broker
from routeproof.model.definition import Definition, Mutant, Section
from routeproof.model.history import Ghost, Ledger, Operation, WorldEvent
from routeproof.model.instance import Instance, OperationRow, core_operations
from routeproof.model.messages import CORE, Message, Publication, Publish
from routeproof.model.overlay import LOCAL, Link, Node, Topology
from routeproof.model.protocol import NOTHING_KEPT, Kept, Local, Outcome, Protocol
from routeproof.model.reading import Place
from routeproof.model.routing import Routing
from routeproof.model.tables import Tables
from routeproof.spec.specification import OK, Answer, Property, Rule, Seen, Specification, variants

# -- what is said ------------------------------------------------------------------------------------------------------


@frozen(cache_hash=True)
class Moor(Message):
    """From the harbour: the ferry may speak to its broker."""

    voyage: int


@frozen(cache_hash=True)
class Cast(Message):
    """From the harbour: the ferry has to leave."""

    voyage: int


@frozen(cache_hash=True)
class Open(Message, control=False):
    cargo: tuple[Publication, ...]


@frozen(cache_hash=True)
class Close(Message, control=False):
    """The last message on the channel."""


# -- who knows what ----------------------------------------------------------------------------------------------------


@frozen(cache_hash=True)
class Quay(Tables):
    """A broker's tables, and whether the ferry is moored."""

    moored: bool = False


@frozen(cache_hash=True)
class Ferry:
    moored: bool = False
    aboard: tuple[Publication, ...] = ()


@frozen(cache_hash=True)
class Harbour:
    voyages: int = 0


class Handler:
    """The handler of all nodes: a broker's is the core's."""

    name = "ferry"
    may_refuse = False
    may_hold = True

    def __init__(self, topology: Topology, core: Routing, quay: Node) -> None:
        self.role, self.core, self.quay = topology.role, core, quay
        self.ferry, self.harbour = topology.numbered("ferry"), topology.numbered("harbour")

    def initial(self, node: Node) -> Local:
        return {"broker": Quay(), "client": Ferry(), "coordinator": Harbour()}[self.role[node]]

    def accepts(self, node: Node, local: Local, sender: Node, message: object) -> bool:
        return True

    def kept(self, local: Local) -> Kept:
        aboard = local.aboard if isinstance(local, Ferry) else ()
        return Kept(publications=frozenset(p.id for p in aboard)) if aboard else NOTHING_KEPT

    def handle(self, node: Node, local: Local, sender: Node, message: object) -> Outcome:
        match local:
            case Ferry():
                return self.at_ferry(local, message)
            case Harbour():
                return Outcome(evolve(local, voyages=local.voyages + 1), ((self.ferry, message),), frozenset({"FER-1"}))
            case Quay():
                return self.at_quay(node, local, sender, message)
        raise AssertionError(local)

    def at_ferry(self, local: Ferry, message: object) -> Outcome:
        match message:
            case Publish(p) if local.moored:
                return Outcome(local, ((self.quay, Publish(p)),), frozenset({"FER-2"}))
            case Publish(p):
                return Outcome(evolve(local, aboard=(*local.aboard, p)), (), frozenset({"FER-3"}))
            case Moor():
                return Outcome(Ferry(moored=True), ((self.quay, Open(local.aboard)),), frozenset({"FER-4"}))
            case Cast():
                return Outcome(evolve(local, moored=False), ((self.quay, Close()),), frozenset({"FER-5"}))
        raise AssertionError(message)

    def at_quay(self, node: Node, local: Quay, sender: Node, message: object) -> Outcome:
        match message:
            case Open(cargo):
                outcome = Outcome(evolve(local, moored=True), (), frozenset({"FER-4"}))
                for p in cargo:
                    more = self.core.handle(node, outcome.local, LOCAL, Publish(p))
                    outcome = Outcome(more.local, (*outcome.sends, *more.sends), outcome.rules | more.rules)
                return outcome
            case Close():
                return Outcome(evolve(local, moored=False), (), frozenset({"FER-5"}))
            case Publish() if sender == self.ferry:
                return self.core.handle(node, local, LOCAL, message) if local.moored else Outcome(local)
        return self.core.handle(node, local, sender, message)


class SailsWithTheCargo(Handler):
    """Leaves the cargo behind when it moors."""

    def at_ferry(self, local: Ferry, message: object) -> Outcome:
        return super().at_ferry(evolve(local, aboard=()) if isinstance(message, Moor) else local, message)


class UnloadsTheLatestFirst(Handler):
    """Unloads what came aboard last before the rest."""

    def at_ferry(self, local: Ferry, message: object) -> Outcome:
        turned = evolve(local, aboard=local.aboard[::-1]) if isinstance(message, Moor) else local
        return super().at_ferry(turned, message)


class KeepsACopy(Handler):
    """Keeps aboard what it unloads."""

    def at_ferry(self, local: Ferry, message: object) -> Outcome:
        outcome = super().at_ferry(local, message)
        assert isinstance(outcome.local, Ferry)
        return (
            evolve(outcome, local=evolve(outcome.local, aboard=local.aboard)) if isinstance(message, Moor) else outcome
        )


class SpeaksFromTheSea(Handler):
    """Publishes where nothing is open."""

    def at_ferry(self, local: Ferry, message: object) -> Outcome:
        if isinstance(message, Publish):
            return Outcome(local, ((self.quay, message),))
        return super().at_ferry(local, message)


class CallsTheHarbour(Handler):
    """Says something to a node to which there is no channel."""

    def at_quay(self, node: Node, local: Quay, sender: Node, message: object) -> Outcome:
        outcome = super().at_quay(node, local, sender, message)
        stray = ((self.harbour, Close()),) if isinstance(message, Open) else ()
        return evolve(outcome, sends=(*outcome.sends, *stray))


@frozen(cache_hash=True)
class Whistle(Message):
    """No message of the protocol."""


class Whistles(Handler):
    """Says what no registry knows."""

    def at_ferry(self, local: Ferry, message: object) -> Outcome:
        return Outcome(local, ((self.quay, Whistle()),))


class LosesTheChart(Handler):
    """Fails on a message, as a handler does that has a mistake."""

    def at_harbour(self, message: object) -> Outcome:
        raise KeyError("chart")

    def handle(self, node: Node, local: Local, sender: Node, message: object) -> Outcome:
        return self.at_harbour(message) if isinstance(local, Harbour) else super().handle(node, local, sender, message)


# -- what properties remember ------------------------------------------------------------------------------------------


@frozen(cache_hash=True)
class Waiting:
    """Publications that were made and not delivered to a client, by rank, oldest first; whether one came too late."""

    waiting: tuple[int, ...] = ()
    overtaken: bool = False


class Order(Ghost):
    """The order of publications at the client of one subscription."""

    name = "order"

    def __init__(self, of: str = "") -> None:
        self.of = of

    def each(self, instance: Instance) -> Sequence[Ghost]:
        return [Order(s.id) for s in instance.subscriptions]

    def initial(self, ledger: Ledger) -> Waiting:
        return Waiting()

    def sees(self, ledger: Ledger, event: WorldEvent) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
        made: tuple[int, ...] = ()
        match event.operation:
            case Operation(message=Publish(p)):
                made = (p.rank,)
        came = tuple(d.publication.rank for d in event.deliveries if d.subscription.id == self.of)
        return (made, came) if made or came else None

    def after(self, ledger: Ledger, value: Waiting, seen: tuple[tuple[int, ...], ...], others: object) -> Waiting:
        (made, came), waiting, overtaken = seen, value.waiting, value.overtaken
        waiting += made
        for rank in came:
            overtaken = overtaken or rank not in waiting
            waiting = waiting[waiting.index(rank) + 1 :] if rank in waiting else waiting
        return Waiting(waiting, overtaken)


# -- the protocol ------------------------------------------------------------------------------------------------------


def topology(instance: Instance) -> Topology:
    quay = instance.section("ferry", (1, 1))[0]
    others = {"ferry": "client", "harbour": "coordinator"}
    return Topology.of(instance.overlay, others, [("ferry", quay), ("harbour", "ferry")])  # type: ignore[arg-type]


def operations(instance: Instance) -> list[OperationRow]:
    """Publications are the ferry's; it moors and casts off as often as the instance says."""
    ferry, harbour = (topology(instance).numbered(name) for name in ("ferry", "harbour"))
    rows = [evolve(r, node=ferry) if isinstance(r.message, Publish) else r for r in core_operations(instance)]
    before = ""
    for voyage in range(1, instance.section("ferry", (1, 1))[1] + 1):
        rows.append(OperationRow(f"moor({voyage})", harbour, Moor(voyage), before))
        rows.append(OperationRow(f"cast({voyage})", harbour, Cast(voyage), f"moor({voyage})"))
        before = f"cast({voyage})"
    return rows


def make(handler: type[Handler], instance: Instance, policy: str) -> Protocol:
    return handler(topology(instance), Routing(instance.overlay, policy), instance.section("ferry", (1, 1))[0])


def read(place: Place, instance: Instance) -> tuple[int, int]:
    keys = place.table(("at",), ("voyages",))
    return keys["at"].broker(instance.overlay), keys["voyages"].whole(1, 3) if "voyages" in keys else 1


def only_while_open(ledger: object, link: Link, queue: Iterable[object]) -> Answer:
    """Between `Close` and `Open` the ferry says nothing."""
    is_open: bool | None = None
    for message in queue:
        if isinstance(message, Publish) and is_open is False:
            return f"{message.publication} is on {link} behind a Close"
        is_open = isinstance(message, Open) or (not isinstance(message, Close) and is_open)
    return OK if is_open is not None else None


def in_order(ledger: Ledger, ghosts: Seen) -> Answer:
    """No client gets a publication after one that was made later."""
    overtaken = [client for client, order in ghosts.order.items() if order.overtaken]
    if overtaken:
        return f"subscription {overtaken[0]} got a publication after one that was made later"
    return OK if any(order.waiting for order in ghosts.order.values()) else None


def not_yet_ashore(ledger: Ledger, locals_: Mapping[Node, Local], ghosts: Seen) -> Answer:
    """What is aboard was not delivered to anyone."""
    aboard = [p for local in locals_.values() if isinstance(local, Ferry) for p in local.aboard]
    delivered = {p for p, _ in ledger.pairs(ghosts.delivered)}
    early = [p for p in aboard if p.rank in delivered]
    return f"{early[0]} is aboard and was delivered" if early else OK if aboard else None


def unloaded(ledger: Ledger, node: Node, ferry: Ferry) -> Answer:
    """Nothing is aboard while the ferry is moored."""
    return (f"{node} is moored with {len(ferry.aboard)} aboard" if ferry.aboard else OK) if ferry.moored else None


POLICIES = ("none", "active")
FERRIED = variants("ferry", POLICIES)


# -- the implementation, which knows nothing of the handler above ------------------------------------------------------


class Boat:
    """The ferry, as it runs."""

    def __init__(self, quay: Node) -> None:
        self.quay, self.moored, self.aboard = quay, False, list[Publication]()

    def receive(self, sender: Node, message: Message, /) -> list[tuple[Node, Message]]:
        match message:
            case Publish(p) if not self.moored:
                self.aboard.append(p)
                return []
            case Moor():
                cargo, self.aboard, self.moored = tuple(self.aboard), [], True
                return [(self.quay, Open(cargo))]
            case Cast():
                self.moored = False
                return [(self.quay, Close())]
        return [(self.quay, message)]


class Office:
    """The harbour, as it runs."""

    def __init__(self, ferry: Node) -> None:
        self.ferry = ferry

    def receive(self, sender: Node, message: Message, /) -> list[tuple[Node, Message]]:
        return [(self.ferry, message)]


class QuayBroker(Broker):
    """The core's broker, which the ferry speaks to in the place of clients."""

    def __init__(self, node: Node, neighbours: Sequence[Node], policy: str, ferry: Node) -> None:
        super().__init__(node, [each for each in neighbours if each != ferry], policy)
        self.ferry = ferry

    def receive(self, sender: Node, message: Message) -> list[tuple[Node, Message]]:
        if sender != self.ferry:
            return super().receive(sender, message)
        said = [Publish(p) for p in message.cargo] if isinstance(message, Open) else [message]
        published = [super(QuayBroker, self).receive(LOCAL, each) for each in said if isinstance(each, Publish)]
        return [each for sends in published for each in sends]


def run_at(node: Node, neighbours: Sequence[Node], policy: str, own: Own) -> Boat | Office | QuayBroker:
    if node == own["ferry"]:
        return Boat(own["quay"])
    return Office(own["ferry"]) if node == own["harbour"] else QuayBroker(node, neighbours, policy, own["ferry"])


def places(instance: Instance) -> Own:
    nodes = topology(instance)
    quay = instance.section("ferry", (1, 1))[0]
    return {"quay": quay, "ferry": nodes.numbered("ferry"), "harbour": nodes.numbered("harbour")}


def mutant(id: str, make: type[Handler]) -> Mutant:
    return Mutant(id, "ferry", "FER-4", POLICIES, make.__doc__ or "", make)


SEEDED = [
    mutant("sails-with-the-cargo", SailsWithTheCargo),
    mutant("unloads-the-latest-first", UnloadsTheLatestFirst),
    mutant("keeps-a-copy", KeepsACopy),
    mutant("speaks-from-the-sea", SpeaksFromTheSea),
    mutant("calls-the-harbour", CallsTheHarbour),
    mutant("whistles", Whistles),
    mutant("loses-the-chart", LosesTheChart),
]


RULES = (
    "the harbour lets the ferry moor and cast off",
    "a moored ferry publishes",
    "a ferry at sea holds publications back",
    "a ferry that moors hands its cargo over",
    "a ferry that casts off closes its channel",
)


class FERRY:
    """What the entry point names."""

    definition = Definition(
        name="ferry",
        policies=POLICIES,
        handler=Handler,
        make=make,
        about="Publications come from a ferry that is not always moored.",
        messages=(*CORE, Moor, Cast, Open, Close),
        operations=operations,
        topology=topology,
        ghosts=(Order(),),
        sections=(Section("ferry", read, lambda value: {"at": value[0], "voyages": value[1]}),),
        mutants=lambda: {each.id: each for each in SEEDED},
    )
    implementation = Implementation("ferry", POLICIES, run_at, messages=(Moor, Cast, Open, Close), own_of=places)
    specification = Specification(
        "ferry",
        POLICIES,
        properties=(
            Property.of("OnlyWhileOpen", "always", "channel", FERRIED, only_while_open, ("queue",)),
            Property.of("CargoInOrder", "always", "world", FERRIED, in_order, ("order",)),
            Property.of("NotYetAshore", "always", "world", FERRIED, not_yet_ashore, ("locals", "delivered")),
            Property.of("Unloaded", "always", "node", FERRIED, unloaded, ("local",), quiet=False, role="client"),
        ),
        rules=tuple(Rule(f"FER-{n}", "ferry", title, "tests/kit") for n, title in enumerate(RULES, 1)),
        adopts=("NoLostDelivery", "NoDuplicate", "Precise", "Agreement", "NoResidue", "Drains", "SomeDelivery"),
    )
