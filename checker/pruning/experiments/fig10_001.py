"""Fig. 10 of 001: each family is at home at a few brokers that are close to each other."""

from __future__ import annotations

from collections.abc import Mapping

from routeproof.checker.experiments.reproduce.experiment import Experiment, Findings, Row, said
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
)

ALGORITHMS = ("active", "selective")


def plan(scale: float, seed: int) -> list[Simulation]:
    recipe = clustered_001().scaled(scale)
    return [Simulation(policy, recipe, policy, seed, subscription=CONGESTED) for policy in ALGORITHMS]


def conclude(outcomes: Mapping[str, Outcome]) -> Findings:
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

EXPERIMENT = Experiment(
    figure="001, Fig. 10",
    about="The scenario of Fig. 7, with families that are at home at 2 to 4 adjacent brokers.",
    scale=0.1,
    plan=plan,
    conclude=conclude,
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
