"""From tables to routing strategies and what they cost, in steps that one core or Spark takes (`PlanningSteps`).

`answer` is the whole of it: the network and the subscriptions are read here, documents by the engine, in blocks. The
sample is clustered, trees are computed, and every strategy is evaluated for all documents. All figures are whole
numbers, so nothing depends on how documents are divided into blocks.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Protocol, TypeVar

import numpy as np
from attrs import evolve, frozen

from routeproof.checker.system.errors import UsageError
from routeproof.checker.trees.blocks import DocumentBlock, DocumentReport, TreesFrame, joined
from routeproof.checker.trees.tables import (
    LARGEST,
    DocumentRow,
    RowFaults,
    TableRow,
    TableSource,
    link_of,
    subscription_of,
    values_of,
)
from routeproof.impl.trees import baselines
from routeproof.impl.trees.clustering import Start, Units
from routeproof.impl.trees.computing import ALL, Attachment, Computed
from routeproof.impl.trees.matching import Interest, Subscriptions, is_sampled, merged
from routeproof.impl.trees.multiple import (
    Each,
    Multiple,
    Planning,
    Readings,
    in_one_process,
    members_of,
    mult,
    mult2,
    single,
    strategy_of,
)
from routeproof.impl.trees.multiple import merged as planned
from routeproof.impl.trees.network import BrokerGraph, NetworkError
from routeproof.impl.trees.strategy import RoutingCosts, Strategy, evaluate
from routeproof.model.filters.interface import quoted

Result = TypeVar("Result")

MULT, MULT2, HYBRID = "mult", "mult2", "hybrid"
ALGORITHMS = (MULT, MULT2, HYBRID)
SINGLE, SPT, FLOODING, OPT = "single", "spt", "flooding", "opt"
CHANNELS, OWN_CHANNELS, FILTERED = "semcast of clusters", "semcast", "semcast filtered"

SHARES = (0.001, 0.003, 0.01, 0.03, 0.1, 0.2, 0.5)
"""Samples of the sampling study (003, Fig. 4)."""

BLOCK_DOCUMENTS = 200_000
"""Documents that are evaluated at once."""

MOST_UNITS_TO_PAIR = 3_000
"""Clusters at the beginning of MULT2, which computes a tree for each pair that shares a document."""


@frozen
class TreesWish:
    """The options of `routeproof trees`."""

    algorithm: str = MULT
    sample: float = 0.03
    seed: int = 0
    split: bool = False
    start: Start = "documents"
    levels: int | None = 16
    clusters: int = 64
    """Clusters that the hybrid begins MULT2 with (CLUS-5)."""
    steiner: str = "paths"
    attach: Attachment = "hub"
    compare: bool = True
    study: bool = False

    @property
    def readings(self) -> Readings:
        return Readings(ALL, self.steiner, self.attach, self.levels)

    @property
    def most_sampled(self) -> float:
        return max(self.sample, *SHARES) if self.study else self.sample


# -- evaluation --------------------------------------------------------------------------------------------------------


@frozen(eq=False)
class Evaluated:
    """A strategy to be evaluated; without filters, every document goes to all brokers of a cluster."""

    name: str
    strategy: Strategy
    filters: bool = True

    def costs(self, frame: TreesFrame, block: DocumentBlock) -> RoutingCosts:
        of = evaluate if self.filters else baselines.unfiltered
        return of(frame.network, self.strategy, frame.subscriptions, block.documents, block.matched)


Everything = tuple[TreesFrame, Sequence[Evaluated]]


def costs_of(everything: Everything, blocks: Iterable[DocumentBlock]) -> list[RoutingCosts]:
    """The costs of each strategy for all documents of some blocks."""
    frame, items = everything
    totals = [RoutingCosts.none(len(frame.network.low), len(each.strategy)) for each in items]
    for block in joined(blocks, BLOCK_DOCUMENTS):
        for total, each in zip(totals, items, strict=True):
            total.add(each.costs(frame, block))
    return totals


class PlanningSteps(Protocol):
    """The steps that depend on the engine."""

    def rows(self, source: TableSource) -> Iterator[TableRow]:
        """All rows of a table."""

    def later(self, work: Callable[[], Result]) -> Callable[[], Result]:
        """Some work whose result is needed later, when the returned function is called; it may begin at once."""

    def read(self, source: TableSource, frame: TreesFrame, wish: TreesWish) -> Iterator[DocumentReport]:
        """Reads the documents into blocks, and keeps them."""

    def each(self, function: Callable[[Any, Any], Any], shared: Any, tasks: Sequence[Any]) -> list[Any]:
        """`Each` of the reference implementation, for whatever tasks share."""

    def evaluated(self, everything: Everything) -> list[RoutingCosts]:
        """The costs of each strategy for all documents."""

    def opt(self, frame: TreesFrame, wish: TreesWish) -> RoutingCosts:
        """The costs of OPT for all documents: one Steiner tree for each distinct set of terminals."""


# -- the whole ---------------------------------------------------------------------------------------------------------


@frozen
class StudyRow:
    """One sample of the sampling study."""

    share: float
    sampled: int
    unsampled: int
    """Members of subscriptions that match no sampled document."""
    trees: int
    sample_cost: int
    cost: int
    duplicates: int


@frozen(eq=False)
class TreesAnswer:
    """Strategies, and what they cost."""

    sources: Sequence[TableSource]
    wish: TreesWish
    frame: TreesFrame
    report: DocumentReport
    sampled: int
    units: Units
    found: Multiple
    one: Computed | None
    """The tree for all subscriptions; None where no sampled document matches any."""
    strategies: Mapping[str, Strategy]
    costs: Mapping[str, RoutingCosts]
    """The chosen algorithm first."""
    study: Sequence[StudyRow]
    seconds: float


def answer(sources: Sequence[TableSource], wish: TreesWish, steps: PlanningSteps) -> TreesAnswer:
    """Computes strategies from the tables of links, documents and subscriptions."""
    began = time.perf_counter()
    network, documents, subscriptions = sources
    frame = frame_of(network, subscriptions, wish, steps)
    longest = steps.later(lambda: int(frame.network.distances.max()))
    report = DocumentReport()
    for part in steps.read(documents, frame, wish):
        report.add(part)
    report.faults.refuse(documents)
    if not report.documents:
        raise UsageError(f"{documents.shown}: the table of documents has no rows")
    _refuse_large(frame, longest(), report, documents)
    report.sampled.sort()
    studies = steps.later(lambda: list(_studied(frame, wish, report.sampled, steps)) if wish.study else [])
    optimum = steps.later(lambda: steps.opt(frame, wish) if wish.compare else None)
    planning = planning_of(frame, wish, report.sampled, steps.each)
    alone = steps.later(lambda: single(planning) if len(planning.units) else None)
    channels = steps.later(lambda: _channels(frame, planning, steps) if wish.compare else None)
    found = _found(planning, wish, steps, documents)
    strategy = strategy_of(planning, frame.subscriptions, found)
    items = [Evaluated(wish.algorithm, strategy)]
    one = alone()
    if (own := channels()) is not None:
        items += _compared(frame, wish, strategy, one, own)
    studied = studies()
    items += [each for each, _ in studied]
    costs = dict(zip([each.name for each in items], steps.evaluated((frame, items)), strict=True))
    study = [_study_row(row, costs.pop(each.name)) for each, row in studied]
    if (opt := optimum()) is not None:
        root = baselines.random_root(frame.network, wish.seed)
        costs[FLOODING] = baselines.flooding(frame.network, costs[SPT], report.matched_size, root)
        costs[OPT] = opt
    return TreesAnswer(
        sources,
        wish,
        frame,
        report,
        len(planning.units.documents),
        planning.units,
        found,
        one,
        {each.name: each.strategy for each in items if each.name in costs},
        costs,
        study,
        time.perf_counter() - began,
    )


def frame_of(network: TableSource, subscriptions: TableSource, wish: TreesWish, steps: PlanningSteps) -> TreesFrame:
    of_links, of_subscriptions = (steps.later(partial(steps.rows, each)) for each in (network, subscriptions))
    links = sorted(values_of(network, of_links(), link_of))
    try:
        graph = BrokerGraph.of(links)
    except NetworkError as error:
        raise UsageError(f"{network.shown}: {error}") from None
    number = {name: at for at, name in enumerate(graph.names)}
    wanted: dict[str, list[tuple[str, Interest]]] = {}
    for id, broker, each in values_of(subscriptions, of_subscriptions(), subscription_of):
        wanted.setdefault(id, []).append((broker, each))
    faults = RowFaults()
    rows = []
    for id, several in wanted.items():
        brokers = sorted({broker for broker, _ in several})
        if len(brokers) > 1:
            faults.note(id, f"it is at the brokers {quoted(brokers[0])} and {quoted(brokers[1])}")
        elif brokers[0] not in number:
            faults.note(id, f"the broker {quoted(brokers[0])} is not in the network")
        else:
            rows.append((id, number[brokers[0]], merged(each for _, each in several)))
    faults.refuse(subscriptions)
    return TreesFrame(graph, Subscriptions.of(rows, wish.split), number)


def _refuse_large(frame: TreesFrame, longest: int, report: DocumentReport, source: TableSource) -> None:
    """Refuses sizes and costs whose products would not be exact."""
    if 2 * report.size * len(frame.network) * longest >= LARGEST:
        raise UsageError(
            f"{source.shown}: the sizes of all documents, {report.size:,} in sum, times {len(frame.network):,} brokers,"
            f" times the longest distance, {longest:,}, exceed 2^52; give sizes or costs in larger units"
        )


def planning_of(frame: TreesFrame, wish: TreesWish, rows: Iterable[DocumentRow], each: Each) -> Planning:
    """The clusters that the sample begins with, and the order of merges."""
    kept = [row for row in rows if is_sampled(row[0], wish.seed, wish.sample)]
    sample = frame.subscriptions.documents((frame.number[row[1]], row[2], row[3]) for row in kept)
    units = Units.of(frame.subscriptions, sample, wish.start)
    return planned(frame.network, units, wish.readings, each)


def _found(planning: Planning, wish: TreesWish, steps: PlanningSteps, documents: TableSource) -> Multiple:
    if wish.algorithm == MULT:
        return mult(planning, steps.each)
    start = wish.clusters if wish.algorithm == HYBRID else None
    if start is None and len(planning.units) > MOST_UNITS_TO_PAIR:
        raise UsageError(
            f"{documents.shown}: mult2 would begin with {len(planning.units):,} clusters, and can with"
            f" {MOST_UNITS_TO_PAIR:,} at most; give --algorithm hybrid or a smaller --sample"
        )
    return mult2(planning, steps.each, start)


def _channels(frame: TreesFrame, planning: Planning, steps: PlanningSteps) -> Strategy:
    """The strategy of SemCast: the channels that cost least."""
    clusters = baselines.own_channels(planning, steps.each)
    return _channel_strategy(frame, members_of(planning, frame.subscriptions, clusters))


def _channel_strategy(frame: TreesFrame, clusters: Sequence[Any]) -> Strategy:
    host = frame.subscriptions.host
    return baselines.channel_strategy(frame.network, len(host), host, clusters)


def _compared(
    frame: TreesFrame, wish: TreesWish, first: Strategy, one: Computed | None, own: Strategy
) -> Iterator[Evaluated]:
    """The baselines that are routing strategies."""
    network, members = frame.network, len(frame.subscriptions.host)
    if one is None:
        yield Evaluated(SINGLE, first)
    else:
        yield Evaluated(SINGLE, Strategy.single(members, one.parents(network, wish.attach), one.construction))
    yield Evaluated(SPT, baselines.shortest_paths(network, members, wish.seed))
    yield Evaluated(OWN_CHANNELS, own, filters=False)
    yield Evaluated(FILTERED, own)
    clusters = [np.flatnonzero(first.cluster == at) for at in range(len(first))]
    yield Evaluated(CHANNELS, _channel_strategy(frame, clusters), filters=False)


Studied = tuple[Strategy, StudyRow]


def _studied(frame: TreesFrame, wish: TreesWish, rows: Sequence[DocumentRow], steps: PlanningSteps) -> Iterator[Any]:
    """MULT for each share of the sampling study, with its figures in the sample: a task for each share."""
    largest_first = sorted(SHARES, reverse=True)
    found = steps.each(_study, (frame, wish, rows), largest_first)
    for share, (strategy, row) in sorted(zip(largest_first, found, strict=True), key=lambda each: each[0]):
        yield Evaluated(f"study {share:g}", strategy), row


def _study(shared: tuple[TreesFrame, TreesWish, Sequence[DocumentRow]], share: float) -> Studied:
    frame, wish, rows = shared
    planning = planning_of(frame, evolve(wish, sample=share), rows, in_one_process)
    found = mult(planning)
    strategy = strategy_of(planning, frame.subscriptions, found)
    sampled, unsampled = len(planning.units.documents), len(planning.units.unsampled)
    return strategy, StudyRow(share, sampled, unsampled, len(strategy), found.cost, 0, 0)


def _study_row(row: StudyRow, costs: RoutingCosts) -> StudyRow:
    return evolve(row, cost=costs.cost, duplicates=costs.duplicates)
