"""Figs. 10 and 12 of 001: families at home at few brokers, and monitors that move about a tiered topology.

In Fig. 10 each family is at home at a few brokers that are close to each other; the monitors of Fig. 12 want
everything.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from routeproof.checker.experiments.reproduce import Experiment, Findings, Row, said
from routeproof.checker.pruning.experiments.simulation import Outcome, Simulation
from routeproof.checker.pruning.experiments.words import (
    CONGESTED,
    MATCHES,
    PRICES_001,
    PROBES,
    at_each,
    clustered_001,
    core_brokers,
    delay,
    lines,
    paragraphs,
    probed,
    times,
    worst,
)
from routeproof.impl.workloads.tiered import Tiered, TieredAll
from routeproof.impl.workloads.workload import tiered
from routeproof.model.overlay import Node

ALGORITHMS = ("active", "selective")

RECIPES = {"monitors": Tiered(), "all": TieredAll()}
CORE = 1

GROWS = "large and growing in the paper"
MOST = "the lower tiers carry most of it in the paper"


def plan_10(scale: float, seed: int) -> list[Simulation]:
    recipe = clustered_001().scaled(scale)
    return [Simulation(policy, recipe, policy, seed, subscription=CONGESTED) for policy in ALGORITHMS]


def conclude_10(outcomes: Mapping[str, Outcome]) -> Findings:
    active, selective = outcomes["active"], outcomes["selective"]
    rows = [
        Row("mean delay of the probes", "active", said(2_000), probed(active), "s"),
        Row("mean delay of the probes", "selective", said(0.05, "about"), probed(selective), "s", SHARE),
        *(Row("mean delay, withdrawals included", name, None, delay(each), "s") for name, each in outcomes.items()),
        Row("core table, mean, in the end", "active", said(7_300, "about"), active.table),
        Row("core table, mean, in the end", "selective", said(1_200, "about"), selective.table),
        times("core table, mean, in the end", "selective", "active", said(0.18), selective.table, active.table),
        *(Row("longest core queue", name, None, each.queue) for name, each in outcomes.items()),
        *at_each("triggered", "active", active, {}),
        *at_each("triggered", "selective", selective, {}),
        Row("publications in vain, of all", "selective", None, selective.in_vain(selective.brokers)),
    ]
    return Findings(
        rows,
        {
            "delay": lines("Delay of publications", "mean delay (s)", outcomes, lambda o: o.delay_over_time, log=True),
            "queue": lines("Longest queue of a core broker", "messages", outcomes, lambda o: o.queue_over_time),
            "triggered": core_brokers("Sent because of withdrawals", outcomes),
            "table": lines(
                "Routing tables of core brokers", "mean size", outcomes, lambda o: o.watched_table_over_time
            ),
        },
    )


SHARE = 'called "less than 3 %" of 2,000 s, of which it is 0.0025 %'

FIG_10 = Experiment(
    figure="001, Fig. 10",
    about="The scenario of Fig. 7, with families that are at home at 2 to 4 adjacent brokers.",
    scale=0.1,
    plan=plan_10,
    conclude=conclude_10,
    assumptions=(
        *(PRICES_001, MATCHES, PROBES),
        *paragraphs("""
**clusters** Edge brokers in the order of their paths from A are cut into clusters of 2 to 4, and each family draws one
of these: the paper's regions are in an image.
"""),
    ),
    conflicts=paragraphs("""
Tables of active covering hold 7,300 entries here and about 1,000 in Fig. 7, with as many subscriptions and withdrawals.
"""),
)


def plan_12(scale: float, seed: int) -> list[Simulation]:
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


def conclude_12(outcomes: Mapping[str, Outcome]) -> Findings:
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


FIG_12 = Experiment(
    figure="001, Fig. 12",
    about="Four monitors, which want everything, move between brokers; then all other subscribers move as well.",
    scale=0.05,
    plan=plan_12,
    conclude=conclude_12,
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
