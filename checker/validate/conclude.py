"""From what was found in parts, on links and about clients to one report, which is the same whoever read what when."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from attrs import evolve

from routeproof.checker.validate.again import Look, looked_up
from routeproof.checker.validate.bad import BadLines
from routeproof.checker.validate.links import ON_LINKS
from routeproof.checker.validate.order import in_order
from routeproof.checker.validate.part import Found
from routeproof.checker.validate.rejection import ALWAYS, WHOLE, Rejection
from routeproof.checker.validate.report import Report
from routeproof.checker.validate.setting import EVERYTHING, Setting


def of_broker(parts: Sequence[Found]) -> Rejection | None:
    """The first rejection of one broker's parts, in their order; what parts before it had was accepted."""
    before = 0
    for part in parts:
        if part.rejection is not None:
            return evolve(part.rejection, accepted=before + part.rejection.accepted)
        before += part.events
    return None


def foremost(rejections: Iterable[Rejection]) -> list[Rejection]:
    """The first of each rule at each broker; where it is not known yet which of them are certain, one of each kind."""
    first: dict[tuple[object, ...], Rejection] = {}
    for each in rejections:
        kind = min(each.line, 1), tuple(broker for broker, _ in each.shown_by)
        key = each.run, each.broker, each.rule, kind
        if key not in first or each < first[key]:
            first[key] = each
    return list(first.values())


def _first_of_each(rejections: Iterable[Rejection]) -> list[Rejection]:
    """Of each rule at each broker."""
    return list({(each.run, each.broker, each.rule): each for each in sorted(rejections, reverse=True)}.values())


def report(
    setting: Setting,
    parts: Iterable[Found],
    rejections: Iterable[Rejection],
    bad: BadLines,
    look: Look,
) -> Report:
    """`rejections`: of brokers, of links, about clients. `bad`: lines that could not be read. `look`: looks again."""
    rejections = list(rejections)
    links_are_wrong = any(r.rule == ON_LINKS for r in rejections)
    if setting.level == "observable":
        rejections = [r for r in rejections if r.rule != ON_LINKS]
    found = looked_up(foremost(rejections), look, are_lines_missing=bad.count > 0)
    certain = _first_of_each(r for r in found if not bad.count or r.line == ALWAYS or WHOLE < r.line < bad.first_number)
    named = {(r.run, r.broker, r.rule) for r in certain}
    doubtful = _first_of_each(r for r in found if (r.run, r.broker, r.rule) not in named)
    parts = list(parts)
    return Report(
        level=setting.level,
        events=sum(part.events for part in parts),
        brokers=len({part.broker for part in parts if part.events}),
        rejections=in_order(certain, shared_clock=setting.shared_clock),
        bad_lines=bad.count,
        bad=tuple(bad.first),
        doubtful=in_order(doubtful, shared_clock=setting.shared_clock),
        unjudged=_unjudged(setting, parts, links_are_wrong),
    )


def _unjudged(setting: Setting, parts: Sequence[Found], links_are_wrong: bool) -> tuple[str, ...]:
    if not any(part.events for part in parts):
        return ("anything, since there is no event that can be read",)
    if setting.level == "observable":
        lacks = [kind for kind in ("client", "deliver") if kind not in setting.observes]
        if lacks:
            return (f"what clients see: {' and '.join(lacks)} events are not observed",)
        why = why_nothing_is_owed(setting, parts, links_are_wrong)
        return () if why is None else (f"what is owed: {why}",)
    lacks = [kind for kind in ("receive", "client") if kind not in setting.observes]
    if lacks:
        return (f"the brokers' steps: {' and '.join(lacks)} events are not observed",)
    return tuple(f"{kind} events are not observed" for kind in EVERYTHING[2:] if kind not in setting.observes)


def why_nothing_is_owed(setting: Setting, parts: Sequence[Found], links_are_wrong: bool) -> str | None:
    """Why it cannot be said what subscribers are owed; None where it can."""
    if links_are_wrong:
        return "what was received over a link is not what was sent, so that nobody knows what was on the way"
    if not {"client", "deliver"} <= setting.observes:
        return "client or deliver events are not observed"
    if not setting.shared_clock:
        return 'the header does not say "clock": "shared"'
    if any(part.faults for part in parts):
        return "brokers crashed or messages were dropped"
    if any(part.latest < 0 for part in parts if part.events):
        return "events have no time"
    if not setting.pairs and setting.settles is None:
        return 'neither are links observed nor does the header say what "settles" is'
    return None
