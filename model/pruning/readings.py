"""The table `[pruning]` of an instance file: readings of `spec/pruning.md` that do not have their default."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from routeproof.model.pruning.parameters import THRESHOLDS
from routeproof.model.reading import Place

Readings = tuple[tuple[str, Any], ...]

WORDS = {
    "triggered": ("broker", "neighbour"),
    "without_history": ("remove", "zero", "absent"),
    "counts": ("elsewhere", "all"),
    "sends": ("all", "listed"),
    "base": ("active", "lazy"),
    "newcomers": ("keep", "withdraw"),
    "identity": ("issue", "id"),
}
SWITCHES = ("inclusive", "remembers", "collects", "overtakes")
NUMBERS = {"window": (1, 1_000_000), "fewest": (0, 1_000_000)}
MOST = 1_000_000_000


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
