"""The experiments of papers 000 and 001, which are about pruning: what they share of rows, charts and assumptions.

A module holds the figures of one kind of scenario. Experiments that vary one parameter have the same measures and
charts at each of its values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

from attrs import evolve

from routeproof.checker.experiments import ResultRow, Said, paragraphs
from routeproof.checker.experiments.plots import Chart, PlotLine, Point
from routeproof.checker.pruning.experiments.simulation import HOLD, Simulation, SimulationResult
from routeproof.impl.simulator import SECOND
from routeproof.impl.workloads import Recipe
from routeproof.impl.workloads.controlled import Controlled, Controlled001

Outcomes: TypeAlias = Mapping[str, SimulationResult]
Measure: TypeAlias = Callable[[SimulationResult], float | None]

SINCE = "since the first withdrawal (s)"

SELECTIVE = ("active", "selective")

CONGESTED = round(SECOND / 3.3)
"""001 V-B: what a subscription costs, in nanoseconds."""

MATCHING = 8.0
HISTORY_MS = 400_000


PRICES, MATCHES, HISTORY, HOLDS, PROBES, PRICES_001 = paragraphs(f"""
**prices** Table II of 000 per message and policy, whatever the tables hold; pruning pays what active covering pays.

**matching** {MATCHING:g} subscriptions of a family match a publication in addition to its root, on average. No paper
says how many do, and pruning lives on it. It is inferred from Fig. 7c of 001, where 0.01 % of publications at the
core are in vain: with 31 % of the roots withdrawn and a Poisson number of others that match, exp(-8) * 0.31 = 0.01 %.
That figure is therefore no evidence here; none for delays, queues or triggered messages went into it.

**history** Publications begin {HISTORY_MS / 1000:,.0f} s before the first withdrawal. With these the largest database
of a subscribers' broker has about as many rows as in 000 V-A2, 28,000, which is therefore no evidence either.

**congestion** Under incremental a broker is congested from {HOLD.high + 1} waiting messages on, until fewer than
{HOLD.low} wait. 000 IV has the hold and no numbers.

**probes** are 300 publications, from 600 s after the last withdrawal on, which a subscriber at each edge wants. Most of
the 21,000 publications come before the withdrawals: selective has nothing else to decide by.

**prices** 001 has no table of them, but says that congested brokers handled 3.3 messages a second. Nearly all that
waits in a burst are subscriptions, hence one costs 303 ms here under every policy; the rest is Table II of 000.
""")

ASSUMED_000 = (PRICES, MATCHES, HISTORY, HOLDS)
ASSUMED_001 = (PRICES_001, MATCHES, PROBES)

MEASURES: Mapping[str, tuple[Measure, str]] = {
    "mean delay": (lambda o: o.delays.mean if o.delays else None, "s"),
    "mean delay, withdrawals included": (lambda o: o.delays.mean if o.delays else None, "s"),
    "mean delay of the probes": (lambda o: o.probes.mean if o.probes else None, "s"),
    "longest delay": (lambda o: o.delays.most if o.delays else None, "s"),
    "steady delay": (lambda o: o.steady, "s"),
    "delay of the probes, 10 % within": (lambda o: o.probes.p10 if o.probes else None, "s"),
    "delay of the probes, 90 % within": (lambda o: o.probes.p90 if o.probes else None, "s"),
    "delay added by withdrawals, in all": (lambda o: o.added, "s"),
    "until no core queue is over 100": (lambda o: o.settled, "s"),
    "longest core queue": (lambda o: o.queue, ""),
    "longest queue anywhere": (lambda o: max(each.queue for each in o.brokers.values()), ""),
    "mean queue, at its longest": (lambda o: max(most for _, most in o.mean_queue_over_time), ""),
    "core table, mean, in the end": (lambda o: o.table, ""),
    "mean table, at the first move": (lambda o: o.tables[0], ""),
    "mean table, in the end": (lambda o: o.tables[-1], ""),
    "mean table, from": (lambda o: min(o.tables), ""),
    "mean table, to": (lambda o: max(o.tables), ""),
    "triggered at A": (lambda o: o.brokers[o.watched[0]].uncovered, ""),
    "triggered at E": (lambda o: o.brokers[o.watched[-1]].uncovered, ""),
    "largest database": (lambda o: max(o.rows, default=0), "rows"),
    "average database": (lambda o: sum(o.rows) / len(o.rows) if o.rows else None, "rows"),
    "publications in vain, of all": (lambda o: o.in_vain(o.brokers), ""),
    "publications in vain, at the core": (lambda o: o.in_vain(o.watched), ""),
    "lost messages": (lambda o: o.lost, ""),
}
"""Measures of a run and their units, by the name of the quantity."""


CONTROLLED = evolve(Controlled(), matching=MATCHING, lead_ms=HISTORY_MS)
"""000 V-A2, with what other figures of the papers say about it."""

CONTROLLED_001 = evolve(Controlled001(), matching=MATCHING)


def congested_runs(recipes: Mapping[str, Recipe], scale: float, seed: int) -> list[Simulation]:
    """Each algorithm of 001 with each recipe, which is named by what is varied."""
    return [
        Simulation(f"{algorithm}, {varied}", recipe.scaled(scale), algorithm, seed, subscription=CONGESTED)
        for varied, recipe in recipes.items()
        for algorithm in SELECTIVE
    ]


def row(
    quantity: str, algorithm: str, outcome: SimulationResult, paper: Said | None = None, note: str = "", at: str = ""
) -> ResultRow:
    """One measure of one run. `at` follows the quantity: the value of what is varied."""
    measure, unit = MEASURES[quantity]
    return ResultRow(f"{quantity}{at}", algorithm, paper, measure(outcome), unit, note)


def rows(
    quantity: str, outcomes: Outcomes, paper: Mapping[str, Said] | None = None, note: str = "", at: str = ""
) -> list[ResultRow]:
    """One measure of each run. `paper`: what the paper has of some of them."""
    found = paper or {}
    return [row(quantity, name, outcome, found.get(name), note, at) for name, outcome in outcomes.items()]


def times(quantity: str, outcomes: Outcomes, paper: Said | None = None, note: str = "", at: str = "") -> ResultRow:
    """How many times larger a measure of the first run is than that of the second."""
    measure, _ = MEASURES[quantity]
    larger, smaller = map(measure, outcomes.values())
    return ratio(f"{quantity}{at}", " / ".join(outcomes), paper, larger, smaller, note)


def ratio(
    quantity: str, algorithm: str, paper: Said | None, larger: float | None, smaller: float | None, note: str = ""
) -> ResultRow:
    ours = larger / smaller if larger is not None and smaller else None
    return ResultRow(quantity, algorithm, paper, ours, "x", note)


def at_each(
    quantity: str, algorithm: str, outcome: SimulationResult, paper: Mapping[str, Said], **notes: str
) -> list[ResultRow]:
    """Rows of what brokers A to E sent because of withdrawals, with notes by broker."""
    return [
        ResultRow(
            f"{quantity} at {name}", algorithm, paper.get(name), outcome.brokers[b].uncovered, note=notes.get(name, "")
        )
        for name, b in zip("ABCDE", outcome.watched, strict=True)
    ]


def lines(
    title: str, y: str, outcomes: Outcomes, of: Callable[[SimulationResult], Sequence[Point]], *, log: bool = False
) -> Chart:
    """Over time, a line for each run."""
    series = [PlotLine(name, of(each), steps=not log) for name, each in outcomes.items()]
    return Chart(title, SINCE, y, series, log_y=log)


def against(
    title: str, x: str, y: str, values: Mapping[str, Iterable[tuple[float, float | None]]], *, log: bool = False
) -> Chart:
    """Over what is varied, a line for each algorithm."""
    series = [
        PlotLine(name, [(at, value) for at, value in pairs if value is not None]) for name, pairs in values.items()
    ]
    return Chart(title, x, y, series, log_y=log)


def of_the_core(outcomes: Outcomes) -> dict[str, Chart]:
    """Charts of a scenario whose withdrawals are felt at the core brokers A to E."""
    triggered = {
        name: [(float(n), float(each.brokers[broker].uncovered)) for n, broker in enumerate(each.watched, 1)]
        for name, each in outcomes.items()
    }
    across = "core broker (1 is A, 5 is E)"
    return {
        "delay": lines("Delay of publications", "mean delay (s)", outcomes, lambda o: o.delay_over_time, log=True),
        "queue": lines("Longest queue of a core broker", "messages", outcomes, lambda o: o.queue_over_time),
        "triggered": against("Sent because of withdrawals", across, "subscriptions", triggered, log=True),
        "table": lines("Routing tables of core brokers", "mean size", outcomes, lambda o: o.watched_table_over_time),
    }


def of_movers(outcomes: Outcomes, watched: str) -> dict[str, Chart]:
    """Charts of a scenario whose clients move. `watched`: whose queues are shown."""
    return {
        "delay": lines("Delay of publications", "mean delay (s)", outcomes, lambda o: o.delay_over_time, log=True),
        "queue": lines(f"Longest queue of {watched}", "messages", outcomes, lambda o: o.queue_over_time),
        "table": lines("Routing tables of all brokers", "mean size", outcomes, lambda o: o.mean_table_over_time),
    }


def by_value(across: str, algorithms: Sequence[str], values: Sequence[int], outcomes: Outcomes) -> dict[str, Chart]:
    """A chart for each measure over what is varied, a line for each algorithm."""

    def chart(title: str, y: str, quantity: str, *, log: bool = False) -> Chart:
        measure, _ = MEASURES[quantity]
        series = {a: [(value, measure(outcomes[f"{a}, {value}"])) for value in values] for a in algorithms}
        return against(title, across, y, series, log=log)

    return {
        "delay": chart("Delay of publications", "mean delay (s)", "mean delay", log=True),
        "queue": chart("Longest queue of a core broker", "messages", "longest core queue"),
        "table": chart("Routing tables of core brokers", "mean size", "core table, mean, in the end"),
    }
