"""Fig. 7 of 001: three hundred roots of the controlled scenario are withdrawn, under four algorithms."""

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
    controlled_001,
    core_brokers,
    delay,
    lines,
    paragraphs,
    probed,
    times,
)

ALGORITHMS = ("active", "lazy", "packing", "selective")

AT_TABLE_II = {"active, Table II": "active", "selective, Table II": "selective"}
AS_IN_000 = "at the prices of 000 nothing piles up"

MEAN = {
    "active": said(4_400, ">"),
    "lazy": said(2_200, "<"),
    "packing": said(2_200, "<"),
    "selective": said(0.4, "about"),
}
QUEUE = {
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


def plan(scale: float, seed: int) -> list[Simulation]:
    recipe = controlled_001().scaled(scale)
    runs = [Simulation(policy, recipe, policy, seed, subscription=CONGESTED) for policy in ALGORITHMS]
    return [*runs, *(Simulation(name, recipe, policy, seed) for name, policy in AT_TABLE_II.items())]


def conclude(outcomes: Mapping[str, Outcome]) -> Findings:
    shown = {name: outcomes[name] for name in ALGORITHMS}
    active, selective = outcomes["active"], outcomes["selective"]
    rows = [Row("mean delay of the probes", name, MEAN[name], probed(outcomes[name]), "s") for name in ALGORITHMS]
    rows += [Row("mean delay, withdrawals included", name, None, delay(outcomes[name]), "s") for name in ALGORITHMS]
    rows += [
        Row("mean delay of the probes", name, None, probed(outcomes[name]), "s", AS_IN_000) for name in AT_TABLE_II
    ]
    for name in ALGORITHMS:
        probes = outcomes[name].probes
        rows += [
            Row("delay of the probes, 10 % within", name, None, probes.p10 if probes else None, "s"),
            Row("delay of the probes, 90 % within", name, None, probes.p90 if probes else None, "s"),
        ]
    rows += [Row("until no core queue is over 100", name, None, outcomes[name].settled, "s") for name in ALGORITHMS]
    rows += [
        Row("steady delay", "selective", said(0.2), selective.steady, "s", "the last tenth of the run"),
        times("mean delay of the probes", "active", "selective", said(11_000, ">"), probed(active), probed(selective)),
    ]
    for name in ALGORITHMS:
        rows += at_each("triggered", name, outcomes[name], TRIGGERED[name])
    rows += [
        Row("triggered, mean of the other inner brokers", name, None, _elsewhere(outcomes[name])) for name in ALGORITHMS
    ]
    packing = outcomes["packing"]
    messages = max(packing.brokers[broker].messages for broker in packing.watched)
    rows.append(Row("triggered messages, most at a core broker", "packing", said(300, "<"), messages))
    rows += [Row("longest core queue", name, QUEUE[name], outcomes[name].queue) for name in ALGORITHMS]
    rows += [
        Row(
            "core table, mean, in the end",
            name,
            said(1_000, "about") if name == "active" else None,
            outcomes[name].table,
        )
        for name in ALGORITHMS
    ]
    inner = [broker for broker, numbers in selective.brokers.items() if broker <= INNER]
    rows += [
        Row("publications in vain, inner brokers", "selective", said(0.0038), selective.in_vain(inner), "", "0.38 %"),
        Row(
            "publications in vain, core", "selective", said(0.0001), selective.in_vain(selective.watched), "", "0.01 %"
        ),
        Row("largest database", "selective", said(14_000, "about"), max(selective.rows, default=0), "rows"),
        Row(
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


def _elsewhere(outcome: Outcome) -> float:
    """V-B: at inner brokers that are no core brokers much less is triggered, whatever the algorithm."""
    brokers = [broker for broker in outcome.brokers if broker <= INNER and broker not in outcome.watched]
    return outcome.mean(lambda numbers: numbers.uncovered, brokers)


INNER = 23
"""001 V-A1: inner brokers, which have the lowest numbers, the core among them."""

EXPERIMENT = Experiment(
    figure="001, Fig. 7",
    about="300 roots that cover 30 subscriptions each are withdrawn: delays, queues, triggered messages, tables.",
    scale=0.1,
    plan=plan,
    conclude=conclude,
    assumptions=(PRICES_001, MATCHES, PROBES),
    conflicts=paragraphs("""
300 withdrawals give a mean delay of 4,400 s in Fig. 7 and of 2,000 s in Fig. 8.

"Matching subscribers at all 32 edge brokers" cannot be meant: three of them have publishers, and no subscribers.

5,900 at E are fewer than the 9,000 that 300 withdrawals with a covering degree of 30 come to.
"""),
)
