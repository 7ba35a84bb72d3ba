"""Fig. 7 of 000: the controlled scenario with fewer and more subscriptions that are triggered by a withdrawal."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import evolve

from routeproof.checker.experiments.reproduce.experiment import Experiment, Findings, Row, said
from routeproof.checker.pruning.experiments.simulation import Outcome, Simulation
from routeproof.checker.pruning.experiments.words import (
    HISTORY,
    HOLDS,
    MATCHES,
    PRICES,
    controlled,
    delay,
    paragraphs,
    shown,
    worst,
)

ALGORITHMS = ("active", "incremental")
TRIGGERED = (10, 700, 1_400, 2_100)
COVERED_AT = 2_100 / 1_000
"""How many of a family of 1,000 are sent by the five core brokers: docs/reference/workloads.md."""


def plan(scale: float, seed: int) -> list[Simulation]:
    return [
        Simulation(
            f"{algorithm}, {triggered}",
            evolve(controlled(), covered=round(triggered / COVERED_AT)).scaled(scale),
            algorithm,
            seed,
            holds=algorithm == "incremental",
        )
        for triggered in TRIGGERED
        for algorithm in ALGORITHMS
    ]


TABLES = {("active", 700): said(8_000, "just under"), ("active", 2_100): said(21_000, "over")}
QUEUES = {
    ("active", 1_400): (said(10_000, "about"), ""),
    ("active", 2_100): (said(24_000, "almost"), "Fig. 6b; it still grows after an hour, and is there after two"),
    **{("incremental", triggered): (said(150, "<"), "") for triggered in TRIGGERED},
}


def conclude(outcomes: Mapping[str, Outcome]) -> Findings:
    rows = []
    for triggered in TRIGGERED:
        for algorithm in ALGORITHMS:
            outcome = outcomes[f"{algorithm}, {triggered}"]
            queue, note = QUEUES.get((algorithm, triggered), (None, ""))
            at = f"{triggered:,} triggered"
            rows += [
                Row(f"mean delay, {at}", algorithm, None, delay(outcome), "s"),
                Row(f"longest delay, {at}", algorithm, None, worst(outcome), "s"),
                Row(f"longest core queue, {at}", algorithm, queue, outcome.queue, "", note),
                Row(
                    f"core table, mean, in the end, {at}", algorithm, TABLES.get((algorithm, triggered)), outcome.table
                ),
            ]

    return Findings(rows, shown("triggered by a withdrawal, as the paper counts", ALGORITHMS, TRIGGERED, outcomes))


EXPERIMENT = Experiment(
    figure="000, Fig. 7",
    about="The controlled scenario with 10 to 2,100 subscriptions triggered by a withdrawal.",
    scale=0.03,
    plan=plan,
    conclude=conclude,
    assumptions=(
        *(PRICES, MATCHES, HISTORY, HOLDS),
        *paragraphs("""
**varying** what is triggered is varying `covered`, with as many subscriptions in all: 1,000 is 2,100, and so on.
"""),
    ),
    conflicts=paragraphs("""
The text says "from 700 to 2,100" and then speaks of 10 as well.

Tables of active covering grow from 8,000 to 21,000 "after unsubscribe operations". A workload of as many subscriptions
in smaller families has more roots and thus larger tables to begin with; the paper does not say what it kept constant.
"""),
)
