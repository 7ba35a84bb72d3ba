"""Table II of 000: what a core broker spends on each kind of message, measured here on our own brokers.

Times are of the processor, in Python, and of this machine. What can be compared are the ratios between policies.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from attrs import evolve, frozen

from routeproof.checker.experiments import Experiment, Findings, ResultRow, paragraphs, said
from routeproof.checker.pruning.experiments import against
from routeproof.checker.system.processes import collecting_rarely
from routeproof.impl.routing import Broker, Outbox, Sends
from routeproof.impl.simulator import MILLISECOND, Costs, Simulator
from routeproof.impl.workloads.controlled import Controlled
from routeproof.model.messages import Message, Publish, Subscribe, Unsubscribe
from routeproof.model.overlay import Node

POLICIES = ("none", "lazy", "active")
KINDS = ("subscription, matching", "subscription, covering", "unsubscription", "publication")

PAPER = {
    "active": (0.81, 12.0, 1.4, 3.0),
    "lazy": (1.6, 27.0, 0.0, 6.2),
    "none": (1.6, 0.0, 0.0, 7.9),
}
"""Milliseconds a message."""
SUBSCRIPTIONS, PUBLICATIONS = 42_000, 200_000


class Stopwatch(Broker):
    """A broker that measures itself. Covering is what settling takes: deciding what each neighbour is to know."""

    def __init__(self, node: Node, neighbours: Sequence[Node], policy: str) -> None:
        self.spent: dict[type, int] = {Subscribe: 0, Unsubscribe: 0, Publish: 0}
        self.many = dict.fromkeys(self.spent, 0)
        self.covering = 0
        self._settling = 0
        super().__init__(node, neighbours, policy)

    def receive(self, sender: Node, message: Message) -> Sends:
        self._settling = 0
        began = time.thread_time_ns()
        sends = super().receive(sender, message)
        took = time.thread_time_ns() - began
        kind = type(message)
        if kind in self.spent:
            self.spent[kind] += took
            self.many[kind] += 1
        if kind is Subscribe:
            self.covering += self._settling
        return sends

    def _settle(self, neighbour: Node, out: Outbox) -> None:
        began = time.thread_time_ns()
        super()._settle(neighbour, out)
        self._settling += time.thread_time_ns() - began


@frozen
class Spent:
    """Milliseconds a message at the core brokers, in the order of `KINDS`; and how many messages of each kind."""

    mean: tuple[float, ...]
    many: tuple[int, ...]


@frozen
class Measuring:
    """All policies one after the other in one process. Nothing else of an experiment depends on the time of day."""

    name: str
    recipe: Controlled
    seed: int

    def run(self) -> Mapping[str, Spent]:
        return {policy: self._of(policy) for policy in POLICIES}

    def _of(self, policy: str) -> Spent:
        drawn = self.recipe.workload(self.seed)
        core = {node: Stopwatch(node, drawn.overlay.neighbours(node), policy) for node in drawn.watched}

        def make(node: Node) -> Broker:
            return core.get(node) or Broker(node, drawn.overlay.neighbours(node), policy)

        with collecting_rarely():
            Simulator(drawn.overlay, make, Costs.measured(policy)).play(drawn.operations())
        spent = {
            kind: sum(broker.spent[kind] for broker in core.values()) for kind in (Subscribe, Unsubscribe, Publish)
        }
        many = {kind: sum(broker.many[kind] for broker in core.values()) for kind in spent}
        covering = sum(broker.covering for broker in core.values())
        times = (spent[Subscribe] - covering, covering, spent[Unsubscribe], spent[Publish])
        counts = (many[Subscribe], many[Subscribe], many[Unsubscribe], many[Publish])
        return Spent(tuple(t / MILLISECOND / max(1, n) for t, n in zip(times, counts, strict=True)), counts)


def plan(scale: float, seed: int) -> list[Measuring]:
    recipe = evolve(Controlled(), subscriptions=SUBSCRIPTIONS, withdrawals=0, lead_ms=0).scaled(scale)
    interval = recipe.publication_interval_ms
    watch = round(PUBLICATIONS * scale * interval) - recipe.lead_ms + recipe.withdrawal_interval_ms
    return [Measuring("measured", evolve(recipe, watch_ms=max(interval, watch)), seed)]


def conclude(results: Mapping[str, Mapping[str, Spent]]) -> Findings:
    spent = results["measured"]
    rows = [
        ResultRow(
            kind,
            policy,
            said(PAPER[policy][n]),
            each.mean[n] if each.many[n] else None,
            "ms",
            f"{each.many[n]:,} messages",
        )
        for n, kind in enumerate(KINDS)
        for policy, each in spent.items()
    ]
    for n, kind in enumerate(KINDS):
        for policy in ("none", "lazy"):
            paper, ours = PAPER[policy][n] / PAPER["active"][n], spent[policy].mean[n] / (spent["active"].mean[n] or 1)
            rows.append(ResultRow(kind, f"{policy} / active", said(round(paper, 2)) if paper else None, ours, "x"))
    for policy in ("active", "lazy"):
        (matching, covering, *_), ratio = spent[policy].mean, said(round(PAPER[policy][1] / PAPER[policy][0], 1))
        rows.append(ResultRow("covering / matching of a subscription", policy, ratio, covering / (matching or 1), "x"))
    values = {policy: [(float(n), spent[policy].mean[n - 1]) for n in range(1, 5)] for policy in POLICIES}
    across = "1 matching and 2 covering of a subscription, 3 unsubscription, 4 publication"
    return Findings(rows, {"cost": against("Processor time at core brokers", across, "ms a message", values, log=True)})


EXPERIMENT = Experiment(
    figure="000, Table II",
    about="What a broker spends on subscriptions, unsubscriptions and publications: none, lazy and active covering.",
    scale=0.05,
    plan=plan,
    conclude=conclude,
    assumptions=paragraphs("""
**what is measured** Processor time of our own brokers, in Python, at the five core brokers, message by message. It
differs from run to run and from machine to machine. The simulated experiments take the paper's figures, not these.

**workload** The controlled scenario of 000 V-A with 42,000 subscriptions and 200,000 publications, and nothing that a
client withdraws. Unsubscriptions under active covering are retractions of what came before its root.

**covering** is deciding what each neighbour is to know, **matching** everything else that a subscription costs.
"""),
    conflicts=paragraphs("""
The text says that active covering "expends more cycles detecting covering relationships"; the table has 216 s for
active and 486 s for lazy.

0 for an unsubscription under lazy and none says that there was no unsubscription, not that it would cost nothing.
"""),
)
