"""Simulated runs in which subscriptions and advertisements come and go all the time, on random trees of brokers."""

import random
from collections import deque
from collections.abc import Iterator
from pathlib import Path

from attrs import frozen

from routeproof.impl.observers import OBSERVES, Recorder
from routeproof.impl.routing import Broker
from routeproof.impl.simulator import Costs, Simulator, TimedOperation
from routeproof.impl.workloads.stock import VOLUME, promised, quotes, symbol, wanted
from routeproof.impl.workloads.workload import Ids, stream
from routeproof.model.messages import Advertise, Publish, Subscribe, Subscription, Unadvertise, Unsubscribe
from routeproof.model.overlay import Overlay
from routeproof.traces import TraceWriter, broker_name

MICROSECOND = 1_000


@frozen
class Churn:
    """A run. `gap`: microseconds between two new subscriptions; a broker needs more than a thousand for a message."""

    policy: str
    seed: int
    brokers: int = 8
    newcomers: int = 60
    gap: int = 6_000
    standing: int = 30
    snapshots: int = 0
    """Number of events of a broker after which its tables are written; 0 is never."""

    def record(self, path: Path, *, clock: bool = True) -> Path:
        """Writes the trace of the run."""
        draw = random.Random(f"tree {self.seed}")
        overlay = Overlay.of((draw.randint(max(1, b - 3), b - 1), b) for b in range(2, self.brokers + 1))
        told = {"policy": self.policy, "overlay": overlay.edges, "observes": OBSERVES} | (
            {"clock": "shared"} if clock else {}
        )
        with TraceWriter(path, f"{self.policy} {self.seed}", **told) as trace:  # type: ignore[arg-type]  # header keys
            Simulator(
                overlay,
                lambda broker: Broker(broker, overlay.neighbours(broker), self.policy),
                Costs.measured(self.policy),
                observers=[Recorder(trace, broker_name, self.snapshots)],
            ).play(self._operations())
        return path

    def _operations(self) -> Iterator[TimedOperation]:
        ids, time, draw = Ids(), 0, random.Random(f"churn {self.seed}")
        step = self.gap * MICROSECOND // 2
        brokers = range(1, self.brokers + 1)
        stocks = {b: quotes(symbol(b), stream(self.seed, f"stock {b}")) for b in brokers}
        advertised = {b: ids.advertisement(promised(symbol(b))) for b in brokers}
        for b, a in advertised.items():
            yield TimedOperation(time, b, Advertise(a))
        standing = deque[tuple[int, Subscription]]()
        for number in range(self.newcomers):
            time += 2 * step
            filter_of = [*wanted(symbol(draw.choice(brokers)), "high"), ["volume", ">", draw.randrange(2 * VOLUME)]]
            standing.append((draw.choice(brokers), ids.subscription(filter_of)))
            yield TimedOperation(time, standing[-1][0], Subscribe(standing[-1][1]))
            if len(standing) > self.standing:
                home, oldest = standing.popleft()
                yield TimedOperation(time + step, home, Unsubscribe(oldest))
            if number % 20 == 19:
                b = draw.choice(brokers)
                yield TimedOperation(time + step, b, Unadvertise(advertised[b]))
                advertised[b] = ids.advertisement(promised(symbol(b)))
                yield TimedOperation(time + step + 1, b, Advertise(advertised[b]))
            for _ in range(2):
                time += step
                b = draw.choice(brokers)
                yield TimedOperation(time, b, Publish(ids.publication(advertised[b], next(stocks[b]))))
