"""The keys of instance files that only pruning has, and the values that they give.

`[pruning]` holds readings of `spec/pruning.md` that do not have their default, `[[congestion]]` brokers that may become
congested, and be relieved, once each (PRN-6), and `again` of a subscription is where its client may subscribe again,
once it has unsubscribed (PRN-15).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from attrs import evolve

from routeproof.model.definition import Section
from routeproof.model.instance import Instance, Subscriber, own_with
from routeproof.model.messages import Subscription
from routeproof.model.overlay import Node
from routeproof.model.pruning.parameters import THRESHOLDS, PruningParameters
from routeproof.model.reading import BROKERS, Place

Readings = tuple[tuple[str, Any], ...]

WORDS = {
    "triggered": ("broker", "neighbour"),
    "without_history": ("remove", "zero", "absent"),
    "counts": ("elsewhere", "all"),
    "rows": ("updated", "arrived"),
    "sends": ("all", "listed"),
    "base": ("active", "lazy"),
    "newcomers": ("keep", "withdraw"),
    "identity": ("issue", "id"),
}
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
