"""The scope of a verdict: what of a trace was not judged, and why, and what the trace itself says went wrong."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from routeproof.checker.validate.findings import Beginning, PartResult, few
from routeproof.checker.validate.report import Extent, Why
from routeproof.checker.validate.setting import EVERYTHING, Setting
from routeproof.checker.validate.store import natural


def caveats(setting: Setting, extent: Extent) -> Iterator[str]:
    """Yields the restrictions of the verdict for its first line."""
    if setting.unseen:
        few_of_them = few(setting.unseen)
        yield f"not observed: {few_of_them}, so that neither they nor the messages to and from them were judged"
    if not extent.owed:
        yield f"no delivery was judged as owed to a client{_because(setting, extent)}"
    if extent.ended:
        one, many = "recording of 1 broker ends", f"recordings of {len(extent.ended):,} brokers end"
        yield f"the {one if len(extent.ended) == 1 else many} early"


def _because(setting: Setting, extent: Extent) -> str:
    """Returns why nothing was owed, where that is the promise of the header."""
    unsettled = {Why.UNSETTLED, Why.WITHDRAWN, Why.IN_FLIGHT} & extent.open.keys()
    if setting.settles is None or setting.pairs or not unsettled:
        return ""
    many = "its only obligation" if extent.obligations == 1 else f"any of its {extent.obligations:,} obligations"
    return f': the "settles" of the header, {setting.settles:,} ns, is too long for {many}'


def beginnings(parts: Iterable[PartResult]) -> list[tuple[str, str]]:
    """Returns by run, in words, which recordings begin amid it."""
    found: dict[str, set[str]] = {}
    for part in parts:
        if part.begins_with == Beginning.TABLES:
            found.setdefault(part.run, set()).add(part.broker)
    return [
        (
            run,
            f"judged from the snapshots with which their recordings begin: {few(tuple(sorted(brokers, key=natural)))}",
        )
        for run, brokers in sorted(found.items())
    ]


def _unknown_beginnings(parts: Iterable[PartResult]) -> Iterator[str]:
    for part in parts:
        if part.begins_with == Beginning.UNKNOWN:
            lacks = "does not tell all tables with all filters"
            yield f"broker {part.broker} and its clients: the snapshot with which its recording begins {lacks}"


def mishaps(parts: Iterable[PartResult]) -> list[tuple[str, str]]:
    """Returns by run, in words, what was dropped, and which brokers crashed or restarted."""
    mishaps: dict[tuple[str, str], list[PartResult]] = {}
    for part in parts:
        if part.drops or part.faults:
            mishaps.setdefault((part.run, part.broker), []).append(part)
    found = []
    for (run, broker), mine in sorted(mishaps.items()):
        count = sum(part.drops for part in mine)
        if count:
            said = "1 message was" if count == 1 else f"{count:,} messages were"
            first = next(part.dropped for part in mine if part.drops)
            found.append((run, f"{said} dropped at broker {broker}, the first at seq {first}"))
        crashes, restarts = sum(part.crashes for part in mine), sum(part.restarts for part in mine)
        if crashes + restarts:
            first = next(part.faulted for part in mine if part.faults)
            alone = ", so that it restarted without a crash" if restarts > crashes else ""
            said = f"broker {broker} crashed {_times(crashes)} and restarted {_times(restarts)}{alone}"
            found.append((run, f"{said}; first at seq {first}; {AFTER_A_FAULT}"))
    return found


MISSING = {"send": "no message", "deliver": "nothing"}
"""Words of a rejection for an event of a kind that is not there."""


def kinds_never_seen(setting: Setting, parts: Sequence[PartResult], instead: Collection[str]) -> Iterator[str]:
    """Yields, in words, the kinds of events that the header declares, and of which one was missing and none is there.
    `instead`: what rejections have seen.
    """
    seen = {kind for part in parts for kind in part.kinds}
    many = len({part.broker for part in parts if part.events}) > 1
    signs = {kind: nothing in instead for kind, nothing in MISSING.items()}
    signs |= {"receive": many and "send" in seen, "client": many and bool(seen)}
    for kind, is_missing in signs.items():
        if is_missing and kind in setting.observes and kind not in seen:
            hint = f"if the brokers do not write them, leave {kind} out of it"
            yield f'the header in "observes" has {kind}, and the trace has no {kind} event: {hint}'


def kinds_undeclared(setting: Setting, parts: Sequence[PartResult]) -> Iterator[str]:
    """Yields, in words, the kinds of events that the trace has and the header does not declare."""
    undeclared = {(kind, part.broker) for part in parts for kind in {*part.kinds} - setting.at(part.broker).observes}
    for kind in MISSING if setting.replays else ():
        brokers = sorted(broker for each, broker in undeclared if each == kind)
        if brokers:
            at = f" at {few(tuple(brokers))}" if setting.observed else ""
            hint = f"they are not judged: if the brokers write all of them, add {kind}"
            yield f'"observes" in the header lacks {kind}{at}, and the trace has {kind} events; {hint}'


def unknown_withdrawals(parts: Iterable[PartResult]) -> list[tuple[str, str]]:
    """Returns by run, in words, which clients withdrew ids that their brokers did not know."""
    found = []
    for part in parts:
        if part.unknown:
            who = f"clients of broker {part.broker} withdrew an id that it does not know {_times(part.unknown)}"
            hint = "it changes nothing (RTE-8); is the id that of the announcement?"
            found.append((part.run, f"{who}; first {part.first_unknown}: {hint}"))
    return found


def deviations(parts: Iterable[PartResult]) -> list[tuple[str, str]]:
    """Returns by run, in words, which brokers forwarded otherwise than the reference and lost nothing by it."""
    found: dict[tuple[str, str], tuple[int, str]] = {}
    for part in parts:
        if part.deviations:
            count, first = found.get((part.run, part.broker), (0, part.deviated))
            found[part.run, part.broker] = count + part.deviations, first
    return [
        (run, f"broker {broker} deviated from the reference {_times(count)}, without harm; first at {first}")
        for (run, broker), (count, first) in sorted(found.items())
    ]


def _times(count: int) -> str:
    return {1: "once", 0: "never"}.get(count, f"{count:,} times")


def damages(setting: Setting, extent: Extent) -> list[str]:
    """Damages that leave the verdict open. The level `observable` judges owed deliveries only; the others judge them in
    addition to steps.
    """
    return extent.unjudged() if setting.level == "observable" else []


def unjudged(setting: Setting, parts: Sequence[PartResult], links_are_wrong: bool) -> tuple[str, ...]:
    if not any(part.events for part in parts):
        return ("anything, since there is no event that can be read",)
    if unknown := tuple(_unknown_beginnings(parts)):
        return unknown
    if setting.level == "observable":
        lacks = [kind for kind in ("client", "deliver") if kind not in setting.observes]
        if lacks:
            return (f"what clients see: {' and '.join(lacks)} events are not observed",)
        if (why := why_nothing_is_owed(setting, parts)) is not None:
            return (f"owed deliveries: {why}",)
        return (HINDERED,) if links_are_wrong else ()
    if not setting.observed:
        return tuple(_unjudged_kinds(setting))
    brokers: dict[frozenset[str], list[str]] = {}
    for broker, kinds in setting.observed.items():
        brokers.setdefault(kinds, []).append(broker)
    return tuple(
        f"{said} at {few(tuple(mine))}"
        for kinds, mine in brokers.items()
        for said in (_unjudged_kinds(setting.at(mine[0])) if kinds else ())
    )


def _unjudged_kinds(setting: Setting) -> Iterator[str]:
    """Yields what is not judged because brokers do not write some kinds of events."""
    lacks = [kind for kind in ("receive", "client") if kind not in setting.observes]
    if lacks:
        yield f"steps of brokers: {' and '.join(lacks)} events are not observed"
        return
    for kind in EVERYTHING[2:]:
        if kind not in setting.observes and not (kind == "send" and setting.models_sends):
            yield f"{kind} events are not observed"


AFTER_A_FAULT = "what its own clients are owed after that is not judged"

HINDERED = "owed deliveries: the messages received over a link are not the messages sent"


def hindrance(*, links_are_wrong: bool) -> Why | None:
    """Returns the reason for which owed deliveries are counted but not judged; None if they are judged."""
    return Why.ALTERED if links_are_wrong else None


def why_nothing_is_owed(setting: Setting, parts: Sequence[PartResult]) -> str | None:
    """Returns the reason for which a trace does not show the owed deliveries; None if it does."""
    return None if setting.sees_ways else why_times_do_not_tell(setting, parts)


def why_times_do_not_tell(setting: Setting, parts: Sequence[PartResult]) -> str | None:
    """Returns the reason for which times do not show the owed deliveries; None if they do."""
    if not {"client", "deliver"} <= setting.observes:
        return "client or deliver events are not observed"
    if not setting.shared_clock:
        return 'the header lacks "clock": "shared"'
    if all(part.latest < 0 for part in parts if part.events):
        return "no event has a time"
    if setting.judging.keeps and not setting.replays:
        return "brokers of this protocol may hold publications back, and their steps are not replayed"
    if not setting.pairs and setting.settles is None:
        return 'links are not observed, and the header has no "settles"'
    return None
