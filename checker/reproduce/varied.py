"""What experiments have in common that vary one parameter: the same measures and charts at each of its values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from routeproof.checker.reproduce.experiment import Row, Said
from routeproof.checker.reproduce.simulation import Outcome
from routeproof.checker.reproduce.words import against, delay, probed
from routeproof.impl.plots import Chart


def measured(
    at: str, algorithm: str, outcome: Outcome, delays: Said | None = None, queue: Said | None = None
) -> list[Row]:
    return [
        Row(f"mean delay of the probes, {at}", algorithm, delays, probed(outcome), "s"),
        Row(f"mean delay, withdrawals included, {at}", algorithm, None, delay(outcome), "s"),
        Row(f"longest core queue, {at}", algorithm, queue, outcome.queue),
        Row(f"core table, mean, in the end, {at}", algorithm, None, outcome.table),
    ]


def shown(
    across: str, algorithms: Sequence[str], values: Sequence[int], outcomes: Mapping[str, Outcome]
) -> dict[str, Chart]:
    """A chart for each measure, a line for each algorithm."""

    def each(of: Callable[[Outcome], float | None]) -> dict[str, list[tuple[float, float | None]]]:
        return {a: [(value, of(outcomes[f"{a}, {value}"])) for value in values] for a in algorithms}

    return {
        "delay": against("Delay of publications", across, "mean delay (s)", each(delay), log=True),
        "queue": against("Longest queue of a core broker", across, "messages", each(lambda o: o.queue)),
        "table": against("Routing tables of core brokers", across, "mean size", each(lambda o: o.table)),
    }
