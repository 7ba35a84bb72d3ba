"""Runs of the experiments of 003: a corpus is drawn, and strategies are computed and evaluated for it.

Every run is `routeproof trees` on a corpus: the same steps, without files.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping

from attrs import Factory, evolve, frozen

from routeproof.checker.trees.engines import OnOneCore
from routeproof.checker.trees.planning import MULT, MULT2, TreesAnswer, TreesWish, answer, frame_of, planning_of
from routeproof.checker.trees.tables import TableRow, TableSource
from routeproof.impl.trees.corpus import Corpus, CorpusRecipe
from routeproof.impl.trees.multiple import Multiple, in_one_process, mult, mult2, strategy_of
from routeproof.impl.trees.strategy import RoutingCosts, evaluate

SEEDS = 3
"""Draws of each setting."""

LEVELS = (1, 2, 5, 10, 20, 40, 80, 120, 160, 240, 320, 480)
"""Numbers of trees of Figs. 6 and 7."""

FULL_NETWORKS = 0.03
"""The smallest scale at which networks have all their brokers."""

PAPER, LARGE = 0.03, 0.5
"""Samples: the paper's, and one with which hardly a keyword is without a document."""

SOURCES = tuple(TableSource(role, "drawn", role, role) for role in ("network", "documents", "subscriptions"))


class _Drawn(OnOneCore):
    """The steps on one core, with rows of a corpus."""

    def __init__(self, corpus: Corpus) -> None:
        super().__init__()
        self._corpus = corpus

    def rows(self, source: TableSource) -> Iterator[TableRow]:
        network = self._corpus.network
        names = network.names
        if source.role == "network":
            for low, high in zip(network.low.tolist(), network.high.tolist(), strict=True):
                yield {"from": names[low], "to": names[high]}
        elif source.role == "documents":
            for id, publisher, size, words in self._corpus.documents:
                yield {"id": id, "publisher": names[publisher], "size": size, "keywords": words}
        else:
            for id, broker, interest in self._corpus.subscriptions:
                yield {"id": id, "broker": names[broker], "keywords": [word for (word,) in interest]}


@frozen
class CorpusCosts:
    """Figures of one run."""

    cost: Mapping[str, int]
    """By strategy."""
    trees: int
    duplicates: int
    levels: tuple[tuple[int, int, int], ...] = ()
    """Number of trees, cost of all documents, duplicates."""
    study: tuple[tuple[float, int], ...] = ()
    """Share of the sample, cost of all documents."""
    seconds: Mapping[str, float] = Factory(dict)
    """CPU seconds of an algorithm."""


@frozen
class CorpusRun:
    """A job of an experiment. `measure` is what is computed for the corpus."""

    name: str
    recipe: CorpusRecipe
    wish: TreesWish
    measure: Callable[[CorpusRecipe, TreesWish], CorpusCosts]

    def run(self) -> CorpusCosts:
        return self.measure(self.recipe, self.wish)


def compared(recipe: CorpusRecipe, wish: TreesWish) -> CorpusCosts:
    """All strategies, MULT2, and MULT from a large sample."""
    corpus = recipe.drawn()
    found = answer(SOURCES, wish, _Drawn(corpus))
    large = answer(SOURCES, evolve(wish, sample=LARGE, compare=False, study=False), _Drawn(corpus))
    by_cost = answer(SOURCES, evolve(wish, algorithm=MULT2, compare=False, study=False), _Drawn(corpus))
    costs = _costs(found) | _costs(by_cost) | {f"{MULT}, large sample": large.costs[MULT].cost}
    study = tuple((row.share, row.cost) for row in found.study)
    duplicates = large.costs[MULT].duplicates
    return CorpusCosts(costs, len(large.strategies[MULT]), duplicates, (), study)


def _costs(found: TreesAnswer) -> dict[str, int]:
    return {name: costs.cost for name, costs in found.costs.items()}


def at_levels(recipe: CorpusRecipe, wish: TreesWish) -> CorpusCosts:
    """All documents on the trees of each level of MULT, and on those of MULT2."""
    steps = _Drawn(recipe.drawn())
    found = answer(SOURCES, wish, steps)
    frame = found.frame
    planning = planning_of(frame, wish, sorted(found.report.sampled), in_one_process)
    tree = planning.tree
    (block,) = steps.blocks

    def all_documents(chosen: Multiple) -> RoutingCosts:
        strategy = strategy_of(planning, frame.subscriptions, chosen)
        return evaluate(frame.network, strategy, frame.subscriptions, block.documents, block.matched)

    levels = []
    for k in sorted({min(k, tree.units) for k in LEVELS} | {tree.units}):
        clusters = tuple(tree.of_node(node) for node in tree.level(k))
        total = all_documents(Multiple(clusters, tuple(planning.compute(units) for units in clusters)))
        levels.append((k, total.cost, total.duplicates))
    by_cost = mult2(planning)
    costs = _costs(found) | {MULT2: all_documents(by_cost).cost, "trees of mult2": len(by_cost.clusters)}
    return CorpusCosts(costs, len(found.strategies[MULT]), found.costs[MULT].duplicates, tuple(levels))


def timed(recipe: CorpusRecipe, wish: TreesWish) -> CorpusCosts:
    """CPU seconds of MULT and of MULT2, without what both need: distances, the sample and the order of merges."""
    steps = _Drawn(recipe.drawn())
    network, documents, subscriptions = SOURCES
    frame = frame_of(network, subscriptions, wish, steps)
    sampled = sorted(row for report in steps.read(documents, frame, wish) for row in report.sampled)
    seconds, costs, trees = {}, {}, 0
    for name, algorithm in ((MULT, mult), (MULT2, mult2)):
        planning = planning_of(frame, wish, sampled, in_one_process)
        began = time.process_time()
        found = algorithm(planning)
        seconds[name] = time.process_time() - began
        costs[name], trees = found.cost, trees or len(found.clusters)
    return CorpusCosts(costs, trees, 0, (), (), seconds)


def runs(
    settings: Mapping[str, CorpusRecipe],
    wish: TreesWish,
    measure: Callable[[CorpusRecipe, TreesWish], CorpusCosts],
    scale: float,
    seed: int,
) -> list[CorpusRun]:
    """Each setting with several seeds. Below a scale of 0.03 networks shrink too."""
    found = []
    for name, recipe in settings.items():
        brokers = max(20, round(recipe.brokers * min(1.0, scale / FULL_NETWORKS)))
        for draw in range(SEEDS):
            drawn = evolve(recipe.scaled(scale), brokers=brokers, seed=SEEDS * seed + draw)
            found.append(CorpusRun(f"{name}, draw {draw + 1}", drawn, wish, measure))
    return found
