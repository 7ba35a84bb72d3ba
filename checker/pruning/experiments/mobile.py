"""Figs. 9 and 10 of 000 and 10 and 12 of 001: clients that move.

`RUSH_HOUR` (000, Fig. 9) has subscribers on their way to work; in `AUDITORS` (000, Fig. 10) auditors watch business
processes for a minute in every ten. In `FAMILIES` (001, Fig. 10) each family is at home at a few brokers that are close
to each other; the monitors of `MONITORS` (001, Fig. 12) move about a tiered topology and want everything.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from attrs import frozen

from routeproof.checker.experiments import Experiment, Findings, ResultRow, said
from routeproof.checker.pruning.experiments import (
    CONGESTED,
    HOLDS,
    MATCHES,
    PRICES,
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
from routeproof.checker.pruning.experiments.simulation import Simulation, SimulationResult
from routeproof.impl.index.filter_index import FilterIndex
from routeproof.impl.index.profile import profile_of
from routeproof.impl.routing import Broker
from routeproof.impl.workloads.moving import Mobile, Tiered, TieredAll
from routeproof.impl.workloads.workflow import Workflow
from routeproof.impl.workloads.workload import tiered
from routeproof.model.messages import Advertise, Publish, Subscribe, Subscription, Unsubscribe
from routeproof.model.overlay import Node

INCREMENTAL = ("active", "incremental")


@frozen
class Roots:
    """Subscriptions that no other covers, and how many a root covers on average."""

    many: int
    cover: float


@frozen
class Counting:
    """The subscriptions of a workload before anybody moves."""

    name: str
    recipe: Mobile
    seed: int

    def run(self) -> Roots:
        roots, every = self._roots()
        index = FilterIndex()
        profiles = {profile_of(subscription.filter) for subscription in roots}
        for profile in profiles:
            index.add(profile)
        covered = sum(sum(1 for _ in index.covering(profile_of(subscription.filter))) for subscription in every)
        return Roots(len(roots), (covered - len(profiles)) / max(1, len(profiles)))

    def _roots(self) -> tuple[set[Subscription], list[Subscription]]:
        """A broker under active covering forwards the roots and nothing else."""
        broker = Broker(1, (2, 3), "active")
        roots: set[Subscription] = set()
        every = []
        for _, _, message in self.recipe.workload(self.seed).operations():
            match message:
                case Advertise():
                    broker.receive(2, message)
                case Subscribe(subscription):
                    every.append(subscription)
                    for to, sent in broker.receive(3, message):
                        if to == 2 and isinstance(sent, Subscribe):
                            roots.add(sent.subscription)
                        elif to == 2 and isinstance(sent, Unsubscribe):
                            roots.discard(sent.subscription)
                case Unsubscribe() | Publish():
                    break
        return roots, every


def plan_rush_hour(scale: float, seed: int) -> list[Simulation | Counting]:
    recipe = Mobile().scaled(scale)
    runs = [Simulation(policy, recipe, policy, seed, holds=policy == "incremental") for policy in INCREMENTAL]
    return [*runs, Counting("roots", recipe, seed)]


def conclude_rush_hour(results: Mapping[str, SimulationResult | Roots]) -> Findings:
    outcomes = {name: each for name, each in results.items() if isinstance(each, SimulationResult)}
    roots = next(each for each in results.values() if isinstance(each, Roots))
    active, incremental = outcomes["active"], outcomes["incremental"]
    note = "two hours at full scale; delays grow with the length of the run where the hub cannot keep up"
    rows = [
        ResultRow("roots", "-", said(1_600, "about"), roots.many),
        ResultRow("covered by a root, mean", "-", said(2_000, ">"), roots.cover),
        ResultRow("longest delay", "active", said(1_200, ">"), worst(active), "s", note),
        ResultRow("longest delay", "incremental", said(17), worst(incremental), "s"),
        times("longest delay", "active", "incremental", said(71, ">"), worst(active), worst(incremental)),
        *(ResultRow("mean delay", name, None, delay(each), "s") for name, each in outcomes.items()),
        *(ResultRow("longest queue at the hub", name, None, each.brokers[1].queue) for name, each in outcomes.items()),
        *(
            ResultRow("sent by the hub", name, None, each.brokers[1].uncovered, "", UNCOVERED)
            for name, each in outcomes.items()
        ),
    ]
    for name, each in outcomes.items():
        tables = [size for _, size in each.mean_table_over_time]
        rows.append(ResultRow("mean table, at the first move", name, None, tables[0]))
        rows.append(
            ResultRow("mean table, in the end", name, None, tables[-1], "", "falls, under incremental: Fig. 9c")
        )
    rows.append(
        ResultRow("publications in vain, of all", "incremental", None, incremental.in_vain(incremental.brokers))
    )
    return Findings(
        rows,
        {
            "delay": lines("Delay of publications", "mean delay (s)", outcomes, lambda o: o.delay_over_time, log=True),
            "queue": lines("Longest queue of the watched", "messages", outcomes, lambda o: o.queue_over_time),
            "table": lines("Routing tables of all brokers", "mean size", outcomes, lambda o: o.mean_table_over_time),
        },
    )


UNCOVERED = "subscriptions, because of withdrawals"

RUSH_HOUR: Experiment[SimulationResult | Roots] = Experiment(
    figure="000, Fig. 9",
    about="Rush hour on a star of 17 brokers: most of the subscribers move, some of them again and again.",
    scale=0.02,
    plan=plan_rush_hour,
    conclude=conclude_rush_hour,
    assumptions=(
        *(PRICES, HOLDS),
        *paragraphs("""
**load** The hub carries 250 publications a second at 3 ms each, three quarters of what it can, at every scale: what is
scaled are the subscriptions, and all times with them.

**moves** A client withdraws at one broker and subscribes again at another, under a new id, at once.
"""),
    ),
    conflicts=paragraphs("""
Rush hours are 8 to 10 and 17 to 19 o'clock in the text, and the results are "for the rush hour period (7 AM to 9 AM)".

"Periodic unsubscription messages" are named as the cause, though everybody moves at a time of their own.
"""),
)


def plan_auditors(scale: float, seed: int) -> list[Simulation]:
    recipe = Workflow().scaled(scale)
    return [Simulation(policy, recipe, policy, seed, holds=policy == "incremental") for policy in INCREMENTAL]


def conclude_auditors(outcomes: Mapping[str, SimulationResult]) -> Findings:
    active, incremental = outcomes["active"], outcomes["incremental"]
    queue = {name: max(each.brokers.values(), key=lambda n: n.queue).queue for name, each in outcomes.items()}
    average = {name: max(most for _, most in each.mean_queue_over_time) for name, each in outcomes.items()}
    rows = [
        ResultRow("longest delay", "active", said(400), worst(active), "s"),
        ResultRow("longest delay", "incremental", None, worst(incremental), "s"),
        ResultRow("mean delay", "active", None, delay(active), "s"),
        ResultRow("mean delay", "incremental", said(0.24, "about"), delay(incremental), "s"),
        times(
            "longest to mean delay", "active", "incremental", said(1_667, "about"), worst(active), delay(incremental)
        ),
        ResultRow("mean queue, at its longest", "active", said(1_200, "about"), average["active"]),
        ResultRow("mean queue, at its longest", "incremental", said(0, "virtually"), average["incremental"]),
        ResultRow("longest core queue", "active", said(18_400, ">"), active.queue),
        ResultRow("longest core queue", "incremental", said(0, "virtually"), incremental.queue),
        *(ResultRow("longest queue anywhere", name, None, longest) for name, longest in queue.items()),
    ]
    for name, each in outcomes.items():
        tables = [size for _, size in each.mean_table_over_time]
        rows.append(ResultRow("mean table, from", name, None, min(tables)))
        rows.append(
            ResultRow("mean table, to", name, None, max(tables), "", "it moves much less under incremental: Fig. 10c")
        )
    rows.append(
        ResultRow("publications in vain, of all", "incremental", None, incremental.in_vain(incremental.brokers))
    )
    return Findings(
        rows,
        {
            "delay": lines("Delay of publications", "mean delay (s)", outcomes, lambda o: o.delay_over_time, log=True),
            "queue": lines("Input queues of all brokers", "mean length", outcomes, lambda o: o.mean_queue_over_time),
            "core-queue": lines("Longest queue of a core broker", "messages", outcomes, lambda o: o.queue_over_time),
            "table": lines("Routing tables of all brokers", "mean size", outcomes, lambda o: o.mean_table_over_time),
        },
    )


AUDITORS = Experiment(
    figure="000, Fig. 10",
    about="200 business processes over four domains; four auditors subscribe to all of them from time to time.",
    scale=0.05,
    plan=plan_auditors,
    conclude=conclude_auditors,
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


SELECTIVE = ("active", "selective")

RECIPES = {"monitors": Tiered(), "all": TieredAll()}
CORE = 1

GROWS = "large and growing in the paper"
LOWER = "the lower tiers carry most of it in the paper"


def plan_families(scale: float, seed: int) -> list[Simulation]:
    recipe = clustered_001().scaled(scale)
    return [Simulation(policy, recipe, policy, seed, subscription=CONGESTED) for policy in SELECTIVE]


def conclude_families(outcomes: Mapping[str, SimulationResult]) -> Findings:
    active, selective = outcomes["active"], outcomes["selective"]
    rows = [
        ResultRow("mean delay of the probes", "active", said(2_000), probed(active), "s"),
        ResultRow("mean delay of the probes", "selective", said(0.05, "about"), probed(selective), "s", SHARE),
        *(
            ResultRow("mean delay, withdrawals included", name, None, delay(each), "s")
            for name, each in outcomes.items()
        ),
        ResultRow("core table, mean, in the end", "active", said(7_300, "about"), active.table),
        ResultRow("core table, mean, in the end", "selective", said(1_200, "about"), selective.table),
        times("core table, mean, in the end", "selective", "active", said(0.18), selective.table, active.table),
        *(ResultRow("longest core queue", name, None, each.queue) for name, each in outcomes.items()),
        *at_each("triggered", "active", active, {}),
        *at_each("triggered", "selective", selective, {}),
        ResultRow("publications in vain, of all", "selective", None, selective.in_vain(selective.brokers)),
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

FAMILIES = Experiment(
    figure="001, Fig. 10",
    about="The scenario of Fig. 7, with families that are at home at 2 to 4 adjacent brokers.",
    scale=0.1,
    plan=plan_families,
    conclude=conclude_families,
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


def plan_monitors(scale: float, seed: int) -> list[Simulation]:
    return [
        Simulation(f"{algorithm}, {who} move", recipe.scaled(scale), algorithm, seed, subscription=CONGESTED)
        for who, recipe in RECIPES.items()
        for algorithm in SELECTIVE
    ]


def tiers() -> dict[int, list[Node]]:
    """Brokers by their tier; the core is the first."""
    recipe = RECIPES["monitors"]
    overlay = tiered(recipe.regions, recipe.fan_out, recipe.tiers).overlay
    found = defaultdict(list)
    for broker in overlay.brokers:
        found[len(overlay.path(CORE, broker))].append(broker)
    return found


def conclude_monitors(outcomes: Mapping[str, SimulationResult]) -> Findings:
    rows: list[ResultRow] = []
    for who in RECIPES:
        active, selective = (outcomes[f"{algorithm}, {who} move"] for algorithm in SELECTIVE)
        what = f"{who} move"
        rows += [
            ResultRow(f"longest queue of the core, {what}", "active", None, active.brokers[CORE].queue, "", GROWS),
            ResultRow(
                f"longest queue of the core, {what}", "selective", said(0, "virtually"), selective.brokers[CORE].queue
            ),
        ]
        for algorithm, each in zip(SELECTIVE, (active, selective), strict=True):
            tables = [size for _, size in each.mean_table_over_time]
            rows += [
                ResultRow(
                    f"longest queue anywhere, {what}", algorithm, None, max(n.queue for n in each.brokers.values())
                ),
                ResultRow(f"mean delay, {what}", algorithm, None, delay(each), "s"),
                ResultRow(f"longest delay, {what}", algorithm, None, worst(each), "s"),
                ResultRow(f"mean table, at the first move, {what}", algorithm, None, tables[0]),
                ResultRow(f"mean table, in the end, {what}", algorithm, None, tables[-1]),
            ]
        rows.append(times(f"mean delay, {what}", "active", "selective", None, delay(active), delay(selective)))
        for tier, brokers in tiers().items():
            at = f"tier {tier}, {what}"
            rows += [
                ResultRow(
                    f"publications at a broker, {at}", "active", None, active.mean(lambda n: n.publications, brokers)
                ),
                ResultRow(
                    f"publications at a broker, {at}",
                    "selective",
                    None,
                    selective.mean(lambda n: n.publications, brokers),
                ),
                ResultRow(
                    f"in vain at a broker, {at}",
                    "selective",
                    None,
                    selective.mean(lambda n: n.in_vain, brokers),
                    "",
                    LOWER,
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


MONITORS = Experiment(
    figure="001, Fig. 12",
    about="Four monitors, which want everything, move between brokers; then all other subscribers move as well.",
    scale=0.05,
    plan=plan_monitors,
    conclude=conclude_monitors,
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
