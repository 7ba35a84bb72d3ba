"""The figures of 004 V: what is varied, the rows next to the paper's figures, and the charts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from attrs import evolve

from routeproof.checker.experiments import Experiment, Findings, ResultRow, Said, paragraphs, said
from routeproof.checker.experiments.plots import Chart, PlotLine
from routeproof.checker.placement.running import GRAPE, POP, STATIC, AlgorithmSetting, PlacementRun, RunCosts
from routeproof.impl.workloads.stock import Stock, StockEnterprise

SETTINGS = (
    AlgorithmSetting(STATIC),
    AlgorithmSetting(POP),
    AlgorithmSetting(GRAPE, "load"),
    AlgorithmSetting(GRAPE, "delay"),
)
SPREADS = (1, 2, 4, 8, 16, 32, 62)
WEIGHTS = (1, 25, 50, 75, 100)
THRESHOLDS = (10, 50, 100, 400, 1_600, 12_800)

Outcomes = Mapping[str, RunCosts]
Measure = Callable[[RunCosts], float | None]

MEASURES: Mapping[str, tuple[str, Measure]] = {
    "message rate": ("messages of a broker, by second", lambda o: o.publications + o.control),
    "input load": ("share of time that brokers are busy", lambda o: o.load),
    "delay": ("ms", lambda o: o.delay),
    "hops": ("hops", lambda o: o.hops),
}
"""Measures that are compared, with their units."""

BEST: Mapping[tuple[str, str], Said] = {
    ("message rate", "pop"): said(15, "best"),
    ("message rate", "grape load 100"): said(15, "best"),
    ("input load", "pop"): said(36, "best"),
    ("input load", "grape load 100"): said(32, "best"),
    ("delay", "pop"): said(37, "best"),
    ("delay", "grape delay 100"): said(32, "best"),
}
"""004 I: reductions by up to 85 %, 64 and 68 %, 63 and 68 %, as what is left of 100. PlanetLab, the best of all X."""


ASSUMPTIONS = paragraphs("""
**numbers** 004 has its numbers of publishers and subscribers in an image that we do not have: 40 publishers with a
quote a second each, and 100 subscriptions to each stock.

**quotes** are drawn: independent days, of which a tenth and a half match. In the paper they are those of real stocks.

**time** A publication takes 3 ms at each broker (Table II of 000, active covering) and 1 ms on each link, and nothing
waits in a queue: with these numbers a broker at the root is busy for an eighth of the time. The messages of the
algorithms take no time at brokers. PlanetLab's delays, overloads and pings are not modelled: pings are equal.

**measured** Costs are those of the last third of the run, when publishers have moved; the share of the algorithms'
messages is that of the whole run.

**input load** is the share of time in which brokers handle publications, on average over all brokers.

**moves** take effect at once: no publication is made while a publisher waits. A move costs an advertisement, and an
update and a completion over each link; the subscriptions that follow it are not counted. A selection and a wait are
given in message times, so they are linear in the length of the path by construction.

**POP** A neighbour that a traced publication did not go to counts as 0. **GRAPE** The first broker is a candidate; 0
and 100 of the range are the least and the greatest candidate.
""")

CONFLICTS = paragraphs("""
The abstract and the conclusion have 85 % and 84 % as the greatest reduction of GRAPE's message rate.

004 III-A says that its formula traces more publications near the end of a window; it traces more at the beginning.

The paper's reductions are the best of all its runs, without the X at which they were measured.
""")

_experiment = partial(Experiment[Any], assumptions=ASSUMPTIONS, conflicts=CONFLICTS)


def _runs(
    recipes: Mapping[str, Stock], settings: Sequence[AlgorithmSetting], scale: float, seed: int
) -> list[PlacementRun]:
    """Each setting with each recipe, which is named by what is varied."""
    return [
        PlacementRun(f"{setting.name}, {varied}", recipe.scaled(scale), setting, seed)
        for varied, recipe in recipes.items()
        for setting in settings
    ]


def _left(outcome: RunCosts, static: RunCosts, measure: Measure) -> float | None:
    """The measure as a percentage of that of publishers that stay."""
    ours, before = measure(outcome), measure(static)
    return 100 * ours / before if ours is not None and before else None


def _percentages(at: str, name: str, outcome: RunCosts, static: RunCosts) -> list[ResultRow]:
    """Rows of each measure, in percent of static. `at` follows the quantity."""
    return [
        ResultRow(f"{quantity}{at}", name, None, _left(outcome, static, measure), "% of static")
        for quantity, (_, measure) in MEASURES.items()
    ]


def _overhead(at: str, name: str, outcome: RunCosts) -> ResultRow:
    return ResultRow(f"overhead{at}", name, None, 100 * outcome.control_share, "% of messages")


def _compared(
    outcomes: Outcomes, values: Sequence[str], what: str, best: Mapping[tuple[str, str], Said]
) -> list[ResultRow]:
    """Rows of each measure, in percent of static: the best of all values first, as the paper has it."""
    rows = []
    for name in (setting.name for setting in SETTINGS[1:]):
        pairs = {value: (outcomes[f"{name}, {value}"], outcomes[f"static, {value}"]) for value in values}
        for quantity, (_, measure) in MEASURES.items():
            left = [each for pair in pairs.values() if (each := _left(*pair, measure)) is not None]
            paper = best.get((quantity, name))
            rows.append(ResultRow(f"{quantity}, best", name, paper, min(left, default=None), "% of static"))
        for value, (outcome, static) in pairs.items():
            at = f", {what} {value}"
            rows += [*_percentages(at, name, outcome, static), _overhead(at, name, outcome)]
    return rows


def _overheads(outcomes: Outcomes, values: Sequence[str], paper: Mapping[str, Said]) -> list[ResultRow]:
    names = [setting.name for setting in SETTINGS[1:]]
    largest = {name: max(100 * outcomes[f"{name}, {value}"].control_share for value in values) for name in names}
    return [ResultRow("overhead, largest", name, paper.get(name), largest[name], "% of messages") for name in names]


def _charts(
    across: str,
    lines: Mapping[str, Sequence[tuple[float, RunCosts]]],
    measures: Mapping[str, tuple[str, Measure]] = MEASURES,
    *,
    log_x: bool = True,
) -> dict[str, Chart]:
    """A chart of each measure. `lines`: by name, what is varied and the costs there."""
    charts = {}
    for quantity, (unit, measure) in measures.items():
        series = [
            PlotLine(name, [(x, y) for x, costs in found if (y := measure(costs)) is not None])
            for name, found in lines.items()
        ]
        charts[quantity.replace(" ", "-")] = Chart(quantity, across, unit, series, log_x=log_x)
    return charts


def _paths(outcomes: Outcomes, values: Sequence[str]) -> dict[str, Chart]:
    """Selection and waiting time against the length of the path."""
    charts = {}
    for name, title in (("selections", "selection time"), ("waits", "waiting time of the publisher")):
        series = []
        for setting in SETTINGS[1:]:
            found: dict[int, float] = {}
            for value in values:
                for links, took in getattr(outcomes[f"{setting.name}, {value}"], name):
                    found[links] = max(took, found.get(links, 0.0))
            series.append(PlotLine(setting.name, [(float(links), took) for links, took in sorted(found.items())]))
        if any(each.points for each in series):  # no publisher has moved
            charts[name] = Chart(title, "links of the move", "ms", series)
    return charts


def _spreads(recipe: Stock) -> dict[str, Stock]:
    return {str(spread): evolve(recipe, spread=spread) for spread in SPREADS}


def _conclude_spreads(
    best: Mapping[tuple[str, str], Said], overhead: Mapping[str, Said]
) -> Callable[[Outcomes], Findings]:
    values = [str(spread) for spread in SPREADS]

    def conclude(outcomes: Outcomes) -> Findings:
        rows = [*_compared(outcomes, values, "X", best), *_overheads(outcomes, values, overhead)]
        lines = {s.name: [(float(value), outcomes[f"{s.name}, {value}"]) for value in values] for s in SETTINGS}
        return Findings(rows, _charts("brokers with subscribers (X)", lines) | _paths(outcomes, values))

    return conclude


ENTERPRISE = _experiment(
    figure="004, Fig. 5",
    about="POP and GRAPE, enterprise workload: those who want everything are at one broker, others at X - 1.",
    scale=0.2,
    plan=lambda scale, seed: _runs(_spreads(StockEnterprise()), SETTINGS, scale, seed),
    conclude=_conclude_spreads(BEST, {"pop": said(32), "grape load 100": said(16), "grape delay 100": said(16)}),
)

RANDOM = _experiment(
    figure="004, Fig. 6",
    about="POP and GRAPE, random workload: subscribers of all rates are spread over X brokers.",
    scale=0.2,
    plan=lambda scale, seed: _runs(_spreads(Stock()), SETTINGS, scale, seed),
    conclude=_conclude_spreads({}, {"grape load 100": said(5, "<="), "grape delay 100": said(5, "<=")}),
)

TREES = {"fan-out 2": (63, 2), "fan-out 4": (63, 4), "cluster": (127, 2), "cluster, fan-out 4": (127, 4)}
"""By name the number of brokers and the fan-out."""


def _plan_trees(scale: float, seed: int) -> list[PlacementRun]:
    recipes = {
        name: evolve(StockEnterprise(), brokers=brokers, fan_out=fan_out) for name, (brokers, fan_out) in TREES.items()
    }
    return _runs(recipes, SETTINGS, scale, seed)


def _conclude_trees(outcomes: Outcomes) -> Findings:
    lines = {s.name: [(float(at), outcomes[f"{s.name}, {name}"]) for at, name in enumerate(TREES, 1)] for s in SETTINGS}
    return Findings(_compared(outcomes, list(TREES), "on", BEST), _charts(", ".join(TREES), lines))


FAN_OUT = _experiment(
    figure="004, Fig. 6c",
    about="The enterprise workload on trees of 63 and 127 brokers with fan-outs of 2 and 4.",
    scale=0.2,
    plan=_plan_trees,
    conclude=_conclude_trees,
    assumptions=ASSUMPTIONS
    + paragraphs("""
**cluster** Twenty machines with six to seven brokers each: a full tree of 127 brokers is nearest to it.
"""),
)

WEIGHTED = [AlgorithmSetting(GRAPE, metric, weight) for metric in ("load", "delay") for weight in WEIGHTS]


def _conclude_weights(outcomes: Outcomes) -> Findings:
    """The paper's best figures belong to the ends of the weights."""
    static, costs = outcomes["static, 16"], {s: outcomes[f"{s.name}, 16"] for s in WEIGHTED}
    rows = [
        evolve(row, paper=BEST.get((row.quantity, setting.name)))
        for setting, each in costs.items()
        for row in _percentages("", setting.name, each, static)
    ]
    lines = {
        f"grape {metric}": [(s.weight, each) for s, each in costs.items() if s.metric == metric]
        for metric in ("load", "delay")
    }
    return Findings(rows, _charts("weight", lines, log_x=False))


WEIGHTS_STUDY = _experiment(
    figure="004, Fig. 7a",
    about="GRAPE's weights between its two ends, with the enterprise workload; X is 16.",
    scale=0.2,
    plan=lambda scale, seed: _runs({"16": StockEnterprise()}, [AlgorithmSetting(STATIC), *WEIGHTED], scale, seed),
    conclude=_conclude_weights,
)


def _triggered(threshold: int) -> list[AlgorithmSetting]:
    """POP traces half of its threshold in a window at most (004 V-B4)."""
    return [
        AlgorithmSetting(POP, threshold=threshold, traced=max(1, threshold // 2)),
        AlgorithmSetting(GRAPE, "load", threshold=threshold),
        AlgorithmSetting(GRAPE, "delay", threshold=threshold),
    ]


def _plan_thresholds(scale: float, seed: int) -> list[PlacementRun]:
    recipe = StockEnterprise().scaled(scale)
    runs = [PlacementRun("static", recipe, AlgorithmSetting(STATIC), seed)]
    return runs + [PlacementRun(f"{s.name}, {n}", recipe, s, seed) for n in THRESHOLDS for s in _triggered(n)]


def _conclude_thresholds(outcomes: Outcomes) -> Findings:
    rows, names = [], [setting.name for setting in _triggered(1)]
    for name in names:
        for threshold in THRESHOLDS:
            outcome, at = outcomes[f"{name}, {threshold}"], f", threshold {threshold:,}"
            never = said(0) if threshold == THRESHOLDS[-1] and name != POP else None
            rows += [ResultRow(f"moves{at}", name, never, outcome.moves), _overhead(at, name, outcome)]
            rows += _percentages(at, name, outcome, outcomes["static"])
    measures: dict[str, tuple[str, Measure]] = {**MEASURES, "overhead": ("%", lambda o: 100 * o.control_share)}
    lines = {name: [(float(n), outcomes[f"{name}, {n}"]) for n in THRESHOLDS] for name in names}
    return Findings(rows, _charts("threshold", lines, measures))


THRESHOLDS_STUDY = _experiment(
    figure="004, Fig. 7b",
    about="From 10 to 12,800 traced publications before a selection, with the enterprise workload; X is 16.",
    scale=0.2,
    plan=_plan_thresholds,
    conclude=_conclude_thresholds,
    assumptions=ASSUMPTIONS
    + paragraphs("""
**windows** POP traces at most half of its threshold in a window, as the paper has it for this study.
"""),
)


EXPERIMENTS: Mapping[str, Experiment[Any]] = {
    "004-fig5": ENTERPRISE,
    "004-fig6": RANDOM,
    "004-fanout": FAN_OUT,
    "004-weights": WEIGHTS_STUDY,
    "004-thresholds": THRESHOLDS_STUDY,
}
"""The experiments of the paper: publishers that stay, and publishers that POP or GRAPE moves."""
