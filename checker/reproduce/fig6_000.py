"""Fig. 6 of 000: twenty roots of the controlled scenario are withdrawn, under four algorithms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import evolve

from routeproof.checker.reproduce.experiment import Experiment, Findings, Row, said
from routeproof.checker.reproduce.simulation import Outcome, Simulation
from routeproof.checker.reproduce.words import (
    HISTORY,
    HOLDS,
    MATCHES,
    MATCHING,
    PRICES,
    at_each,
    controlled,
    controlled_001,
    core_brokers,
    delay,
    lines,
    paragraphs,
    times,
    worst,
)

ALGORITHMS = ("active", "lazy", "packing", "incremental")

OTHERWISE: Mapping[str, Mapping[str, Any]] = {
    "incremental, no hold": {},
    "incremental, 3 match": {"matching": 3.0},
    "incremental, 16 match": {"matching": 16.0},
    "incremental, 10 s of history": {"lead_ms": 10_000},
}
"""What the main figures of incremental depend on."""

SAME_SHARE = "incremental, the share of 001"
"""As many of a family match as are, in a family of 001, the number that is inferred from 001."""


def plan(scale: float, seed: int) -> list[Simulation]:
    recipe = controlled()
    runs = [Simulation(p, recipe.scaled(scale), p, seed, holds=p == "incremental") for p in ALGORITHMS]
    for name, change in OTHERWISE.items():
        changed = evolve(recipe, **change).scaled(scale)
        runs.append(Simulation(name, changed, "incremental", seed, holds="hold" not in name))
    scaled = recipe.scaled(scale)
    share = evolve(scaled, matching=scaled.covered * MATCHING / controlled_001().covered)
    return [*runs, Simulation(SAME_SHARE, share, "incremental", seed, holds=True)]


def conclude(outcomes: Mapping[str, Outcome]) -> Findings:
    active, incremental = outcomes["active"], outcomes["incremental"]
    rows = [*_delays(outcomes), *_queues(outcomes)]
    rows += at_each("triggered", "active", active, {"A": said(700, "about"), "E": said(20_000, "almost")})
    for algorithm in ("lazy", "packing"):
        rows += at_each("triggered", algorithm, outcomes[algorithm], {}, RISES)
    rows += at_each("triggered", "incremental", incremental, {"E": said(1_100, "about")})
    rows += _ratios(active, incremental)
    rows += [Row("core table, mean, in the end", name, None, outcomes[name].table) for name in ALGORITHMS]
    rows += [
        Row("largest database", "incremental", said(28_000, "about"), max(incremental.rows, default=0), "rows"),
        Row("average database", "incremental", said(14_000, "about"), _average(incremental.rows), "rows", DATABASE),
        Row("publications in vain, of all", "incremental", None, incremental.in_vain(incremental.brokers)),
        Row("publications in vain, at the core", "incremental", None, incremental.in_vain(incremental.watched)),
    ]
    for name in (*OTHERWISE, SAME_SHARE):
        rows += _otherwise(name, active, outcomes[name])
    shown = {name: outcomes[name] for name in ALGORITHMS}
    return Findings(
        rows,
        {
            "delay": lines("Delay of publications", "mean delay (s)", shown, lambda o: o.delay_over_time, log=True),
            "queue": lines("Longest queue of a core broker", "messages", shown, lambda o: o.queue_over_time),
            "triggered": core_brokers("Sent because of withdrawals", outcomes),
            "table": lines("Routing tables of core brokers", "mean size", shown, lambda o: o.watched_table_over_time),
        },
    )


RISES = "the paper says that it rises from A to E"
DATABASE = "12 MB where 28,000 rows are 24 MB"
SIXTY = "about 60 % of active's"


def _delays(outcomes: Mapping[str, Outcome]) -> list[Row]:
    mean = {"active": (said(1_000, ">"), ""), "incremental": (said(0.4, "about"), "")}
    mean |= {name: (said(600, "about"), SIXTY) for name in ("lazy", "packing")}
    rows = [Row("mean delay", name, mean[name][0], delay(outcomes[name]), "s", mean[name][1]) for name in ALGORITHMS]
    rows += [
        Row("longest delay", name, said(2_400, ">") if name == "active" else None, worst(outcomes[name]), "s")
        for name in ALGORITHMS
    ]
    steady = "the last tenth of the run"
    return [*rows, Row("steady delay", "incremental", said(0.2), outcomes["incremental"].steady, "s", steady)]


def _queues(outcomes: Mapping[str, Outcome]) -> list[Row]:
    paper = {
        "active": said(24_000, "almost"),
        "lazy": said(15_000, "up to"),
        "packing": said(15_000, "up to"),
        "incremental": said(150),
    }
    return [Row("longest core queue", name, paper[name], outcomes[name].queue) for name in ALGORITHMS]


def _ratios(active: Outcome, incremental: Outcome) -> list[Row]:
    a, e = active.watched[0], active.watched[-1]
    before, after = (each.brokers[e].uncovered for each in (active, incremental))
    grown = times("triggered at E / at A", "active", "active", said(28.6, "about"), before, active.brokers[a].uncovered)
    return [
        times(
            "mean delay", "active", "incremental", said(2_500, ">"), delay(active), delay(incremental), "at least 100"
        ),
        times("longest core queue", "active", "incremental", said(160), active.queue, incremental.queue, "at least 50"),
        times("triggered at E", "active", "incremental", said(18.2, "about"), before, after),
        evolve(grown, algorithm="active"),
    ]


def _otherwise(name: str, active: Outcome, outcome: Outcome) -> list[Row]:
    a, e = outcome.watched[0], outcome.watched[-1]
    return [
        Row("mean delay", name, None, delay(outcome), "s"),
        times("mean delay", "active", name, None, delay(active), delay(outcome)),
        Row("longest core queue", name, None, outcome.queue),
        Row("triggered at A", name, None, outcome.brokers[a].uncovered),
        Row("triggered at E", name, None, outcome.brokers[e].uncovered),
    ]


def _average(rows: Sequence[int]) -> float | None:
    return sum(rows) / len(rows) if rows else None


EXPERIMENT = Experiment(
    figure="000, Fig. 6",
    about="20 roots that cover a thousand subscriptions each are withdrawn: delays, queues, bursts, tables.",
    scale=0.05,
    plan=plan,
    conclude=conclude,
    assumptions=(
        *(PRICES, MATCHES, HISTORY, HOLDS),
        *paragraphs("""
**triggered** at a broker are the different subscriptions that it sent because of a withdrawal, whichever neighbours got
them, summed over the withdrawals.

**mean delay** is over the deliveries of what was published from the first withdrawal until `watch_ms` after the last.

**the share of 001** What is inferred from 001 is a number, of families of 30. As a share, 8 of 30, it would be 267 of a
thousand here. No paper says which of the two is alike in both; a number is what the main runs take.

**2,100** triggered on average is read as a sum over the five core brokers (docs/workloads.md).
"""),
    ),
    conflicts=paragraphs("""
The price of a message is an average over growing tables in the paper: there congestion feeds itself, here it does not.
Delays under active covering are therefore shorter here, by an order of magnitude.

"2,100 triggered on average" by 20 withdrawals would be 42,000 at one broker; Fig. 6c has almost 20,000 at E.
"""),
)
