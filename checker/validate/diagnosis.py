"""Diagnosis of lost deliveries: where the last copy of a publication was, and which broken rule comes before the loss.

A lost delivery shows at the broker that does not send the publication on, and that broker is often right: it was never
sent the subscription. So the brokers on the way from the last copy to the subscriber are asked in turn, and the first
one at which a message was lost or withdrawn is named with the deliveries that were lost after that.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple, Protocol

from attrs import evolve

from routeproof.checker.validate.findings import ON_LINKS, SEEN_BY_CLIENTS, Rejection
from routeproof.checker.validate.report import SHOWN_LOST, Lost
from routeproof.checker.validate.setting import Setting


class SeenEvent(Protocol):
    """An event about a publication, as a second look at the trace finds it."""

    @property
    def where(self) -> tuple[str, str, int]: ...

    @property
    def line(self) -> int: ...

    @property
    def event(self) -> str: ...

    @property
    def peer(self) -> str: ...


class LastCopy(NamedTuple):
    """Where the last copy of a lost publication was. `ahead`: the brokers from there to the subscriber."""

    words: str
    ahead: tuple[str, ...]


def last_copy(broker: str, home: str, events: Iterable[SeenEvent], setting: Setting) -> LastCopy | None:
    """Follows a publication from the broker where it was made towards a subscriber's; None if links are not seen."""
    ends = setting.node.get(broker), setting.node.get(home)
    if not setting.pairs or ends[0] is None or ends[1] is None or setting.channels:
        return None
    events = list(events)
    came = {e.where[1]: e for e in events if e.event in ("client", "receive")}
    sent = {(e.where[1], e.peer): e for e in events if e.event == "send"}
    dropped = {e.where[1]: e for e in events if e.event == "drop"}
    way = [setting.name_of(node) for node in setting.overlay.path(ends[0], ends[1])]
    for at, (near, far) in enumerate(pairwise(way)):
        ahead = tuple(way[at:])
        if (near, far) not in sent:
            there = came.get(near)
            where = "" if there is None else f" (seq {there.where[2]}{_at_line(there.line)})"
            words = f"the last copy was at broker {near}, which handled it{where} and did not send it to {far}"
            return LastCopy(words, ahead)
        if far not in came:
            fate = f"{far} dropped it at seq {dropped[far].where[2]}" if far in dropped else f"{far} did not receive it"
            words = f"the last copy was sent by {near} to {far} (seq {sent[near, far].where[2]}), and {fate}"
            return LastCopy(words, ahead)
    if home not in came:
        return None
    return LastCopy(f"broker {home} handled it (seq {came[home].where[2]}) and did not deliver it", (home,))


def _at_line(line: int) -> str:
    return f", line {line}" if line else ""


def attributed(
    rejections: Sequence[Rejection],
    lost: Sequence[Lost],
    total: int,
    about: Mapping[tuple[str, str], Sequence[SeenEvent]],
    setting: Setting,
) -> list[Rejection]:
    """Adds to each broken rule the deliveries that were lost after it. `total`: the number of all lost deliveries, of
    which `lost` are the first; `about`: the events about each publication, by run and id."""
    causes: dict[tuple[str, str], Rejection] = {}
    for rejection in sorted((r for r in rejections if loses(r)), key=lambda r: r.seq):
        causes.setdefault((rejection.run, rejection.broker), rejection)
    found: dict[tuple[str, str], list[tuple[Lost, LastCopy]]] = {}
    for each in lost if causes else ():
        copy = last_copy(each.broker, each.home, about.get((each.run, each.id), ()), setting) if each.home else None
        key = next(((each.run, b) for b in (copy.ahead if copy else ()) if (each.run, b) in causes), None)
        if copy is not None and key is not None:
            found.setdefault(key, []).append((each, copy))
    words = {id(causes[key]): _words(some, are_all=total == len(lost)) for key, some in found.items()}
    return [evolve(r, losses=words[id(r)]) if id(r) in words else r for r in rejections]


def loses(rejection: Rejection) -> bool:
    """True if a publication may be lost by what is wrong: a message is missing, is another one, or is a withdrawal."""
    if rejection.rule in SEEN_BY_CLIENTS or (rejection.rule.startswith("TRC") and rejection.rule != ON_LINKS):
        return False
    return not rejection.wanted.startswith("no ") or rejection.seen.startswith("un")


def _words(some: Sequence[tuple[Lost, LastCopy]], *, are_all: bool) -> str:
    count = f"{len(some):,} {'delivery' if len(some) == 1 else 'deliveries'}"
    those = ", ".join(f"{lost.id} to {lost.to}" for lost, _ in some[:SHOWN_LOST])
    more = ", ..." if len(some) > SHOWN_LOST else ""
    first = some[0][1].words
    return f"{'' if are_all else 'at least '}{count} after that: {those}{more}; of {some[0][0].id}, {first}"
