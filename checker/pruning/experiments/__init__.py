"""The experiments of papers 000 and 001, which are about pruning: what they share of rows, charts and assumptions.

A module holds the figures of one kind of scenario. Experiments that vary one parameter have the same measures and
charts at each of its values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from attrs import evolve

from routeproof.checker.experiments import ResultRow, Said
from routeproof.checker.experiments.plots import Chart, PlotLine, Point
from routeproof.checker.pruning.experiments.simulation import HOLD, SimulationResult
from routeproof.impl.simulator import SECOND
from routeproof.impl.workloads.controlled import Clustered001, Controlled, Controlled001

SINCE = "since the first withdrawal (s)"

CONGESTED = round(SECOND / 3.3)
"""001 V-B: what a subscription costs, in nanoseconds."""

MATCHING = 8.0
HISTORY_MS = 400_000


def paragraphs(text: str) -> tuple[str, ...]:
    """Paragraphs of a text, each as one line."""
    return tuple(" ".join(paragraph.split()) for paragraph in text.strip().split("\n\n"))


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


def controlled() -> Controlled:
    """000 V-A2, with what other figures of the papers say about it."""
    return evolve(Controlled(), matching=MATCHING, lead_ms=HISTORY_MS)


def matching_001() -> Controlled001:
    return evolve(Controlled001(), matching=MATCHING)


def clustered_001() -> Clustered001:
    return evolve(Clustered001(), matching=MATCHING)


def delay(outcome: SimulationResult) -> float | None:
    return outcome.delays.mean if outcome.delays else None


def worst(outcome: SimulationResult) -> float | None:
    return outcome.delays.most if outcome.delays else None


def probed(outcome: SimulationResult) -> float | None:
    return outcome.probes.mean if outcome.probes else None


def times(
    quantity: str, of: str, to: str, paper: Said | None, larger: float | None, smaller: float | None, note: str = ""
) -> ResultRow:
    """How many times larger one is than the other."""
    ours = larger / smaller if larger is not None and smaller else None
    return ResultRow(quantity, f"{of} / {to}", paper, ours, "x", note)


def at_each(
    quantity: str,
    algorithm: str,
    outcome: SimulationResult,
    paper: Mapping[str, Said],
    notes: Mapping[str, str] | None = None,
) -> list[ResultRow]:
    """Rows of what brokers A to E sent because of withdrawals."""
    said = notes or {}
    return [
        ResultRow(
            f"{quantity} at {name}",
            algorithm,
            paper.get(name),
            outcome.brokers[broker].uncovered,
            "",
            said.get(name, ""),
        )
        for name, broker in zip("ABCDE", outcome.watched, strict=True)
    ]


def lines(
    title: str,
    y: str,
    outcomes: Mapping[str, SimulationResult],
    of: Callable[[SimulationResult], Sequence[Point]],
    *,
    log: bool = False,
) -> Chart:
    """Over time, a line for each run."""
    steps = not log
    return Chart(title, SINCE, y, [PlotLine(name, of(each), steps=steps) for name, each in outcomes.items()], log_y=log)


def against(
    title: str, x: str, y: str, values: Mapping[str, Iterable[tuple[float, float | None]]], *, log: bool = False
) -> Chart:
    """Over what is varied, a line for each algorithm."""
    series = [
        PlotLine(name, [(at, value) for at, value in pairs if value is not None]) for name, pairs in values.items()
    ]
    return Chart(title, x, y, series, log_y=log)


def core_brokers(title: str, outcomes: Mapping[str, SimulationResult]) -> Chart:
    """Chart of what A to E sent because of withdrawals."""
    values = {
        name: [(float(n), float(each.brokers[broker].uncovered)) for n, broker in enumerate(each.watched, 1)]
        for name, each in outcomes.items()
    }
    return against(title, "core broker (1 is A, 5 is E)", "subscriptions", values, log=True)


def measured(
    at: str, algorithm: str, outcome: SimulationResult, delays: Said | None = None, queue: Said | None = None
) -> list[ResultRow]:
    return [
        ResultRow(f"mean delay of the probes, {at}", algorithm, delays, probed(outcome), "s"),
        ResultRow(f"mean delay, withdrawals included, {at}", algorithm, None, delay(outcome), "s"),
        ResultRow(f"longest core queue, {at}", algorithm, queue, outcome.queue),
        ResultRow(f"core table, mean, in the end, {at}", algorithm, None, outcome.table),
    ]


def shown(
    across: str, algorithms: Sequence[str], values: Sequence[int], outcomes: Mapping[str, SimulationResult]
) -> dict[str, Chart]:
    """A chart for each measure, a line for each algorithm."""

    def each(of: Callable[[SimulationResult], float | None]) -> dict[str, list[tuple[float, float | None]]]:
        return {a: [(value, of(outcomes[f"{a}, {value}"])) for value in values] for a in algorithms}

    return {
        "delay": against("Delay of publications", across, "mean delay (s)", each(delay), log=True),
        "queue": against("Longest queue of a core broker", across, "messages", each(lambda o: o.queue)),
        "table": against("Routing tables of core brokers", across, "mean size", each(lambda o: o.table)),
    }
