"""Which of several rejections is the first: the cause before its effects.

Runs have nothing to do with each other. In one, what clients saw comes after what brokers and links did, whatever the
time: a publication is made before it reaches the broker that loses it. Among the latter the clock decides, where
brokers share one. Where it does not, brokers that did something wrong by themselves come before those that first
received what was not sent: a wrong step is what feeds such a link. At one broker its own order rules.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import TypeAlias

from routeproof.checker.validate.links import ON_LINKS
from routeproof.checker.validate.naming import natural
from routeproof.checker.validate.rejection import Rejection

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
    """What was received wrongly is then handled wrongly."""
    return r.seq, r.rule != ON_LINKS, r
