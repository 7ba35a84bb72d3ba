"""Fig. 9 of 000: the rush hour, in which most subscribers move."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen

from routeproof.checker.experiments.reproduce.experiment import Experiment, Findings, Row, said
from routeproof.checker.pruning.experiments.simulation import Outcome, Simulation
from routeproof.checker.pruning.experiments.words import HOLDS, PRICES, delay, lines, paragraphs, times, worst
from routeproof.impl.index.filter_index import FilterIndex
from routeproof.impl.index.profile import profile_of
from routeproof.impl.routing import Broker
from routeproof.impl.workloads.zipf import Mobile
from routeproof.model.messages import Advertise, Publish, Subscribe, Subscription, Unsubscribe

ALGORITHMS = ("active", "incremental")


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


def plan(scale: float, seed: int) -> list[Simulation | Counting]:
    recipe = Mobile().scaled(scale)
    runs = [Simulation(policy, recipe, policy, seed, holds=policy == "incremental") for policy in ALGORITHMS]
    return [*runs, Counting("roots", recipe, seed)]


def conclude(results: Mapping[str, Outcome | Roots]) -> Findings:
    outcomes = {name: each for name, each in results.items() if isinstance(each, Outcome)}
    roots = next(each for each in results.values() if isinstance(each, Roots))
    active, incremental = outcomes["active"], outcomes["incremental"]
    note = "two hours at full scale; delays grow with the length of the run where the hub cannot keep up"
    rows = [
        Row("roots", "-", said(1_600, "about"), roots.many),
        Row("covered by a root, mean", "-", said(2_000, ">"), roots.cover),
        Row("longest delay", "active", said(1_200, ">"), worst(active), "s", note),
        Row("longest delay", "incremental", said(17), worst(incremental), "s"),
        times("longest delay", "active", "incremental", said(71, ">"), worst(active), worst(incremental)),
        *(Row("mean delay", name, None, delay(each), "s") for name, each in outcomes.items()),
        *(Row("longest queue at the hub", name, None, each.brokers[1].queue) for name, each in outcomes.items()),
        *(
            Row("sent by the hub", name, None, each.brokers[1].uncovered, "", UNCOVERED)
            for name, each in outcomes.items()
        ),
    ]
    for name, each in outcomes.items():
        tables = [size for _, size in each.mean_table_over_time]
        rows.append(Row("mean table, at the first move", name, None, tables[0]))
        rows.append(Row("mean table, in the end", name, None, tables[-1], "", "falls, under incremental: Fig. 9c"))
    rows.append(Row("publications in vain, of all", "incremental", None, incremental.in_vain(incremental.brokers)))
    return Findings(
        rows,
        {
            "delay": lines("Delay of publications", "mean delay (s)", outcomes, lambda o: o.delay_over_time, log=True),
            "queue": lines("Longest queue of the watched", "messages", outcomes, lambda o: o.queue_over_time),
            "table": lines("Routing tables of all brokers", "mean size", outcomes, lambda o: o.mean_table_over_time),
        },
    )


UNCOVERED = "subscriptions, because of withdrawals"

EXPERIMENT: Experiment[Outcome | Roots] = Experiment(
    figure="000, Fig. 9",
    about="Rush hour on a star of 17 brokers: most of the subscribers move, some of them again and again.",
    scale=0.02,
    plan=plan,
    conclude=conclude,
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
