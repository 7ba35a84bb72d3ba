"""What brokers that share one universe may be told: anything, in any order, from anybody.

Other than in `tests/impl/talk.py`, ids come more than once, with other filters; several brokers listen; tables may be
taken from anywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias, TypeVar

from attrs import frozen
from hypothesis import strategies as st
from hypothesis.vendor.pretty import RepresentationPrinter

from routeproof.checker.fuzz.strategies import EVENT_SETS, PREDICATES, Draw, Shape, pick
from routeproof.model.filters import STRICT, Event, Filter, FilterError
from routeproof.model.messages import (
    Advertise,
    Advertisement,
    Message,
    PackedSubscribe,
    PackedUnsubscribe,
    Publication,
    Publish,
    Subscribe,
    Subscription,
    Unadvertise,
    Unsubscribe,
    describe,
)
from routeproof.model.overlay import LOCAL, Node, Overlay
from routeproof.model.tables import Tables
from tests.impl.filters import predicate_filters
from tests.impl.filters import tables as events

T = TypeVar("T", Advertisement, Subscription)

HUB: Node = 1

RESTORE = "restore"
"""A broker goes on from its own tables."""
CRASH = "crash"

Said: TypeAlias = tuple[int, Node, Message | str]
"""Which broker is told, by whom, and what."""

KINDS = (
    ("subscribe",) * 8
    + ("unsubscribe",) * 5
    + ("advertise",) * 4
    + ("unadvertise",) * 2
    + ("publish",) * 3
    + ("many", "many", RESTORE, CRASH)
)


@frozen
class Speech:
    """`start`: the tables with which each broker begins."""

    overlay: Overlay
    policy: str
    start: tuple[Tables, ...]
    said: tuple[Said, ...]

    def _repr_pretty_(self, printer: RepresentationPrinter, cycle: bool) -> None:
        told = (f"{b}<{n}: {m if isinstance(m, str) else describe(m)}" for b, n, m in self.said)
        printer.text(f"{self.policy}, {len(self.overlay.edges)} neighbours; {'; '.join(told)}; from {self.start!r}")


@st.composite
def speeches(draw: Draw, policies: Sequence[str], stated: bool = False) -> Speech:
    """`stated`: from any tables; otherwise from none."""
    filters, publications = draw(material())
    overlay = Overlay.of((HUB, leaf) for leaf in range(2, 2 + pick(draw, (1, 2, 2, 3, 4))))
    hops = (LOCAL, *overlay.neighbours(HUB))
    ids = range(pick(draw, (2, 4, 8)))
    subscriptions = [_named(draw, Subscription, "s", ids, each) for each in filters]
    advertisements = [_named(draw, Advertisement, "a", range(4), pick(draw, filters)) for _ in range(5)]
    brokers = range(pick(draw, (1, 1, 2, 3)))
    source: dict[object, Node] = {}
    said: list[Said] = []
    for _ in range(pick(draw, (3, 10, 25, 50))):
        kind, hop, broker = pick(draw, KINDS), pick(draw, hops), pick(draw, brokers)
        s, a = pick(draw, subscriptions), pick(draw, advertisements)
        from_there = pick(draw, (True, True, True, False))  # most withdrawals come from where they must
        match kind:
            case "subscribe":
                source[broker, s] = hop
                said.append((broker, hop, Subscribe(s)))
            case "unsubscribe":
                said.append((broker, source.get((broker, s), hop) if from_there else hop, Unsubscribe(s)))
            case "advertise":
                source.setdefault((broker, a), hop)
                said.append((broker, hop, Advertise(a)))
            case "unadvertise":
                where = source.get((broker, a), hop) if from_there else hop
                if source.get((broker, a)) == where:
                    del source[broker, a]
                said.append((broker, where, Unadvertise(a)))
            case "many":
                many = tuple(pick(draw, subscriptions) for _ in range(pick(draw, (1, 2, 3, 5))))
                subscribes = pick(draw, (True, False))
                said.append((broker, hop, PackedSubscribe(many) if subscribes else PackedUnsubscribe(many)))
            case "publish":
                said.append((broker, hop, Publish(Publication(0, "p", "a0", pick(draw, publications)))))
            case _:
                said.append((broker, LOCAL, kind))
    start = [_tables(draw, hops, subscriptions, advertisements) if stated else Tables() for _ in brokers]
    return Speech(overlay, pick(draw, policies), tuple(start), tuple(said))


@st.composite
def material(draw: Draw) -> tuple[list[Filter], list[Event]]:
    """Filters that have much to do with each other, and events: of one algebra."""
    kind = pick(draw, ("events", "predicates", "any predicates"))
    if kind == "any predicates":
        return draw(st.lists(predicate_filters(), min_size=1, max_size=14)), draw(st.lists(events(), min_size=1))
    algebra = EVENT_SETS if kind == "events" else PREDICATES
    shapes: list[Shape] = [algebra.fresh(draw)]
    for _ in range(pick(draw, range(1, 14))):
        derive = pick(draw, (algebra.narrower, algebra.wider, algebra.equal, None))
        shapes.append(algebra.fresh(draw) if derive is None else derive(draw, pick(draw, shapes)))
    drawn = [algebra.event(draw, pick(draw, shapes), pick(draw, shapes)) for _ in range(4)]
    return [algebra.filter(shape) for shape in shapes], drawn


@st.composite
def ranges_of_numbers(draw: Draw) -> tuple[list[Filter], list[Event]]:
    """Many ranges of the same attributes, with ends that are equal but for being open, or nearly equal."""
    ends = st.sampled_from(
        (0, 1, 2, 0.1, 0.5, 5e-324, -5e-324, 2**53, 2**53 + 1, 10**16, 10**400, -1, 1.0000000000000002)
    )
    operators = st.sampled_from(("<", "<=", ">", ">=", "=", "!="))
    conditions = st.lists(st.tuples(st.sampled_from(("x", "y")), operators, ends), min_size=1, max_size=3)
    filters = []
    for raw in draw(st.lists(conditions, min_size=1, max_size=40)):
        try:
            filters.append(STRICT.parse([list(each) for each in raw]))
        except FilterError:
            filters.append(STRICT.parse([list(raw[0])]))
    value = st.one_of(ends, ends, st.booleans(), st.just("1"))
    events = draw(st.lists(st.dictionaries(st.sampled_from(("x", "y", "z")), value), min_size=1, max_size=6))
    return list(filters), [STRICT.event(each) for each in events]


def _named(draw: Draw, kind: type[T], letter: str, ids: Sequence[int], its: Filter) -> T:
    """Ids that come again have the same rank, or another."""
    number = pick(draw, ids)
    return kind(pick(draw, (0, 0, 0, number, len(ids) - number)), f"{letter}{number}", its)


def _tables(
    draw: Draw, hops: Sequence[Node], subscriptions: Sequence[Subscription], advertisements: Sequence[Advertisement]
) -> Tables:
    """What no handler may have made, but entries in order and each once."""
    tables = Tables()
    for a in advertisements:
        if pick(draw, (True, True, False)):
            tables = tables.with_adv(a, pick(draw, hops))
    for s in subscriptions:
        if pick(draw, (True, True, False)):
            tables = tables.with_sub(s, pick(draw, hops))
    for neighbour in hops[1:]:
        told = [s for s in subscriptions if pick(draw, (False, False, True))]
        tables = tables.with_sent(neighbour, dict.fromkeys(told))
    return tables
