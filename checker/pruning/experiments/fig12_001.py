"""Fig. 12 of 001: monitors, which want everything, move about a tiered topology."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from routeproof.checker.experiments.reproduce.experiment import Experiment, Findings, Row, said
from routeproof.checker.pruning.experiments.simulation import Outcome, Simulation
from routeproof.checker.pruning.experiments.words import CONGESTED, PRICES_001, delay, lines, paragraphs, times, worst
from routeproof.impl.workloads.tiered import Tiered, TieredAll
from routeproof.impl.workloads.workload import tiered
from routeproof.model.overlay import Node

ALGORITHMS = ("active", "selective")
RECIPES = {"monitors": Tiered(), "all": TieredAll()}
CORE = 1


def plan(scale: float, seed: int) -> list[Simulation]:
    return [
        Simulation(f"{algorithm}, {who} move", recipe.scaled(scale), algorithm, seed, subscription=CONGESTED)
        for who, recipe in RECIPES.items()
        for algorithm in ALGORITHMS
    ]


def tiers() -> dict[int, list[Node]]:
    """Brokers by their tier; the core is the first."""
    recipe = RECIPES["monitors"]
    overlay = tiered(recipe.regions, recipe.fan_out, recipe.tiers).overlay
    found = defaultdict(list)
    for broker in overlay.brokers:
        found[len(overlay.path(CORE, broker))].append(broker)
    return found


def conclude(outcomes: Mapping[str, Outcome]) -> Findings:
    rows: list[Row] = []
    for who in RECIPES:
        active, selective = (outcomes[f"{algorithm}, {who} move"] for algorithm in ALGORITHMS)
        what = f"{who} move"
        rows += [
            Row(f"longest queue of the core, {what}", "active", None, active.brokers[CORE].queue, "", GROWS),
            Row(f"longest queue of the core, {what}", "selective", said(0, "virtually"), selective.brokers[CORE].queue),
        ]
        for algorithm, each in zip(ALGORITHMS, (active, selective), strict=True):
            tables = [size for _, size in each.mean_table_over_time]
            rows += [
                Row(f"longest queue anywhere, {what}", algorithm, None, max(n.queue for n in each.brokers.values())),
                Row(f"mean delay, {what}", algorithm, None, delay(each), "s"),
                Row(f"longest delay, {what}", algorithm, None, worst(each), "s"),
                Row(f"mean table, at the first move, {what}", algorithm, None, tables[0]),
                Row(f"mean table, in the end, {what}", algorithm, None, tables[-1]),
            ]
        rows.append(times(f"mean delay, {what}", "active", "selective", None, delay(active), delay(selective)))
        for tier, brokers in tiers().items():
            at = f"tier {tier}, {what}"
            rows += [
                Row(f"publications at a broker, {at}", "active", None, active.mean(lambda n: n.publications, brokers)),
                Row(
                    f"publications at a broker, {at}",
                    "selective",
                    None,
                    selective.mean(lambda n: n.publications, brokers),
                ),
                Row(
                    f"in vain at a broker, {at}",
                    "selective",
                    None,
                    selective.mean(lambda n: n.in_vain, brokers),
                    "",
                    MOST,
                ),
            ]
    return Findings(
        rows,
        {
            "delay": lines("Delay of publications", "mean delay (s)", outcomes, lambda o: o.delay_over_time, log=True),
            "queue": lines("Longest queue of core and regions", "messages", outcomes, lambda o: o.queue_over_time),
            "table": lines("Routing tables of all brokers", "mean size", outcomes, lambda o: o.mean_table_over_time),
        },
    )


GROWS = "large and growing in the paper"
MOST = "the lower tiers carry most of it in the paper"

EXPERIMENT = Experiment(
    figure="001, Fig. 12",
    about="Four monitors, which want everything, move between brokers; then all other subscribers move as well.",
    scale=0.05,
    plan=plan,
    conclude=conclude,
    assumptions=(
        PRICES_001,
        *paragraphs("""
**topology** Fig. 11 is an image: one core broker, and below it four regions, which are trees of three more tiers.

**monitors** have equal filters and move anywhere, one every two minutes in turn; the others stay in their region.

**subscriptions** are ranges of one length, none of which covers another; the paper says nothing of them.
"""),
    ),
    conflicts=paragraphs("""
How often anybody publishes in this experiment is not in the text; the 400 ms are those of the default setup.
"""),
)
