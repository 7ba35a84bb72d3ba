"""Fig. 10 of 000: business processes that auditors watch for a minute in every ten."""

from __future__ import annotations

from collections.abc import Mapping

from routeproof.checker.experiments.reproduce.experiment import Experiment, Findings, Row, said
from routeproof.checker.pruning.experiments.simulation import Outcome, Simulation
from routeproof.checker.pruning.experiments.words import HOLDS, PRICES, delay, lines, paragraphs, times, worst
from routeproof.impl.workloads.workflow import Workflow

ALGORITHMS = ("active", "incremental")


def plan(scale: float, seed: int) -> list[Simulation]:
    recipe = Workflow().scaled(scale)
    return [Simulation(policy, recipe, policy, seed, holds=policy == "incremental") for policy in ALGORITHMS]


def conclude(outcomes: Mapping[str, Outcome]) -> Findings:
    active, incremental = outcomes["active"], outcomes["incremental"]
    queue = {name: max(each.brokers.values(), key=lambda n: n.queue).queue for name, each in outcomes.items()}
    average = {name: max(most for _, most in each.mean_queue_over_time) for name, each in outcomes.items()}
    rows = [
        Row("longest delay", "active", said(400), worst(active), "s"),
        Row("longest delay", "incremental", None, worst(incremental), "s"),
        Row("mean delay", "active", None, delay(active), "s"),
        Row("mean delay", "incremental", said(0.24, "about"), delay(incremental), "s"),
        times(
            "longest to mean delay", "active", "incremental", said(1_667, "about"), worst(active), delay(incremental)
        ),
        Row("mean queue, at its longest", "active", said(1_200, "about"), average["active"]),
        Row("mean queue, at its longest", "incremental", said(0, "virtually"), average["incremental"]),
        Row("longest core queue", "active", said(18_400, ">"), active.queue),
        Row("longest core queue", "incremental", said(0, "virtually"), incremental.queue),
        *(Row("longest queue anywhere", name, None, longest) for name, longest in queue.items()),
    ]
    for name, each in outcomes.items():
        tables = [size for _, size in each.mean_table_over_time]
        rows.append(Row("mean table, from", name, None, min(tables)))
        rows.append(
            Row("mean table, to", name, None, max(tables), "", "it moves much less under incremental: Fig. 10c")
        )
    rows.append(Row("publications in vain, of all", "incremental", None, incremental.in_vain(incremental.brokers)))
    return Findings(
        rows,
        {
            "delay": lines("Delay of publications", "mean delay (s)", outcomes, lambda o: o.delay_over_time, log=True),
            "queue": lines("Input queues of all brokers", "mean length", outcomes, lambda o: o.mean_queue_over_time),
            "core-queue": lines("Longest queue of a core broker", "messages", outcomes, lambda o: o.queue_over_time),
            "table": lines("Routing tables of all brokers", "mean size", outcomes, lambda o: o.mean_table_over_time),
        },
    )


EXPERIMENT = Experiment(
    figure="000, Fig. 10",
    about="200 business processes over four domains; four auditors subscribe to all of them from time to time.",
    scale=0.05,
    plan=plan,
    conclude=conclude,
    assumptions=(
        *(PRICES, HOLDS),
        *paragraphs("""
**core** The roots of the four domains, which are linked as a chain: the paper has no figure of the topology.

**all process trigger messages** are read as everything that triggers an activity, as the introduction of 000 does; each
activity subscribes to its own triggers, and an auditor's subscription covers all of these.

**deployed once** Engines advertise and subscribe when a process is deployed, and not again for each instance of it.

**nobody waits** An activity publishes when it would if messages took no time. Congestion delays messages and not work.
"""),
    ),
    conflicts=paragraphs("""
How often a process is triggered, how long an activity takes and how long the run lasted are not in the text.
"""),
)
