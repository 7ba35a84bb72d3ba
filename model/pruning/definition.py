"""Pruning as the model has it: its definition, the keys of instance files, the operations that it adds, and its ghosts.

The operations are those of clients that come back (PRN-15) and of brokers' drivers (PRN-6); the ghosts are values that
properties remember in addition to the history (`spec/pruning.md`, Ghosts).

In instance files, `[pruning]` holds readings of `spec/pruning.md` that do not have their default, `[[congestion]]`
brokers that may become congested, and be relieved, once each (PRN-6), and `again` of a subscription is where its client
may subscribe again, once it has unsubscribed (PRN-15).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from attrs import evolve

from routeproof.model.definition import Definition, Mutant, Section
from routeproof.model.fields import choices_of
from routeproof.model.history import Ghost, Ledger, Operation, WorldEvent
from routeproof.model.instance import Instance, OperationRow, Subscriber, core_operations, own_with
from routeproof.model.messages import Advertise, Deliver, Publish, Subscribe, Subscription, Unadvertise, Unsubscribe
from routeproof.model.overlay import Node
from routeproof.model.protocol import Protocol
from routeproof.model.pruning.handler import Pruning
from routeproof.model.pruning.vocabulary import PRUNING, THRESHOLDS, Congest, PruningParameters, Relieve
from routeproof.model.reading import BROKERS, Place


class Astray(Ghost):
    """True once something was delivered to a client that has no subscription of this name any more."""

    name = "astray"
    reads = ("done",)

    def initial(self, ledger: Ledger) -> bool:
        return False

    def sees(self, ledger: Ledger, event: WorldEvent) -> tuple[int, tuple[Deliver, ...]] | None:
        if not event.deliveries:
            return None
        return (0 if event.operation is None else event.operation.bit), event.deliveries

    def after(self, ledger: Ledger, value: bool, seen: tuple[int, tuple[Deliver, ...]], others: Any) -> bool:
        operation, deliveries = seen
        done = others.done | operation
        return value or any(ledger.issue(d.subscription.rank, done) != d.subscription for d in deliveries)


class Fair(Ghost):
    """The publications since which no client has changed anything, published while all was quiet: a mask of ranks."""

    name = "fair"

    def initial(self, ledger: Ledger) -> int:
        return 0

    def sees(self, ledger: Ledger, event: WorldEvent) -> int | None:
        """The bit of a publication that is fair; 0 where a client changes something."""
        match event.operation:
            case None:
                return None
            case Operation(message=Publish(p)):  # it leaves the world as quiet as it was
                return 1 << p.rank if event.quiet else None
        return 0

    def after(self, ledger: Ledger, value: int, seen: int, others: Any) -> int:
        return value | seen if seen else 0


class LastCut(Ghost):
    """1 + the rank of the subscription whose withdrawal was the last change, with fair statistics; else 0.

    A publication that is fair shows that all was quiet before the withdrawal, also where none was delivered to it.
    """

    name = "cut"
    reads = ("delivered", "fair")

    def initial(self, ledger: Ledger) -> int:
        return 0

    def sees(self, ledger: Ledger, event: WorldEvent) -> int | None:
        match event.operation:
            case None | Operation(message=Publish()):
                return None
            case Operation(message=Unsubscribe(s)):
                return s.rank + 1
        return 0

    def after(self, ledger: Ledger, value: int, seen: int, others: Any) -> int:
        if not seen:
            return 0
        mine = [p for p, s in ledger.pairs(others.delivered) if s == seen - 1]
        return seen if others.fair and all(others.fair >> p & 1 for p in mine) else 0


GHOSTS = (Astray(), Fair(), LastCut())


def operations(instance: Instance) -> list[OperationRow]:
    """The core's operations, then the second subscriptions of clients, then congestion."""
    rows = core_operations(instance)
    for s in instance.subscribers:
        at = again(s)
        if at is not None:
            name = s.subscription.id
            message = Subscribe(issued_again(instance, s))
            rows.append(OperationRow(f"resubscribe({name})", at, message, f"unsubscribe({name})"))
    for b in congested(instance):
        rows.append(OperationRow(f"congest({b})", b, Congest()))
        rows.append(OperationRow(f"relieve({b})", b, Relieve(), f"congest({b})"))
    return rows


def _make(handler: type[Pruning], instance: Instance, policy: str) -> Protocol:
    return handler(instance.overlay, policy, parameters(instance, policy))


def _policies_for(instance: Instance) -> tuple[str, ...]:
    """The policies that have as many thresholds as the instance gives, if it gives any."""
    given = dict(readings(instance)).get("thresholds")
    return tuple(p for p in PRUNING if given is None or len(given) == len(THRESHOLDS[p]))


def _mutants() -> Mapping[str, Mutant]:
    from routeproof.model.pruning.mutants import PRUNING_MUTANTS

    return PRUNING_MUTANTS


Readings = tuple[tuple[str, Any], ...]

WORDS = choices_of(PruningParameters)
SWITCHES = ("inclusive", "remembers", "collects", "overtakes")
NUMBERS = {"window": (1, 1_000_000), "fewest": (0, 1_000_000)}
MOST = 1_000_000_000


def readings(instance: Instance) -> Readings:
    """Parameters that do not have their default."""
    found: Readings = instance.section("pruning", ())
    return found


def parameters(instance: Instance, policy: str) -> PruningParameters:
    """All parameters under a policy."""
    return evolve(PruningParameters.of(policy), **dict(readings(instance)))


def congested(instance: Instance) -> tuple[Node, ...]:
    """The brokers that may become congested."""
    found: tuple[Node, ...] = instance.section("congestion", ())
    return found


def again(subscriber: Subscriber) -> Node | None:
    """The broker at which its client may subscribe again."""
    found: Node | None = subscriber.section("again")
    return found


def issued_again(instance: Instance, subscriber: Subscriber) -> Subscription:
    """PRN-15: what the client sends when it subscribes a second time."""
    s = subscriber.subscription
    is_new = dict(readings(instance)).get("identity", "issue") == "issue"
    return evolve(s, id=f"{s.id}'") if is_new else s


def with_readings(instance: Instance, given: Iterable[tuple[str, Any]]) -> Instance:
    """The instance with these readings instead."""
    return evolve(instance, own=own_with(instance.own, "pruning", tuple(given)))


def with_congestion(instance: Instance, brokers: Iterable[Node]) -> Instance:
    """The instance in which these brokers instead may become congested."""
    return evolve(instance, own=own_with(instance.own, "congestion", tuple(brokers)))


def coming_back(subscriber: Subscriber, at: Node | None) -> Subscriber:
    """The subscriber whose client may come back there; nowhere where it is None."""
    return evolve(subscriber, own=own_with(subscriber.own, "again", at))


# -- reading and writing -----------------------------------------------------------------------------------------------


def _read_readings(place: Place, instance: Instance) -> Readings:
    return read_readings(place, instance.policies)


def _read_congestion(place: Place, instance: Instance) -> tuple[Node, ...]:
    entries = place.items(BROKERS, "tables, each [[congestion]]")
    homes = [entry.table(("at",), ())["at"] for entry in entries]
    brokers = tuple(home.broker(instance.overlay) for home in homes)
    place.distinct(homes, brokers)
    return brokers


def _read_again(place: Place, instance: Instance, client: Subscriber) -> Node:
    if not client.unsubscribes:
        place.refuse("unsubscribes = true as well: a client that never leaves cannot come back")
    return place.broker(instance.overlay)


def read_readings(place: Place, policies: Iterable[str]) -> Readings:
    """Reads the table, in its own order."""
    keys = place.table((), ("thresholds", "cuts", *WORDS, *SWITCHES, *NUMBERS))
    return tuple((key, _value(key, entry, policies)) for key, entry in keys.items())


def readings_to_table(readings: Readings) -> dict[str, object]:
    """The inverse, of JSON's types only."""
    return {key: list(value) if isinstance(value, tuple) else value for key, value in readings}


def _value(key: str, place: Place, policies: Iterable[str]) -> object:
    if key in WORDS:
        return place.one_of(WORDS[key])
    if key in SWITCHES:
        return place.truth()
    if key in NUMBERS:
        return place.whole(*NUMBERS[key])
    return _thresholds(place, policies) if key == "thresholds" else _cuts(place)


def _thresholds(place: Place, policies: Iterable[str]) -> tuple[int, ...]:
    """CRD-4: ascending, and as many as each policy of the instance has."""
    values = _ascending(place, 0, 100, "percentages")
    for policy in policies:
        wanted = len(THRESHOLDS.get(policy, values))  # a policy from outside says nothing of its own
        if len(values) != wanted:
            place.refuse(f"{wanted} of them under {policy}, the policy of the instance", f"{list(values)}")
    return values


def _cuts(place: Place) -> tuple[int, ...]:
    values = _ascending(place, 0, MOST, "numbers of subscriptions")
    if len(values) != 2:
        place.refuse("2 of them", f"{list(values)}")
    return values


def _ascending(place: Place, low: int, high: int, of: str) -> tuple[int, ...]:
    values = tuple(entry.whole(low, high) for entry in place.items(2, of, least=1))
    if list(values) != sorted(values):
        place.refuse(f"{of} that do not descend", f"{list(values)}")
    return values


SECTIONS = (
    Section("pruning", _read_readings, readings_to_table, ()),
    Section("congestion", _read_congestion, lambda brokers: [{"at": b} for b in brokers], ()),
    Section("again", _read_again, lambda at: at, None, of="subscription", is_broker=True),
)


DEFINITION = Definition(
    name="pruning",
    policies=PRUNING,
    handler=Pruning,
    make=_make,
    about="Withdrawals that end where keeping a subscription costs little: incremental (000) and selective (001).",
    messages=(Advertise, Unadvertise, Subscribe, Unsubscribe, Publish, Congest, Relieve),
    operations=operations,
    ghosts=GHOSTS,
    sections=SECTIONS,
    instances="routeproof.model.pruning",
    parameters=parameters,
    policies_for=_policies_for,
    mutants=_mutants,
)
