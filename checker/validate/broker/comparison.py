"""Differences between a broker and its model: in a step's messages, the rule to blame for them, and in snapshots."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from attrs import frozen

from routeproof.checker.validate.broker.canonical import CanonicalMessage
from routeproof.checker.validate.setting import Level
from routeproof.model.filters import FilterError
from routeproof.model.messages import Advertisement, Subscription
from routeproof.model.overlay import LOCAL, Node
from routeproof.model.tables import Tables, by_id
from routeproof.traces import Entry, TraceTables

Place = tuple[int, int]
"""An event's seq and line."""


@frozen
class Difference:
    """Between a step and the model's. `line`: that of what is there and should not be; 0 where something is missing."""

    seq: int
    line: int
    rule: str
    wanted: str
    seen: str
    reason: str = ""
    """Why the rule asks for it here."""


@frozen
class Divergence:
    """Where what was sent to a neighbour and what the model sends there part. `at`: the event's seq and line, or None
    where one is missing; `early`: does an addition come after a withdrawal?"""

    at: Place | None
    missing: CanonicalMessage | None
    extra: CanonicalMessage | None
    early: bool = False
    is_order: bool = False
    """True if all messages are right, and only their order is not."""
    only_order: bool = False
    """True if it is an order that the level equivalent allows."""
    reason: str = ""
    """The fault of a message that the model has nothing to compare with."""


def divergence(
    level: Level, wanted: Sequence[CanonicalMessage], seen: Sequence[tuple[CanonicalMessage, Place]]
) -> Divergence | None:
    """Compares the messages first, and their order only where they are the same. None where nothing counts at this
    level."""
    left = Counter(wanted)
    extra: tuple[CanonicalMessage | None, Place | None] = None, None
    for said, at in seen:
        if left[said]:
            left[said] -= 1
        elif extra[0] is None:
            extra = said, at
    missing = next((said for said in wanted if left[said] > 0), None)
    if extra[0] is not None or missing is not None:
        return Divergence(extra[1], missing, extra[0])
    early = first_early(seen)
    if level == "exact":
        for one, (said, at) in zip(wanted, seen, strict=True):
            if one != said:
                return Divergence(at, one, said, is_order=True, only_order=early is None)
    return early


def first_early(seen: Sequence[tuple[CanonicalMessage, Place]]) -> Divergence | None:
    """The first addition that comes after a withdrawal."""
    withdrawn = False
    for said, at in seen:
        if withdrawn and said.adds:
            return Divergence(at, None, said, early=True, is_order=True)
        withdrawn = withdrawn or said.withdraws
    return None


# -- blame -------------------------------------------------------------------------------------------------------------

FLOODED = {"advertise": "RTE-2", "unadvertise": "RTE-7", "publish": "RTE-5"}
ON = {"advertise": "RTE-4", "unadvertise": "RTE-7", "unsubscribe": "RTE-6", "unsubscribe-many": "RTE-6"}
"""The rule by which a broker sends and withdraws subscriptions, by the kind of message that it handles; RTE-3 for a new
subscription.
"""


def blame(
    told: str, tables: Tables, policy: str, wanted: CanonicalMessage | None, seen: CanonicalMessage | None
) -> str:
    """Returns the rule behind the first difference. `told`: the message that was handled; `tables`: the model's tables
    after that.
    """
    said = wanted or seen
    assert said is not None, "a difference is made of something"
    if said.kind in FLOODED:
        return FLOODED[said.kind]
    if said.withdraws:
        covering = told.startswith("subscribe") or told == "advertise"
        return ("COV-6" if policy == "lazy" else "COV-4") if covering else ON.get(told, "RTE-6")
    if wanted is None and policy != "none" and _is_covered(said, tables):
        return "COV-2"
    return ON.get(told, "RTE-3")


def _is_covered(said: CanonicalMessage, tables: Tables) -> bool:
    """Does the broker know of something that covers what it sent?"""
    about = dict(said.about)
    known = [s for s, _ in tables.subs]
    with suppress(FilterError):  # filters of two kinds cover each other in no way
        return any(
            t.id not in about and t.filter.covers(wanted) for s in known if (wanted := about.get(s.id)) for t in known
        )
    return False


# -- snapshots ---------------------------------------------------------------------------------------------------------


def differ(tables: Tables, told: TraceTables, name_of: Callable[[Node], str]) -> tuple[str, str] | None:
    """Where a snapshot and the model's tables differ: what the model has there, what the snapshot says."""
    known = TraceTables.of(tables, name_of)
    for part in ("advs", "subs", "sent"):
        ours, theirs = getattr(known, part), getattr(told, part)
        if theirs is None:
            continue
        if any(getattr(entry, "filter", 0) is None for entry in theirs):
            ours = getattr(known.without_filters(), part)
        if ours != theirs:
            return f"in {part}: {_entries_shown(ours, theirs)}", f"in {part}: {_entries_shown(theirs, ours)}"
    return None


def tables_of(told: TraceTables, neighbours: Mapping[str, Node], ranks: Mapping[str, int]) -> Tables | None:
    """The tables that a snapshot tells; None where it does not tell all of them, or none that a broker can have."""
    if told.advs is None or told.subs is None or told.sent is None:
        return None
    hops = {"": LOCAL, **neighbours}
    if any(entry.filter is None or entry.hop not in hops for entry in (*told.advs, *told.subs)):
        return None
    advs = [(_adv(entry, ranks), hops[entry.hop]) for entry in told.advs]
    subs = {entry.id: (_sub(entry, ranks), hops[entry.hop]) for entry in told.subs}
    sent: list[tuple[Node, tuple[Subscription, ...]]] = []
    for name, ids in told.sent:
        if name not in neighbours or any(id not in subs for id in ids):
            return None
        sent.append((neighbours[name], tuple(sorted((subs[id][0] for id in ids), key=by_id))))
    return Tables(
        tuple(sorted(advs, key=lambda e: by_id(e[0]))),
        tuple(sorted(subs.values(), key=lambda e: by_id(e[0]))),
        tuple(sorted(sent, key=lambda e: e[0])),
    )


def _adv(entry: Entry, ranks: Mapping[str, int]) -> Advertisement:
    assert entry.filter is not None, "asked before"
    return Advertisement(ranks.get(entry.id, 0), entry.id, entry.filter)


def _sub(entry: Entry, ranks: Mapping[str, int]) -> Subscription:
    assert entry.filter is not None, "asked before"
    return Subscription(ranks.get(entry.id, 0), entry.id, entry.filter)


def _entries_shown(these: tuple[object, ...], those: tuple[object, ...]) -> str:
    """Elements that only the first tuple has, in short."""
    there = set(those)
    only = [each for each in these if each not in there]
    words = [f"{getattr(e, 'id', '') or e}" for e in only[:5]]
    return ", ".join(words) + (", ..." if len(only) > 5 else "") or "nothing more"
