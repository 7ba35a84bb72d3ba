"""Rejections: where a trace leaves the model, and which of several is the first, the cause before its effects.

Runs are independent. In one run, what clients saw comes after what brokers and links did, whatever the time: a
publication is made before it reaches the broker that loses it. Among brokers and links the shared clock decides.
Without one, brokers that took a wrong step by themselves come before brokers that first received what was not sent: a
wrong step is what feeds such a link. At one broker its own order rules.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import TypeAlias, cast

from attrs import field, frozen

from routeproof.checker.validate.store import natural, storable

WHOLE = 0
"""Any line that could not be read may be what is missing, wherever it stands."""

ALWAYS = -1
"""No line could explain it: what was read is wrong by itself."""

LAST_SHOWN = -2
"""The last of the lines of `shown_by`, which are still to be found out."""


def _places(raw: Iterable[Iterable[str | int]]) -> tuple[tuple[str, int], ...]:
    return cast(tuple[tuple[str, int], ...], tuple(map(tuple, raw)))


def _texts(raw: Iterable[str]) -> tuple[str, ...]:
    return tuple(raw)


@frozen(order=True)
class Rejection:
    """The order decides which of several is the first."""

    run: str
    broker: str
    seq: int
    rule: str
    wanted: str = field(converter=storable)
    seen: str = field(converter=storable)
    accepted: int = 0
    """How many events of this broker were accepted before it: the longest accepted prefix."""
    line: int = field(default=WHOLE, order=False, eq=False)
    """The line that completes what shows it: only one before it could explain it. Or one of the three above."""
    time: int = field(default=-1, order=False)
    """Time of the beginning of its step; -1 if unknown."""
    shown_by: tuple[tuple[str, int], ...] = field(default=(), order=False, eq=False, converter=_places)
    """Events elsewhere that show it, by broker and seq: of a link, what was sent and what was received."""
    at: int = field(default=0, order=False)
    """The line of its event, or of the beginning of its step; 0 if unknown."""
    handling: str = field(default="", order=False, converter=storable)
    """The message that the broker was handling, in words; empty where that does not matter."""
    reason: str = field(default="", order=False, converter=storable)
    """Why the rule asks for it here: the filters and the neighbours involved."""
    lost: tuple[str, ...] = field(default=(), order=False, converter=_texts)
    """A lost delivery: the publication, the subscription and the brokers of its clients."""
    losses: str = field(default="", order=False, converter=storable)
    """The deliveries that were lost after it, in words."""


def few(names: tuple[str, ...]) -> str:
    """Some of many, for a sentence."""
    return ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")


# -- order -------------------------------------------------------------------------------------------------------------

ON_LINKS, ON_CLOCKS = "TRC-3", "TRC-10"

SEEN_BY_CLIENTS = ("TRC-7", "TRC-8", "TRC-9")

_Key: TypeAlias = tuple[object, ...]


def in_order(rejections: Iterable[Rejection], *, shared_clock: bool) -> tuple[Rejection, ...]:
    found: list[Rejection] = []
    by_run = sorted(rejections, key=lambda r: natural(r.run))
    for _, mine in groupby(by_run, key=lambda r: r.run):
        found += _of_run(list(mine), shared_clock)
    return tuple(found)


def _of_run(mine: list[Rejection], shared_clock: bool) -> list[Rejection]:
    causes = [r for r in mine if r.rule not in SEEN_BY_CLIENTS]
    by_clock = shared_clock and all(r.time >= 0 for r in mine)
    first: dict[str, Rejection] = {}
    for each in causes:
        known = first.get(each.broker)
        if known is None or _within_broker(each) < _within_broker(known):
            first[each.broker] = each
    fed = {broker for broker, each in first.items() if each.rule == ON_LINKS}

    def key(r: Rejection) -> _Key:
        is_effect = r.rule in SEEN_BY_CLIENTS
        return is_effect, r.time if by_clock else 0, r.broker in fed, natural(r.broker), _within_broker(r)

    return sorted(mine, key=key)


def _within_broker(r: Rejection) -> _Key:
    """Sort key: a message that was received wrongly is then handled wrongly."""
    return r.seq, r.rule != ON_LINKS, r


def foremost(rejections: Iterable[Rejection]) -> list[Rejection]:
    """The first of each rule at each broker; where it is not known yet which of them are certain, one of each kind."""
    first: dict[tuple[object, ...], Rejection] = {}
    for each in rejections:
        kind = min(each.line, 1), tuple(broker for broker, _ in each.shown_by)
        key = each.run, each.broker, each.rule, kind
        if key not in first or each < first[key]:
            first[key] = each
    return list(first.values())
