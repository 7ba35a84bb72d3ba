"""Figs. 9 and 10 of 000 and 10 and 12 of 001: clients that move.

`RUSH_HOUR` (000, Fig. 9) has subscribers on their way to work; in `AUDITORS` (000, Fig. 10) auditors watch business
processes for a minute in every ten. In `FAMILIES` (001, Fig. 10) each family is at home at a few brokers that are close
to each other; the monitors of `MONITORS` (001, Fig. 12) move about a tiered topology and want everything.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from attrs import evolve, frozen

from routeproof.checker.experiments import Experiment, Findings, ResultRow, paragraphs, said
from routeproof.checker.pruning.experiments import (
    ASSUMED_001,
    CONGESTED,
    HOLDS,
    MATCHING,
    PRICES,
    PRICES_001,
    SELECTIVE,
    Outcomes,
    at_each,
    congested_runs,
    lines,
    of_movers,
    of_the_core,
    ratio,
    row,
    rows,
    times,
)
from routeproof.checker.pruning.experiments.simulation import Simulation, SimulationResult
from routeproof.impl.index.filter_index import FilterIndex
from routeproof.impl.index.profile import profile_of
from routeproof.impl.routing import Broker
from routeproof.impl.workloads.controlled import Clustered001
from routeproof.impl.workloads.moving import Mobile, Tiered, TieredAll
from routeproof.impl.workloads.workflow import Workflow
from routeproof.impl.workloads.workload import Recipe, tiered
from routeproof.model.messages import Advertise, Publish, Subscribe, Subscription, Unsubscribe
from routeproof.model.overlay import Node

INCREMENTAL = ("active", "incremental")
ASSUMED = (PRICES, HOLDS)
VIRTUALLY_NONE = said(0, "virtually")


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
    return [*_incremental(recipe, seed), Counting("roots", recipe, seed)]


def _incremental(recipe: Recipe, seed: int) -> list[Simulation]:
    return [Simulation(policy, recipe, policy, seed, holds=policy == "incremental") for policy in INCREMENTAL]


def conclude_rush_hour(results: Mapping[str, SimulationResult | Roots]) -> Findings:
    outcomes = {name: each for name, each in results.items() if isinstance(each, SimulationResult)}
    roots = next(each for each in results.values() if isinstance(each, Roots))
    hubs = {name: each.brokers[1] for name, each in outcomes.items()}
    note = "two hours at full scale; delays grow with the length of the run where the hub cannot keep up"
    found = [
        ResultRow("roots", "-", said(1_600, "about"), roots.many),
        ResultRow("covered by a root, mean", "-", said(2_000, ">"), roots.cover),
        row("longest delay", "active", outcomes["active"], said(1_200, ">"), note),
        row("longest delay", "incremental", outcomes["incremental"], said(17)),
        times("longest delay", outcomes, said(71, ">")),
        *rows("mean delay", outcomes),
        *(ResultRow("longest queue at the hub", name, None, hub.queue) for name, hub in hubs.items()),
        *(ResultRow("sent by the hub", name, None, hub.uncovered, note=UNCOVERED) for name, hub in hubs.items()),
    ]
    for name, each in outcomes.items():
        found.append(row("mean table, at the first move", name, each))
        found.append(row("mean table, in the end", name, each, note="falls, under incremental: Fig. 9c"))
    found.append(row("publications in vain, of all", "incremental", outcomes["incremental"]))
    return Findings(found, of_movers(outcomes, "the watched"))


UNCOVERED = "subscriptions, because of withdrawals"

RUSH_HOUR: Experiment[SimulationResult | Roots] = Experiment(
    figure="000, Fig. 9",
    about="Rush hour on a star of 17 brokers: most of the subscribers move, some of them again and again.",
    scale=0.02,
    plan=plan_rush_hour,
    conclude=conclude_rush_hour,
    assumptions=ASSUMED
    + paragraphs("""
**load** The hub carries 250 publications a second at 3 ms each, three quarters of what it can, at every scale: what is
scaled are the subscriptions, and all times with them.

**moves** A client withdraws at one broker and subscribes again at another, under a new id, at once.
"""),
    conflicts=paragraphs("""
Rush hours are 8 to 10 and 17 to 19 o'clock in the text, and the results are "for the rush hour period (7 AM to 9 AM)".

"Periodic unsubscription messages" are named as the cause, though everybody moves at a time of their own.
"""),
)


def conclude_auditors(outcomes: Outcomes) -> Findings:
    active, incremental = outcomes["active"], outcomes["incremental"]
    longest, mean = row("longest delay", "active", active, said(400)), row("mean delay", "incremental", incremental)
    found = [
        *rows("longest delay", outcomes, {"active": said(400)}),
        *rows("mean delay", outcomes, {"incremental": said(0.24, "about")}),
        ratio("longest to mean delay", "active / incremental", said(1_667, "about"), longest.ours, mean.ours),
        *rows("mean queue, at its longest", outcomes, {"active": said(1_200, "about"), "incremental": VIRTUALLY_NONE}),
        *rows("longest core queue", outcomes, {"active": said(18_400, ">"), "incremental": VIRTUALLY_NONE}),
        *rows("longest queue anywhere", outcomes),
    ]
    for name, each in outcomes.items():
        found.append(row("mean table, from", name, each))
        found.append(row("mean table, to", name, each, note="it moves much less under incremental: Fig. 10c"))
    found.append(row("publications in vain, of all", "incremental", incremental))
    charts = of_movers(outcomes, "a core broker")
    queues = lines("Input queues of all brokers", "mean length", outcomes, lambda o: o.mean_queue_over_time)
    return Findings(
        found, {"delay": charts["delay"], "queue": queues, "core-queue": charts["queue"], "table": charts["table"]}
    )


AUDITORS = Experiment(
    figure="000, Fig. 10",
    about="200 business processes over four domains; four auditors subscribe to all of them from time to time.",
    scale=0.05,
    plan=lambda scale, seed: _incremental(Workflow().scaled(scale), seed),
    conclude=conclude_auditors,
    assumptions=ASSUMED
    + paragraphs("""
**core** The roots of the four domains, which are linked as a chain: the paper has no figure of the topology.

**all process trigger messages** are read as everything that triggers an activity, as the introduction of 000 does; each
activity subscribes to its own triggers, and an auditor's subscription covers all of these.

**deployed once** Engines advertise and subscribe when a process is deployed, and not again for each instance of it.

**nobody waits** An activity publishes when it would if messages took no time. Congestion delays messages and not work.
"""),
    conflicts=paragraphs("""
How often a process is triggered, how long an activity takes and how long the run lasted are not in the text.
"""),
)


RECIPES = {"monitors": Tiered(), "all": TieredAll()}
CORE = 1

GROWS = "large and growing in the paper"
OF_MONITORS = (
    "longest queue anywhere",
    "mean delay",
    "longest delay",
    "mean table, at the first move",
    "mean table, in the end",
)
LOWER = "the lower tiers carry most of it in the paper"


def plan_families(scale: float, seed: int) -> list[Simulation]:
    recipe = evolve(Clustered001(), matching=MATCHING).scaled(scale)
    return [Simulation(policy, recipe, policy, seed, subscription=CONGESTED) for policy in SELECTIVE]


def conclude_families(outcomes: Outcomes) -> Findings:
    active, selective = outcomes["active"], outcomes["selective"]
    table = "core table, mean, in the end"
    found = [
        row("mean delay of the probes", "active", active, said(2_000)),
        row("mean delay of the probes", "selective", selective, said(0.05, "about"), SHARE),
        *rows("mean delay, withdrawals included", outcomes),
        *rows(table, outcomes, {"active": said(7_300, "about"), "selective": said(1_200, "about")}),
        times(table, {"selective": selective, "active": active}, said(0.18)),
        *rows("longest core queue", outcomes),
        *at_each("triggered", "active", active, {}),
        *at_each("triggered", "selective", selective, {}),
        row("publications in vain, of all", "selective", selective),
    ]
    return Findings(found, of_the_core(outcomes))


SHARE = 'called "less than 3 %" of 2,000 s, of which it is 0.0025 %'

FAMILIES = Experiment(
    figure="001, Fig. 10",
    about="The scenario of Fig. 7, with families that are at home at 2 to 4 adjacent brokers.",
    scale=0.1,
    plan=plan_families,
    conclude=conclude_families,
    assumptions=ASSUMED_001
    + paragraphs("""
**clusters** Edge brokers in the order of their paths from A are cut into clusters of 2 to 4, and each family draws one
of these: the paper's regions are in an image.
"""),
    conflicts=paragraphs("""
Tables of active covering hold 7,300 entries here and about 1,000 in Fig. 7, with as many subscriptions and withdrawals.
"""),
)


def tiers() -> dict[int, list[Node]]:
    """Brokers by their tier; the core is the first."""
    recipe = RECIPES["monitors"]
    overlay = tiered(recipe.regions, recipe.fan_out, recipe.tiers).overlay
    found = defaultdict(list)
    for broker in overlay.brokers:
        found[len(overlay.path(CORE, broker))].append(broker)
    return found


def conclude_monitors(outcomes: Outcomes) -> Findings:
    found: list[ResultRow] = []
    for who in RECIPES:
        both = {algorithm: outcomes[f"{algorithm}, {who} move"] for algorithm in SELECTIVE}
        active, selective = both.values()
        at, core = f", {who} move", f"longest queue of the core, {who} move"
        found += [
            ResultRow(core, "active", None, active.brokers[CORE].queue, note=GROWS),
            ResultRow(core, "selective", VIRTUALLY_NONE, selective.brokers[CORE].queue),
            *(row(quantity, name, each, at=at) for name, each in both.items() for quantity in OF_MONITORS),
            times("mean delay", both, at=at),
        ]
        for tier, brokers in tiers().items():
            publications, in_vain = (f"{what} at a broker, tier {tier}{at}" for what in ("publications", "in vain"))
            found += [
                ResultRow(publications, name, None, each.mean(lambda n: n.publications, brokers))
                for name, each in both.items()
            ]
            vain = selective.mean(lambda n: n.in_vain, brokers)
            found.append(ResultRow(in_vain, "selective", None, vain, note=LOWER))
    return Findings(found, of_movers(outcomes, "core and regions"))


MONITORS = Experiment(
    figure="001, Fig. 12",
    about="Four monitors, which want everything, move between brokers; then all other subscribers move as well.",
    scale=0.05,
    plan=lambda scale, seed: congested_runs({f"{who} move": each for who, each in RECIPES.items()}, scale, seed),
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
