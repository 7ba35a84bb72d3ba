"""The model of pruning as a judge of long traces: `JudgingPruning` answers as `Pruning` does, and remembers.

Handlers, decisions and their order are the model's own. What is replaced reads tables: which filters cover, overlap or
match is computed once for each pair, and the subscriptions that a neighbour should know follow from those that it
should have known before. The coverage of rules is left out: no rejection needs it. Instead there are `StepRecord`: what
a step put into the database and what it decided, so that it can be compared with the similarity.

Messages and snapshots have more here than in the core: the header, the cuts, and additional keys of the tables.
`PruningMeaning` and `CanonicalPruning` are their forms, `tables_of` reads a snapshot, `differ` compares one.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from hashlib import blake2b
from typing import TypeAlias, TypeVar

from attrs import Factory, define, evolve, frozen

from routeproof.checker.validate.broker import comparison
from routeproof.checker.validate.broker.canonical import CanonicalMessage, canonical_in_model, canonical_in_trace
from routeproof.checker.validate.broker.messages import MessageMeaning
from routeproof.model.filters import Event, Filter
from routeproof.model.messages import Advertisement, Publish, Subscription, Unsubscribe
from routeproof.model.overlay import LOCAL, Node, Overlay
from routeproof.model.pruning.handler import Cuts, Pruning
from routeproof.model.pruning.vocabulary import Cut, PruningParameters, PruningTables, Row, cuts_of, met, withdraw
from routeproof.model.routing import StepEffects
from routeproof.model.tables import Tables, by_id
from routeproof.traces import Entry, TraceMessage, TraceTables
from routeproof.traces.pruning import PruningParts, cuts_in_trace, header_in

T = TypeVar("T")

REMEMBERED = 1 << 20
"""Answers of each kind."""

ALWAYS = -1
"""PRN-2: no distance counts, since too little is triggered; the withdrawal goes on."""

Subscriptions: TypeAlias = tuple[Subscription, ...]


@define
class Relations:
    covering: dict[tuple[Filter, Filter], bool] = Factory(dict)
    overlapping: dict[tuple[Filter, Filter], bool] = Factory(dict)
    matching: dict[tuple[Filter, Event], bool] = Factory(dict)

    def covers(self, one: Filter, other: Filter) -> bool:
        return _asked(self.covering, (one, other), one.covers)

    def overlaps(self, one: Filter, other: Filter) -> bool:
        return _asked(self.overlapping, (one, other), one.overlaps)

    def matches(self, one: Filter, event: Event) -> bool:
        return _asked(self.matching, (one, event), one.matches)


def _asked(known: dict[tuple[Filter, T], bool], question: tuple[Filter, T], ask: Callable[[T], bool]) -> bool:
    answer = known.get(question)
    if answer is None:
        if len(known) >= REMEMBERED:
            known.clear()
        answer = known[question] = ask(question[1])
    return answer


@define
class StepRecord:
    rows: list[tuple[str, int, int]] = Factory(list)
    """STA-6: a local subscription, and the distance and the count that were noted for it."""
    decisions: list[tuple[str, Node, tuple[str, ...], int]] = Factory(list)
    """PRN-4: what is withdrawn, a neighbour that had it, the advertisements there that the list has, and which of their
    distances counts (`ALWAYS`: none)."""
    full: list[str] = Factory(list)
    """STA-8: what is withdrawn without a list."""


class JudgingPruning(Pruning):
    """One for each broker: `at_another` shares what is known of filters."""

    def __init__(self, overlay: Overlay, policy: str, parameters: PruningParameters | None = None) -> None:
        super().__init__(overlay, policy, parameters)
        self.relations = Relations()
        self.minutes = StepRecord()
        """Records of the latest step; the next step begins new ones."""
        self._withdrawn = ""
        self._pools: dict[Node, tuple[Subscriptions, Subscriptions]] = {}
        """Per neighbour, the latest pool and what of it was wanted."""

    def at_another(self) -> JudgingPruning:
        made = JudgingPruning(self.overlay, self.policy, self.parameters)
        made.relations = self.relations
        return made

    # -- what is remembered --------------------------------------------------------------------------------------------

    def covers(self, t: Subscription, s: Subscription) -> bool:
        return self.relations.covers(t.filter, s.filter)

    def overlaps(self, a: Advertisement, s: Subscription) -> bool:
        return self.relations.overlaps(a.filter, s.filter)

    def matches(self, s: Subscription, event: Event) -> bool:
        return self.relations.matches(s.filter, event)

    def wanted(self, tables: Tables, neighbour: Node, candidates: Subscriptions) -> Subscriptions:
        """COV-4: from what was wanted before, where that was sent and nothing of it has left."""
        if self.covering != "active":
            return super().wanted(tables, neighbour, candidates)
        sent = tables.sent_to(neighbour)
        before, roots = self._pools.get(neighbour, ((), ()))
        if roots != sent or not set(roots) <= set(candidates):
            before, roots = (), ()
        found = dict.fromkeys(roots)
        for s in set(candidates).difference(before):
            if not any(self.quenches(t, s, sent) for t in found):
                for t in [t for t in found if self.quenches(s, t, sent)]:
                    del found[t]
                found[s] = None
        wanted = tuple(sorted(found, key=by_id))
        self._pools[neighbour] = candidates, wanted
        return wanted

    def _note_covering(self, *_: object) -> None:
        pass

    # -- minutes -------------------------------------------------------------------------------------------------------

    def note(self, step: StepEffects, s: Subscription, told: Publish, row: Row) -> None:
        self.minutes.rows.append((s.id, met(told).distance, met(told).count))
        super().note(step, s, told, row)

    def write_list(self, step: StepEffects, s: Subscription) -> Unsubscribe:
        written = super().write_list(step, s)
        if written.header is None:
            self.minutes.full.append(s.id)
        return written

    def withdraw(self, step: StepEffects, message: Unsubscribe, sender: Node) -> None:
        self._withdrawn = message.subscription.id
        super().withdraw(step, message, sender)

    def shortened(self, step: StepEffects, cuts: Cuts, neighbour: Node, triggered: int) -> Cuts:
        there = {a.id for a, x in step.tables.advs if x == neighbour}
        listed = tuple(cut.advertisement for cut in cuts if cut.advertisement in there)
        self.minutes.decisions.append((self._withdrawn, neighbour, listed, self.which(triggered)))
        return super().shortened(step, cuts, neighbour, triggered)

    def which(self, triggered: int) -> int:
        """PRN-2: the place of the distance that counts."""
        if self.policy == "selective":
            return 0
        some, many = self.parameters.cuts
        return ALWAYS if triggered < some else 0 if triggered >= many else 1


# -- messages and snapshots --------------------------------------------------------------------------------------------

SIGNALS = ("congest", "relieve")


@frozen(cache_hash=True)
class CanonicalPruning(CanonicalMessage):
    """`CanonicalMessage` with what pruning adds. Every message of such a trace is compared as one."""

    distance: int = 0
    count: int = 0
    cuts: Cuts | None = None

    def __str__(self) -> str:
        if self.kind == "publish":
            return f"{super().__str__()} with the header {self.distance}, {self.count}"
        if self.cuts is None:
            return super().__str__()
        return f"{super().__str__()} with {', '.join(map(_shown, self.cuts)) or 'an empty list'}"


def _shown(cut: Cut) -> str:
    return f"{cut.advertisement}: {' '.join('no end' if d is None else str(d) for d in cut.distances)}"


class PruningMeaning(MessageMeaning):
    """`base` is what it means in the core: the same for all copies of a publication."""

    __slots__ = ("base", "count", "cuts", "distance")

    def __init__(self, base: MessageMeaning, message: TraceMessage) -> None:
        for name in MessageMeaning.__slots__:
            setattr(self, name, getattr(base, name))
        self.base = base
        self.distance, self.count = header_in(message)
        self.cuts: Cuts | None = cuts_in_trace(message)
        if base.kind in SIGNALS:
            self.items = ()
        if self.distance or self.count or self.cuts is not None:
            self.digest = _digest(base.digest, self.distance, self.count, self.cuts)

    @property
    def content(self) -> int:
        """Digest of the content without the header."""
        return self.base.content

    @property
    def said(self) -> CanonicalMessage:
        said = super().said
        return CanonicalPruning(said.kind, said.about, said.event, self.distance, self.count, self.cuts)


def _digest(base: int, *more: object) -> int:
    hashed = blake2b(base.to_bytes(8, "big", signed=True), digest_size=8)
    hashed.update(repr(more).encode("utf-8", "surrogatepass"))
    return int.from_bytes(hashed.digest(), "big", signed=True)


def pruning_in_trace(message: TraceMessage) -> CanonicalPruning:
    """Canonical form of a trace's message; `TraceError` if its filter or event cannot be read."""
    said = canonical_in_trace(message)
    return CanonicalPruning(said.kind, said.about, said.event, *header_in(message), cuts_in_trace(message))


def pruning_in_model(message: Hashable) -> CanonicalMessage:
    said = canonical_in_model(message)
    match message:
        case Publish():
            return CanonicalPruning(said.kind, said.about, said.event, met(message).distance, met(message).count)
        case Unsubscribe():
            return CanonicalPruning(said.kind, said.about, said.event, cuts=cuts_of(message))
    return CanonicalPruning(said.kind, said.about, said.event)


# -- snapshots --------------------------------------------------------------------------------------------------------


def differ(tables: PruningTables, told: TraceTables, name_of: Callable[[Node], str]) -> tuple[str, str] | None:
    """Where a snapshot and the model's tables differ: what the model has there, what the snapshot says."""
    found = comparison.differ(tables, told, name_of)
    if found is not None:
        return found
    known = TraceTables.of(tables, name_of)
    ours_of, bare, others = dict(known.more), dict(known.without_filters().more), dict(told.without_filters().more)
    for part, theirs in told.more:
        ours = ours_of[part]
        if ours == theirs:
            continue
        if bare[part] != others[part]:
            return f"in {part}: {_difference(ours, theirs)}", f"in {part}: {_difference(theirs, ours)}"
        if not _leaves_out_filters(PruningParts.of(told), part):
            return f"in {part}: other filters", f"in {part}: the same ids"
    return None


def _leaves_out_filters(told: PruningParts, part: str) -> bool:
    entries = [each for _, many in told.retained or () for each in many]
    if part == "held":
        entries = [each.entry for each in told.held or ()]
    return any(entry.filter is None for entry in entries)


def _difference(these: object, those: object) -> str:
    """Elements that only the first tuple has, in short."""
    if not isinstance(these, tuple) or not isinstance(those, tuple):
        return str(these).lower()
    only = [_named(each) for each in these if each not in those]
    return ", ".join(only[:5]) + (", ..." if len(only) > 5 else "") or ("nothing more" if these != () else "nothing")


def _named(each: object) -> str:
    match each:
        case (str(neighbour), tuple(entries)):
            return f"{' '.join(entry.id for entry in entries)} for {neighbour}"
        case (str(subscription), str(advertisement), tuple(rows)):
            shown = " ".join(f"{r.publication}:{r.distance},{r.count}" for r in rows[-5:])
            return f"{subscription} of {advertisement}: {shown}"
    entry = getattr(each, "entry", None)
    return f"the withdrawal of {entry.id}" if isinstance(entry, Entry) else str(each)


def tables_of(told: TraceTables, neighbours: Mapping[str, Node], ranks: Mapping[str, int]) -> PruningTables | None:
    """The tables that a snapshot tells; None where it does not tell all of them, or none that a broker can have."""
    parts = PruningParts.of(told)
    if told.sent is None or parts.retained is None or parts.rows is None or parts.held is None:
        return None
    if parts.congested is None:
        return None
    retained = dict(parts.retained)
    if not set(retained) <= set(neighbours):
        return None
    beside = {name: {entry.id for entry in entries} for name, entries in retained.items()}
    if any(not ids <= set(dict(told.sent).get(name, ())) for name, ids in beside.items()):
        return None
    sent = tuple((name, tuple(id for id in ids if id not in beside.get(name, ()))) for name, ids in told.sent)
    core = comparison.tables_of(evolve(told, sent=tuple((n, ids) for n, ids in sent if ids)), neighbours, ranks)
    if core is None:
        return None
    known = {s.id: s for s, _ in core.subs}
    hops = {"": LOCAL, **neighbours}

    def subscription(entry: Entry) -> Subscription:
        """The broker's subscription of this id, or the entry's own; `LookupError` if that has no filter."""
        if entry.id in known and entry.filter in (None, known[entry.id].filter):
            return known[entry.id]
        if entry.filter is None:
            raise LookupError(entry.id)
        return Subscription(ranks.get(entry.id, 0), entry.id, entry.filter)

    tables = PruningTables(core.advs, core.subs, core.sent, congested=parts.congested)
    try:
        for name, entries in retained.items():
            neighbour, kept = neighbours[name], tuple(map(subscription, entries))
            tables = tables.with_sent(neighbour, (*tables.sent_to(neighbour), *kept)).with_retained(neighbour, kept)
        held = tuple((hops[w.entry.hop], withdraw(subscription(w.entry), w.cuts)) for w in parts.held)
        rows = sorted(((known[s], a, row) for s, a, row in parts.rows), key=lambda row: (by_id(row[0]), row[1]))
    except LookupError:
        return None
    return evolve(tables, rows=tuple(rows), held=held)
