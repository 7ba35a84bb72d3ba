"""Reasons: why the model sends or delivers a message, or does not, by the filters and the neighbours involved."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from attrs import frozen

from routeproof.checker.validate.broker.canonical import SHOWN, CanonicalMessage
from routeproof.checker.validate.broker.witness import witness
from routeproof.model.filters import Attributes, Event, Float, PredicateFilter, Value
from routeproof.model.filters.interface import shown, written
from routeproof.model.filters.sets import ValueSet
from routeproof.model.messages import Subscription
from routeproof.model.overlay import LOCAL, Node
from routeproof.model.tables import Tables

NO_TABLES = Tables()

NEAR = 2
"""Number of filters shown that nearly match."""


@frozen
class Reasons:
    """The tables behind a difference in what was sent to a neighbour.

    `gone`: the subscription that is withdrawn in this step; `withdrawn`: those that were withdrawn lately, the latest
    first, each with where it had come from; `earlier`: the tables before this step.
    """

    tables: Tables
    policy: str
    name_of: Callable[[Node], str]
    sender: Node
    gone: Subscription | None = None
    withdrawn: Sequence[tuple[Subscription, Node]] = ()
    earlier: Tables = NO_TABLES
    handled: str | None = None
    """The id of the publication that is being handled; empty for another message, None if it does not matter."""

    def of(self, missing: CanonicalMessage | None, extra: CanonicalMessage | None, to: Node) -> str:
        """Returns why the model sends what is missing, or does not send what it did not."""
        said = missing or extra
        if said is None or not said.about:
            return ""
        if said.kind == "publish":
            return self._of_publication(said, to, is_missing=missing is not None)
        if said.kind in ("advertise", "unadvertise"):
            return self._of_advertisement(said, to, is_missing=missing is not None)
        id, there = said.about[0][0], self.name_of(to)
        s, hop = next(((s, hop) for s, hop in self.tables.subs if s.id == id), (None, LOCAL))
        if missing is not None and said.adds and s is not None:
            return self._of_missing(s, hop, to)
        if s is None:
            return f"{id} is withdrawn, and {there} knows it" if missing is not None else self._unknown(id, there)
        if missing is None and said.adds and any(t.id == id for t in self.earlier.sent_to(to)):
            return f"{there} was sent {_shown(s)} before, and it still stands"
        cover = self._cover(s, to)
        if cover is not None and (missing is not None or said.adds):
            return f"{_shown(cover)}, sent to {there}, covers {_shown(s)}"
        if said.adds:
            return f"{id} came from {there}" if hop == to else f"no advertisement from {there} overlaps {_shown(s)}"
        if missing is not None:
            return f"no advertisement from {there} overlaps {_shown(s)} any more"
        known = f"{_shown(s)} is still known here, from {self._whence(hop)}, and nothing that {there} knows covers it"
        return _joined(known, self._needed(s, to))

    def of_delivery(self, id: str, event: Event | None, to: str) -> str:
        """Returns why a publication is not delivered for a subscription."""
        if self.handled != id:
            return f"{id} is not the publication that is being handled"
        s = next((s for s, hop in self.tables.subs if s.id == to and hop == LOCAL), None)
        if s is not None:
            if event is not None and not s.filter.matches(event):
                return does_not_match(s, id, event)
            return f"{id} was delivered for {to} before in this step"
        hop = next((hop for s, hop in self.tables.subs if s.id == to), LOCAL)
        return self._unknown(to) if hop == LOCAL else f"{to} came from {self.name_of(hop)}, and from no client here"

    def _unknown(self, id: str, there: str = "") -> str:
        if self.gone is not None and self.gone.id == id:
            return f"{id} is withdrawn in this step, and {there} was not sent it"
        before = next(((s, hop) for s, hop in self.withdrawn if s.id == id), None)
        if before is None:
            return f"{id} is not known here"
        return f"{_shown(before[0])} is not known here any more: {self._whence(before[1])} has withdrawn it"

    def _of_advertisement(self, said: CanonicalMessage, to: Node, *, is_missing: bool) -> str:
        if is_missing:
            return f"it goes to every neighbour but {self._whence(self.sender)}"
        id, there = said.about[0][0], self.name_of(to)
        hop = next((hop for a, hop in self.tables.advs if a.id == id), None)
        if said.kind == "unadvertise":
            return f"{id} is not known here" if hop is None else f"{id} still stands: {self._whence(hop)} made it"
        if hop is None:
            return f"{id} is not known here"
        if hop == to:
            return f"{id} came from {there}"
        return f"{there} was sent {id} before, and it still stands: an advertisement is sent once, when it comes"

    def _of_missing(self, s: Subscription, hop: Node, to: Node) -> str:
        there, needed = self.name_of(to), self._needed(s, to)
        if self.policy == "none":
            return _joined(f"{_shown(s)} {self._asked(s, hop, to)}", needed)
        asked = f"{s.id} {self._asked(s, hop, to)}"
        if self.gone is not None and self.gone.filter.covers(s.filter):
            return _joined(f"{_shown(self.gone)}, which covered {_shown(s)}, is withdrawn", asked, needed)
        near = nearly_covers(self.earlier.sent_to(to), s)
        if near is not None:
            return _joined(f"{_shown(near)}, sent to {there}, does not cover {_shown(s)}", asked, needed)
        asked = f"{_shown(s)} {self._asked(s, hop, to)}"
        return _joined(asked, f"nothing else that {there} was sent covers it", needed)

    def _asked(self, s: Subscription, hop: Node, to: Node) -> str:
        there = self.name_of(to)
        a = next((a for a, source in self.tables.advs if source == to and a.filter.overlaps(s.filter)), None)
        promise = "" if a is None else f" and overlaps advertisement {a.id} ({_short(a.filter)}) from {there}"
        return f"came from {self._whence(hop)}{promise}"

    def _needed(self, s: Subscription, to: Node) -> str:
        """A publication that the neighbour does not send here without this subscription, as an example."""
        a = next((a for a, source in self.tables.advs if source == to and a.filter.overlaps(s.filter)), None)
        sent = [t.filter for t in self._sent(to) if t.id != s.id]
        if a is None or (event := witness([s.filter, a.filter], sent) or witness([s.filter, a.filter])) is None:
            return ""
        example = f"event {event}" if isinstance(event, int) else str(event) or "no attributes"
        return f"without it, {self.name_of(to)} does not send a publication with {example} here"

    def _cover(self, s: Subscription, to: Node) -> Subscription | None:
        return next((t for t in self._sent(to) if t.id != s.id and t.filter.covers(s.filter)), None)

    def _sent(self, to: Node) -> Sequence[Subscription]:
        return next((many for node, many in self.tables.sent if node == to), ())

    def _of_publication(self, said: CanonicalMessage, to: Node, *, is_missing: bool) -> str:
        there, event, id = self.name_of(to), said.event, said.about[0][0]
        if event is None:
            return ""
        if to == self.sender:
            return f"{id} came from {there}"
        if not is_missing and self.handled not in (None, id):
            return f"{id} is not the publication that is being handled"
        mine = [s for s, hop in self.tables.subs if hop == to]
        match = next((s for s in mine if s.filter.matches(event)), None)
        if match is None:
            none = f"no subscription from {there} matches {id} ({_short(event)})"
            gone = next((s for s, hop in self.withdrawn if hop == to and s.filter.matches(event)), None)
            if gone is not None:
                return f"{none} any more: {there} has withdrawn {_shown(gone)}"
            near = nearly_match(mine, event)[:NEAR]
            more = [f"no other subscription from {there} does"] if near else [none]
            return _joined(*(does_not_match(s, id, event) for s in near), *more)
        if not is_missing:
            return f"{there} was sent it before in this step: once, however many subscriptions from there match"
        return f"{id} ({_short(event)}) matches {_shown(match)}, which came from {there}"

    def _whence(self, hop: Node) -> str:
        return "a client" if hop == LOCAL else self.name_of(hop)


def reason_of_publication(
    reasons: Reasons, missing: CanonicalMessage | None, extra: CanonicalMessage | None, to: Node
) -> str:
    """Returns the reason where a publication is at stake; a protocol may have others for control messages."""
    said = missing or extra
    return reasons.of(missing, extra, to) if said is not None and said.kind == "publish" else ""


def matches(publication: CanonicalMessage, s: Subscription, which: str = "a subscription made here") -> str:
    """A sentence that says why a publication is sent or delivered."""
    return f"{publication.about[0][0]} ({_short(publication.event)}) matches {_shown(s)}, {which}"


def does_not_match(s: Subscription, id: str, event: Event) -> str:
    """A sentence that says why a publication is not delivered for a subscription."""
    why = misfit(s, event)
    return f"{_shown(s)} does not match {id}{why and f': {why}'}"


def _joined(*sentences: str) -> str:
    return "; ".join(filter(None, sentences))


def _shown(s: Subscription) -> str:
    return f"{s.id} ({_short(s.filter)})"


def _short(what: object) -> str:
    text = str(what)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


# -- filters that come near --------------------------------------------------------------------------------------------


def misfit(s: Subscription, event: Event) -> str:
    """Returns why a subscription does not match an event, by one attribute; empty if events are numbers."""
    if not isinstance(s.filter, PredicateFilter) or not isinstance(event, Attributes):
        return ""
    for name in _refused(s.filter, event):
        value = event.by_name.get(name)
        asked = " and ".join(f"{name} {each.condition}" for each in s.filter.written if each.attribute == name)
        if value is None:
            return f"it has no attribute {name}, which {asked} needs"
        has = f"{name} = {shown(written(value))}"
        if _has_no(s.filter.by_name[name], value):
            return f"{has} is a {_type_of(value)}, and {asked} wants another type"
        return f"{has} does not satisfy {asked}"
    return ""


def nearly_match(among: Iterable[Subscription], event: Event) -> list[Subscription]:
    """Returns the subscriptions that one attribute alone keeps from matching, those first that have its value in
    another case, of another type, or as the bound of a range."""
    if not isinstance(event, Attributes):
        return []
    found = list[tuple[bool, int, Subscription]]()
    for place, s in enumerate(among):
        if isinstance(s.filter, PredicateFilter) and len(refused := _refused(s.filter, event)) == 1:
            value, constants = event.by_name.get(refused[0]), [p.constant for p in s.filter.written]
            looks = value is not None and any(_plain(written(value)) == _plain(each) for each in constants)
            found.append((not looks, place, s))
    return [s for _, _, s in sorted(found, key=lambda each: each[:2])]


def nearly_covers(among: Iterable[Subscription], s: Subscription) -> Subscription | None:
    """Returns a subscription that a broker may take to cover another: their filters overlap, or look alike. Of several,
    the one that fails to cover it by the fewest attributes."""
    inner = s.filter
    if not isinstance(inner, PredicateFilter):
        return None
    found = [
        (sum(not inner.by_name.get(name, inner.rest).within(mine) for name, mine in t.filter.constraints), place, t)
        for place, t in enumerate(among)
        if isinstance(t.filter, PredicateFilter)
        and any(name in inner.by_name for name in t.filter.by_name)
        and (t.filter.overlaps(inner) or _look(t.filter) == _look(inner))
    ]
    return min(found, key=lambda each: each[:2])[2] if found else None


def _refused(wanted: PredicateFilter, event: Attributes) -> list[str]:
    """The attributes whose values keep a filter from matching."""
    values = event.by_name
    return [
        name
        for name, allowed in wanted.constraints
        if not (allowed.missing if (value := values.get(name)) is None else value in allowed)
    ]


def _has_no(allowed: ValueSet, value: Value) -> bool:
    """True if a set has no value of the same type."""
    if isinstance(value, str):
        return allowed.strings is None
    if isinstance(value, bool):
        return not allowed.booleans
    return (allowed.floats if isinstance(value, Float) else allowed.numbers) is None


def _type_of(value: Value) -> str:
    if isinstance(value, Float):
        return "float"
    return "string" if isinstance(value, str) else "boolean" if isinstance(value, bool) else "number"


def _look(wanted: PredicateFilter) -> str:
    """A filter as a broker may confuse it with another."""
    return _plain(str(wanted).replace('"', ""))


def _plain(constant: object) -> str:
    """A constant without its type and case."""
    return str(constant).lower()
