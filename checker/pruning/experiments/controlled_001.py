"""Figs. 7, 8 and 9 of 001: the controlled scenario.

In Fig. 7 three hundred roots are withdrawn, under four algorithms; Fig. 8 has a hundred to three hundred withdrawals,
and in Fig. 9 a root covers ten to fifty subscriptions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import evolve

from routeproof.checker.experiments import Experiment, Findings, ResultRow, Said, said
from routeproof.checker.pruning.experiments import (
    CONGESTED,
    MATCHES,
    PRICES_001,
    PROBES,
    at_each,
    core_brokers,
    delay,
    lines,
    matching_001,
    measured,
    paragraphs,
    probed,
    shown,
    times,
)
from routeproof.checker.pruning.experiments.simulation import Simulation, SimulationResult
from routeproof.impl.workloads.controlled import Controlled001

ALGORITHMS_7 = ("active", "lazy", "packing", "selective")

AT_TABLE_II = {"active, Table II": "active", "selective, Table II": "selective"}
AS_IN_000 = "at the prices of 000 nothing piles up"

MEAN = {
    "active": said(4_400, ">"),
    "lazy": said(2_200, "<"),
    "packing": said(2_200, "<"),
    "selective": said(0.4, "about"),
}
QUEUE_7 = {
    "active": said(2_000, "almost"),
    "lazy": said(1_500, "up to"),
    "packing": said(1_200, "almost"),
    "selective": None,
}
TRIGGERED = {
    "active": {"A": said(700, "about"), "E": said(5_900, "almost")},
    "lazy": {"A": said(100, "almost"), "E": said(3_600, ">")},
    "packing": {},
    "selective": {"A": said(200, "about"), "E": said(0)},
}

ALGORITHMS = ("active", "selective")
WITHDRAWALS = (100, 200, 300)
WITHIN_MS = 150_000
DEGREES = (10, 20, 30, 40, 50)

DELAY = {
    ("active", 100): said(0.02, "about"),
    ("active", 200): said(1_200, ">"),
    ("active", 300): said(2_000),
    **{("selective", withdrawals): said(0.02, "about") for withdrawals in WITHDRAWALS},
}
QUEUE = {
    ("active", 30): said(2_300, "about"),
    **{("selective", degree): said(250, "<") for degree in DEGREES},
}


def plan_7(scale: float, seed: int) -> list[Simulation]:
    recipe = matching_001().scaled(scale)
    runs = [Simulation(policy, recipe, policy, seed, subscription=CONGESTED) for policy in ALGORITHMS_7]
    return [*runs, *(Simulation(name, recipe, policy, seed) for name, policy in AT_TABLE_II.items())]


def conclude_7(outcomes: Mapping[str, SimulationResult]) -> Findings:
    shown = {name: outcomes[name] for name in ALGORITHMS_7}
    active, selective = outcomes["active"], outcomes["selective"]
    rows = [
        ResultRow("mean delay of the probes", name, MEAN[name], probed(outcomes[name]), "s") for name in ALGORITHMS_7
    ]
    rows += [
        ResultRow("mean delay, withdrawals included", name, None, delay(outcomes[name]), "s") for name in ALGORITHMS_7
    ]
    rows += [
        ResultRow("mean delay of the probes", name, None, probed(outcomes[name]), "s", AS_IN_000)
        for name in AT_TABLE_II
    ]
    for name in ALGORITHMS_7:
        probes = outcomes[name].probes
        rows += [
            ResultRow("delay of the probes, 10 % within", name, None, probes.p10 if probes else None, "s"),
            ResultRow("delay of the probes, 90 % within", name, None, probes.p90 if probes else None, "s"),
        ]
    rows += [
        ResultRow("until no core queue is over 100", name, None, outcomes[name].settled, "s") for name in ALGORITHMS_7
    ]
    rows += [
        ResultRow("steady delay", "selective", said(0.2), selective.steady, "s", "the last tenth of the run"),
        times("mean delay of the probes", "active", "selective", said(11_000, ">"), probed(active), probed(selective)),
    ]
    for name in ALGORITHMS_7:
        rows += at_each("triggered", name, outcomes[name], TRIGGERED[name])
    rows += [
        ResultRow("triggered, mean of the other inner brokers", name, None, _elsewhere(outcomes[name]))
        for name in ALGORITHMS_7
    ]
    packing = outcomes["packing"]
    messages = max(packing.brokers[broker].messages for broker in packing.watched)
    rows.append(ResultRow("triggered messages, most at a core broker", "packing", said(300, "<"), messages))
    rows += [ResultRow("longest core queue", name, QUEUE_7[name], outcomes[name].queue) for name in ALGORITHMS_7]
    rows += [
        ResultRow(
            "core table, mean, in the end",
            name,
            said(1_000, "about") if name == "active" else None,
            outcomes[name].table,
        )
        for name in ALGORITHMS_7
    ]
    inner = [broker for broker, numbers in selective.brokers.items() if broker <= INNER]
    rows += [
        ResultRow(
            "publications in vain, inner brokers", "selective", said(0.0038), selective.in_vain(inner), "", "0.38 %"
        ),
        ResultRow(
            "publications in vain, core", "selective", said(0.0001), selective.in_vain(selective.watched), "", "0.01 %"
        ),
        ResultRow("largest database", "selective", said(14_000, "about"), max(selective.rows, default=0), "rows"),
        ResultRow(
            "average database",
            "selective",
            said(5_250, "about"),
            sum(selective.rows) / max(1, len(selective.rows)),
            "rows",
            "4.5 MB where 14,000 rows are 12 MB",
        ),
    ]
    return Findings(
        rows,
        {
            "delay": lines("Delay of publications", "mean delay (s)", shown, lambda o: o.delay_over_time, log=True),
            "queue": lines("Longest queue of a core broker", "messages", shown, lambda o: o.queue_over_time),
            "triggered": core_brokers("Sent because of withdrawals", shown),
            "table": lines("Routing tables of core brokers", "mean size", shown, lambda o: o.watched_table_over_time),
        },
    )


def _elsewhere(outcome: SimulationResult) -> float:
    """V-B: at inner brokers that are no core brokers much less is triggered, whatever the algorithm."""
    brokers = [broker for broker in outcome.brokers if broker <= INNER and broker not in outcome.watched]
    return outcome.mean(lambda numbers: numbers.uncovered, brokers)


INNER = 23
"""001 V-A1: inner brokers, which have the lowest numbers, the core among them."""

FIG_7 = Experiment(
    figure="001, Fig. 7",
    about="300 roots that cover 30 subscriptions each are withdrawn: delays, queues, triggered messages, tables.",
    scale=0.1,
    plan=plan_7,
    conclude=conclude_7,
    assumptions=(PRICES_001, MATCHES, PROBES),
    conflicts=paragraphs("""
300 withdrawals give a mean delay of 4,400 s in Fig. 7 and of 2,000 s in Fig. 8.

"Matching subscribers at all 32 edge brokers" cannot be meant: three of them have publishers, and no subscribers.

5,900 at E are fewer than the 9,000 that 300 withdrawals with a covering degree of 30 come to.
"""),
)


def _runs(recipes: Mapping[int, Controlled001], scale: float, seed: int) -> list[Simulation]:
    """Each algorithm at each value of what is varied."""
    return [
        Simulation(f"{algorithm}, {value}", recipe.scaled(scale), algorithm, seed, subscription=CONGESTED)
        for value, recipe in recipes.items()
        for algorithm in ALGORITHMS
    ]


def _plan_8(scale: float, seed: int) -> list[Simulation]:
    return _runs(
        {n: evolve(matching_001(), withdrawals=n, withdrawal_interval_ms=WITHIN_MS // n) for n in WITHDRAWALS},
        scale,
        seed,
    )


def _plan_9(scale: float, seed: int) -> list[Simulation]:
    return _runs({degree: evolve(matching_001(), covered=degree) for degree in DEGREES}, scale, seed)


def _findings(
    what: str,
    across: str,
    values: Sequence[int],
    outcomes: Mapping[str, SimulationResult],
    delays: Mapping[tuple[str, int], Said],
    queues: Mapping[tuple[str, int], Said],
) -> Findings:
    """The measures at each value, named by `what` with `{}` for the value."""
    rows: list[ResultRow] = []
    for value in values:
        for algorithm in ALGORITHMS:
            key, outcome = (algorithm, value), outcomes[f"{algorithm}, {value}"]
            rows += measured(what.format(value), algorithm, outcome, delays.get(key), queues.get(key))
    return Findings(rows, shown(across, ALGORITHMS, values, outcomes))


FIG_8 = Experiment(
    figure="001, Fig. 8",
    about="100, 200 and 300 roots are withdrawn within 150 s.",
    scale=0.1,
    plan=_plan_8,
    conclude=lambda outcomes: _findings("{} withdrawals", "withdrawals", WITHDRAWALS, outcomes, DELAY, {}),
    assumptions=(PRICES_001, MATCHES, PROBES),
    conflicts=paragraphs("""
The text has "100 and 300" withdrawals for 1,200 s and 2,000 s, just after 20 ms at 100: the first must be 200.

300 withdrawals give a mean delay of 2,000 s here and of 4,400 s in Fig. 7.
"""),
)

FIG_9 = Experiment(
    figure="001, Fig. 9",
    about="300 roots are withdrawn, where each covers 10 to 50 subscriptions.",
    scale=0.1,
    plan=_plan_9,
    conclude=lambda outcomes: _findings("degree {}", "covering degree", DEGREES, outcomes, {}, QUEUE),
    assumptions=(
        *(PRICES_001, MATCHES, PROBES),
        *paragraphs("""
**varying** the covering degree leaves the number of subscriptions as it is: there are fewer families, and larger ones.
"""),
    ),
    conflicts=paragraphs("""
At a degree of 50 queues "continue to increase an hour into the experiment and remain even after 9 hours"; with a
publication every 400 ms these are 81,000 publications, of "slightly over 21,000" in all.
"""),
)
