"""The experiments of 002: settings, rows next to the paper's figures, and charts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import accumulate
from typing import Any

from attrs import evolve, frozen

from routeproof.checker.experiments import Experiment, Findings, ResultRow, Said, paragraphs, said
from routeproof.checker.experiments.plots import Chart, PlotLine, Point
from routeproof.impl.mesh.population import CoveringFigures, MeshFigures, MeshPopulation, covered, played

STRATEGIES = ("S0", "S1", "S2", "SH")
DATASETS = {"DT1": 8.06, "DT2": 23.9}
"""Percent of brokers that match a publication: what the paper's numbers of deliveries come to (FLAG-8)."""


@frozen
class PopulationRun:
    name: str
    recipe: MeshPopulation
    measure: Callable[[MeshPopulation], Any]

    def run(self) -> Any:
        return self.measure(self.recipe)


Outcomes = Mapping[str, MeshFigures]


ASSUMPTIONS = paragraphs("""
**network** The tree is filled level by level; the paper gives the degree only. Publishers are drawn among all.

**data sets** are drawn: a publication has a topic, and a topic has the brokers that match it. Popularity falls with the
square root of the rank, so that the mean is the paper's. Homes are drawn among all brokers.

**links** are chosen in eight rounds before the measurement, by what S2 sends, with the factor max (LINK-3). The rules
are those of `spec/mesh.md`; thresholds and the number of candidates are ours.

**time** A hop takes 1 ms, and brokers take no time. A capped uplink sends one message after the other, and its queue
has no bound. An uplink counts as loaded (FWD-7) if more than 80 ms of messages wait.

**scale** is the share of publications; networks have their full size from 0.005 on.
""")

CONFLICTS = paragraphs("""
3,600 publications a second are printed, and only a minute is possible: 36,000 to 8.06 % of 120 brokers are the
348,000 deliveries of Table 2, and S0's whole traffic is 3,400 messages a second (FLAG-9).

The column "match" is of brokers for DT1; for DT2 53 % is printed, and the deliveries are those of 23.9 % (FLAG-8).

"Up to 50 %" of delay are 11 % (S1) and 34 % (S2) in the printed means; the yield of 77 % that is claimed for S2 is
SH's, S2 has 76 % (FLAG-10).
""")


_experiment = partial(Experiment[Any], assumptions=ASSUMPTIONS, conflicts=CONFLICTS)


# -- Table 2 and Fig. 9 ------------------------------------------------------------------------------------------------

PURE = {"DT1": (559, 348, 216, 195), "DT2": (1_010, 687, 325, 300)}
"""Thousands of pure forwarders, by strategy, for 36,000 publications."""
DELIVERED = {"DT1": 348, "DT2": 1_034}
YIELD = {"DT1": (38, 50, 61, 64), "DT2": (50, 60, 76, 77)}
DELAY = (14.0, 12.5, 9.3, 9.3)
TRAFFIC = (3_400, 2_850, 2_200, 2_200)
PUBLISHED = 36_000


def _plan_table(scale: float, seed: int) -> list[PopulationRun]:
    return _each_strategy({name: MeshPopulation(matching=share, seed=seed) for name, share in DATASETS.items()}, scale)


def _each_strategy(populations: Mapping[str, MeshPopulation], scale: float) -> list[PopulationRun]:
    return [
        PopulationRun(f"{name}, {strategy}", evolve(population, strategy=strategy).scaled(scale), played)
        for name, population in populations.items()
        for strategy in STRATEGIES
    ]


def _conclude_table(outcomes: Outcomes) -> Findings:
    rows: list[ResultRow] = []
    charts = {}
    for dataset in DATASETS:
        found = {strategy: outcomes[f"{dataset}, {strategy}"] for strategy in STRATEGIES}
        for at, (strategy, each) in enumerate(found.items()):
            rows += _table_rows(dataset, at, strategy, each, found["S0"])
        charts[f"hops-{dataset.lower()}"] = _distributions(f"hops of deliveries, {dataset}", found)
    return Findings(rows, charts)


def _table_rows(dataset: str, at: int, strategy: str, each: MeshFigures, s0: MeshFigures) -> Iterator[ResultRow]:
    published = max(1, each.published)
    served = max(1, each.delivered)

    def row(quantity: str, paper: Said | None, ours: float | None, unit: str = "") -> ResultRow:
        return ResultRow(f"{quantity}, {dataset}", strategy, paper, ours, unit)

    delivered, pure = (_rounded(many * 1_000 / PUBLISHED) for many in (DELIVERED[dataset], PURE[dataset][at]))
    yield row("deliveries / publication", delivered, each.delivered / published)
    yield row("pure forwarders / publication", pure, each.pure / published)
    yield row("yield", said(YIELD[dataset][at]), 100 * each.delivered / max(1, each.handled), "%")
    yield row("mean hops", None, each.hops / served)
    yield row("mean hops / S0", None, each.hops * max(1, s0.delivered) / served / s0.hops if s0.hops else None)
    is_dense = dataset == "DT2"
    if is_dense:
        rate = row("traffic", said(TRAFFIC[at]), 60 * each.copies / published, "messages / s")
        yield evolve(rate, note="copies over links")
    ours = each.delay * max(1, s0.delivered) / served / s0.delay if s0.delay else None
    yield row("mean delay / S0", _rounded(DELAY[at] / DELAY[0]) if is_dense else None, ours)


def _rounded(paper: float) -> Said:
    return said(round(paper, 2))


def _distributions(title: str, outcomes: Outcomes) -> Chart:
    """A line for each strategy: the share of deliveries up to a number of hops."""
    lines = []
    for strategy, each in outcomes.items():
        shares = accumulate(many for _, many in sorted(each.by_hops.items()))
        points = [
            (float(hops), up_to / each.delivered) for hops, up_to in zip(sorted(each.by_hops), shares, strict=True)
        ]
        lines.append(PlotLine(strategy, points))
    return Chart(title, "hops", "share up to", lines)


TABLE2 = _experiment(
    figure="002, Table 2, Fig. 9",
    about="Pure forwarders, yield, hops, delay and traffic of S0, S1, S2 and SH; 120 brokers, sparse and dense.",
    scale=0.05,
    plan=_plan_table,
    conclude=_conclude_table,
)


# -- sizes -------------------------------------------------------------------------------------------------------------

SIZES = {"C1": 120, "C2": 250, "C3": 500}


def _plan_sizes(scale: float, seed: int) -> list[PopulationRun]:
    return _each_strategy(
        {name: MeshPopulation(brokers=brokers, matching=9.0, seed=seed) for name, brokers in SIZES.items()}, scale
    )


def _conclude_sizes(outcomes: Outcomes) -> Findings:
    rows = []
    lines: dict[str, list[Point]] = {strategy: [] for strategy in STRATEGIES}
    for name, brokers in SIZES.items():
        s0 = outcomes[f"{name}, S0"].pure
        for at, strategy in enumerate(STRATEGIES):
            each = outcomes[f"{name}, {strategy}"]
            hops = each.hops / max(1, each.delivered)
            paper = _rounded(PURE["DT1"][at] / PURE["DT1"][0]) if name == "C1" else None
            rows += [
                ResultRow(f"yield, {name}", strategy, None, 100 * each.delivered / max(1, each.handled), "%"),
                ResultRow(f"pure forwarders / S0, {name}", strategy, paper, each.pure / s0 if s0 else None),
                ResultRow(f"mean hops, {name}", strategy, None, hops),
            ]
            lines[strategy].append((float(brokers), hops))
    chart = Chart("mean hops", "brokers", "hops", [PlotLine(*line) for line in lines.items()])
    return Findings(rows, {"hops": chart})


CONFIGURATIONS = _experiment(
    figure="002, C1 to C3",
    about="Yield and hops of all strategies with 120, 250 and 500 brokers, of which 9 % match.",
    scale=0.03,
    plan=_plan_sizes,
    conclude=_conclude_sizes,
)


# -- Fig. 12 -----------------------------------------------------------------------------------------------------------

FANOUTS = (5, 10, 20, 35)


def _plan_covering(scale: float, seed: int) -> list[PopulationRun]:
    made = MeshPopulation(brokers=500, matching=4.0, topics=max(20, round(500 * scale)), seed=seed).scaled(scale)
    return [
        PopulationRun(f"fan-out {fanout}", evolve(made, fanout=fanout, maxlinks=fanout + 16), covered)
        for fanout in FANOUTS
    ]


def _conclude_covering(outcomes: Mapping[str, CoveringFigures]) -> Findings:
    first, rows = outcomes["fan-out 5"], []
    papers: dict[int, tuple[Said | None, ...]] = {10: (said(1.12), said(1.34))}
    lines: dict[str, list[Point]] = {"members of covering sets": [], "predicates evaluated": []}
    for fanout in FANOUTS:
        each = outcomes[f"fan-out {fanout}"]
        ratios = (each.members / first.members, each.evaluations / first.evaluations)
        for (what, points), paper, ratio in zip(lines.items(), papers.get(fanout, (None, None)), ratios, strict=True):
            points.append((float(fanout), ratio))
            if each is not first:
                rows.append(ResultRow(f"{what}, fan-out {fanout} / fan-out 5", "S2", paper, ratio))
    chart = Chart("covering by fan-out", "fan-out", "relative to 5", [PlotLine(*line) for line in lines.items()])
    return Findings(rows, {"covering": chart})


COVERING = _experiment(
    figure="002, Fig. 12",
    about="Covering sets and evaluated predicates by fan-out; 500 brokers, 10,000 subscriptions that cover each other.",
    scale=0.1,
    plan=_plan_covering,
    conclude=_conclude_covering,
    assumptions=ASSUMPTIONS
    + paragraphs("""
**covering** Subscriptions of a topic are nested in ten levels. All brokers are asked about 40 publications, without
regard to where these come from. Here the scale is the share of subscriptions.
"""),
)


# -- Fig. 13 and 14 ----------------------------------------------------------------------------------------------------


LARGER = {"DT3": 9.0}
"""The data set of Fig. 13b, for 250 brokers."""


def _saturated(population: MeshPopulation, datasets: Mapping[str, float], scale: float) -> list[PopulationRun]:
    """All strategies at 72,000 publications a minute, with every fan-out."""
    found = []
    for dataset, share in datasets.items():
        recipe = evolve(population, matching=share, publications=720_000, rate=1_200.0, uplink=900.0).scaled(scale)
        found.append(PopulationRun(f"{dataset}, S0", evolve(recipe, strategy="S0"), played))
        for fanout in FANOUTS:
            linked = evolve(recipe, fanout=fanout, maxlinks=fanout + 16)
            found += [
                PopulationRun(f"{dataset}, {strategy}, fan-out {fanout}", evolve(linked, strategy=strategy), played)
                for strategy in STRATEGIES[1:]
            ]
    return found


def _conclude_throughput(outcomes: Outcomes) -> Findings:
    rows, charts = [], {}
    best = 0.0
    for dataset in dict.fromkeys(name.partition(",")[0] for name in outcomes):
        s0 = max(1, outcomes[f"{dataset}, S0"].delivered)
        lines = []
        for strategy in STRATEGIES[1:]:
            gains = [(float(n), outcomes[f"{dataset}, {strategy}, fan-out {n}"].delivered / s0) for n in FANOUTS]
            rows.append(ResultRow(f"deliveries / S0, best, {dataset}", strategy, None, max(y for _, y in gains)))
            rows += [ResultRow(f"deliveries / S0, fan-out {n:g}, {dataset}", strategy, None, y) for n, y in gains]
            best = max(best, *(y for _, y in gains))
            lines.append(PlotLine(strategy, gains))
        charts[f"throughput-{dataset.lower()}"] = Chart(f"throughput, {dataset}", "fan-out", "deliveries / S0", lines)
    paper = said(2.15) if "DT1, S0" in outcomes else None
    rows.append(ResultRow("deliveries / S0, best of all", "any", paper, best))
    return Findings(rows, charts)


THROUGHPUT = _experiment(
    figure="002, Fig. 13",
    about="Deliveries of S1, S2 and SH at saturation, by fan-out, as multiples of those of S0; 120 brokers.",
    scale=0.005,
    plan=lambda scale, seed: _saturated(MeshPopulation(seed=seed), DATASETS, scale),
    conclude=_conclude_throughput,
    assumptions=ASSUMPTIONS
    + paragraphs("""
**saturation** The paper's brokers were saturated by their processors. Here every broker sends 900 messages a second at
most: what is delivered when the last publication is made counts.
"""),
)
THROUGHPUT_LARGER = evolve(
    THROUGHPUT,
    figure="002, Fig. 13b",
    about="The same with 250 brokers, of which 9 % match.",
    plan=lambda scale, seed: _saturated(MeshPopulation(brokers=SIZES["C2"], seed=seed), LARGER, scale),
)

SOCIAL = {"S1": 1.37, "S2": 2.15}
"""Deliveries as multiples of those of S0."""


def _plan_social(scale: float, seed: int) -> list[PopulationRun]:
    made = MeshPopulation(matching=6.5, rate=60.0, uplink=45.0, fanout=20, maxlinks=36, seed=seed).scaled(scale)
    return [PopulationRun(strategy, evolve(made, strategy=strategy), played) for strategy in ("S0", *SOCIAL)]


def _conclude_social(outcomes: Outcomes) -> Findings:
    s0 = max(1, outcomes["S0"].delivered)
    gains = {strategy: outcomes[strategy].delivered / s0 for strategy in SOCIAL}
    rows = [ResultRow("deliveries / S0", strategy, said(paper), gains[strategy]) for strategy, paper in SOCIAL.items()]
    return Findings(rows, {"hops": _distributions("hops of deliveries", _delivering(outcomes))})


def _delivering(outcomes: Outcomes) -> Outcomes:
    return {strategy: each for strategy, each in outcomes.items() if each.delivered}


SOCIAL_NETWORK = _experiment(
    figure="002, VI, DT-FB",
    about="Deliveries of S1 and S2 at saturation as multiples of those of S0; 120 brokers, of which 6.5 % match.",
    scale=0.05,
    plan=_plan_social,
    conclude=_conclude_social,
    assumptions=ASSUMPTIONS
    + paragraphs("""
**saturation** as for Fig. 13: every broker sends three messages for four publications of all publishers at most. The
trace of a social network is not published: homes are drawn among all brokers, by the share that matches.
"""),
)

CAPPED: dict[str, tuple[float, float]] = {"S1": (234, 5.93), "S2": (209, 3.38), "SH": (238, 5.80)}
"""Thousands of deliveries, and hops. That SH delivers more than S2 is stated, the rest of the assignment inferred."""


def _plan_capped(scale: float, seed: int) -> list[PopulationRun]:
    made = MeshPopulation(publications=72_000, rate=120.0, uplink=150.0, seed=seed).scaled(scale)
    return [PopulationRun(strategy, evolve(made, strategy=strategy), played) for strategy in CAPPED]


def _conclude_capped(outcomes: Outcomes) -> Findings:
    rows = []
    s2 = max(1, outcomes["S2"].delivered)
    for strategy, (delivered, hops) in CAPPED.items():
        each = outcomes[strategy]
        rows += [
            ResultRow("deliveries / S2", strategy, _rounded(delivered / CAPPED["S2"][0]), each.delivered / s2),
            ResultRow("mean hops", strategy, said(hops), each.hops / max(1, each.delivered)),
            ResultRow("copies / publication", strategy, None, each.copies / max(1, each.published)),
        ]
    return Findings(rows, {"hops": _distributions("hops of deliveries", _delivering(outcomes))})


UPLINKS = _experiment(
    figure="002, Fig. 14",
    about="S1, S2 and SH where each broker sends 150 messages a second at most; 120 brokers, sparse.",
    scale=0.05,
    plan=_plan_capped,
    conclude=_conclude_capped,
)


EXPERIMENTS: Mapping[str, Experiment[Any]] = {
    "002-table2": TABLE2,
    "002-sizes": CONFIGURATIONS,
    "002-fig12": COVERING,
    "002-fig13": THROUGHPUT,
    "002-fig13b": THROUGHPUT_LARGER,
    "002-social": SOCIAL_NETWORK,
    "002-fig14": UPLINKS,
}
"""The experiments of the paper: what links save, what they cost, and what they carry under load."""
