"""The keys of instance files that only pruning has, and what they come to.

`[pruning]` are readings, `[[congestion]]` brokers that may become congested, and be relieved, once each (PRN-6), and
`again` of a subscription is where its client may subscribe again, once it has unsubscribed (PRN-15).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from attrs import evolve

from routeproof.model.definition import Section
from routeproof.model.instance import Instance, Subscriber, own_with
from routeproof.model.messages import Subscription
from routeproof.model.overlay import Node
from routeproof.model.pruning.parameters import PruningParameters
from routeproof.model.pruning.readings import Readings, read_readings, readings_to_table
from routeproof.model.reading import BROKERS, Place


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


SECTIONS = (
    Section("pruning", _read_readings, readings_to_table, ()),
    Section("congestion", _read_congestion, lambda brokers: [{"at": b} for b in brokers], ()),
    Section("again", _read_again, lambda at: at, None, of="subscription", is_broker=True),
)
