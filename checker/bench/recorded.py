"""Traces to be validated, as the simulator records them: of any length, and as even or as lopsided as one wants."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from pathlib import Path

from attrs import evolve

from routeproof.checker.memory import collecting_rarely
from routeproof.impl.broker import Broker
from routeproof.impl.costs import MILLISECOND, Costs
from routeproof.impl.recording import OBSERVES, Recorder
from routeproof.impl.simulator import Operation, Simulator
from routeproof.impl.workloads.quotes import VOLUME, promised, quotes, symbol, wanted
from routeproof.impl.workloads.stock import Stock
from routeproof.impl.workloads.workload import Ids, Workload, stream
from routeproof.model.messages import Advertise, Publish, Subscribe, Subscription, Unsubscribe
from routeproof.model.overlay import Overlay
from routeproof.traces import TraceWriter, broker_name

POLICY = "active"

MILLISECONDS_PER_EVENT = 1_080_000 / 3_060_000
"""Of the stock workload at its full size, once the subscriptions stand."""

BROKERS = 8
SUBSCRIBERS = 6
"""To the stock of each broker of `lopsided`, at that broker."""

STANDING = 50
"""Subscriptions that stand at one time in `churn`."""

EVENTS_PER_NEWCOMER = 31.5
"""In `churn`: it comes, it is withdrawn, and in between there are two publications."""


def stock(path: Path, events: int) -> None:
    """Quotes of 40 stocks to 4,000 subscriptions on 63 brokers, for so long that there are about so many events."""
    recipe = evolve(Stock(), run_ms=round(events * MILLISECONDS_PER_EVENT))
    _record(path, recipe.workload(0), 0)


def lopsided(path: Path, events: int, share: float, snapshots: int) -> None:
    """A star whose brokers have their publisher and subscribers with them; the first has this share of the events."""
    overlay = Overlay.of((1, broker) for broker in range(2, BROKERS + 1))
    publications = events // (1 + SUBSCRIBERS)
    _record(path, Workload(overlay, lambda: _local(publications, share), {}, {}, MILLISECOND), snapshots)


def churn(path: Path, events: int) -> None:
    """A star where some subscriptions stand at any time, and no id stays: for each that comes the oldest goes."""
    overlay = Overlay.of((1, broker) for broker in range(2, BROKERS + 1))
    newcomers = round(events / EVENTS_PER_NEWCOMER)
    _record(path, Workload(overlay, lambda: _passing(newcomers), {}, {}, MILLISECOND), 0)


def _passing(newcomers: int) -> Iterator[Operation]:
    ids, time, draw = Ids(), 0, stream(0, "churn")
    stocks = {broker: quotes(symbol(broker), stream(0, f"stock {broker}")) for broker in range(1, BROKERS + 1)}
    advertisements = {broker: ids.advertisement(promised(symbol(broker))) for broker in stocks}
    for broker, advertisement in advertisements.items():
        yield Operation(time, broker, Advertise(advertisement))
    standing = deque[tuple[int, Subscription]]()
    for _ in range(newcomers):
        time += 20 * MILLISECOND
        broker, of = draw.randint(1, BROKERS), symbol(draw.randint(1, BROKERS))
        wants = [*wanted(of, "high"), ["volume", ">", draw.randrange(2 * VOLUME)]]
        standing.append((broker, ids.subscription(wants)))
        yield Operation(time, broker, Subscribe(standing[-1][1]))
        if len(standing) > STANDING:
            broker, oldest = standing.popleft()
            yield Operation(time + 10 * MILLISECOND, broker, Unsubscribe(oldest))
        for _ in range(2):
            time += 10 * MILLISECOND
            broker = draw.randint(1, BROKERS)
            yield Operation(time, broker, Publish(ids.publication(advertisements[broker], next(stocks[broker]))))


def _local(publications: int, share: float) -> Iterator[Operation]:
    ids, time = Ids(), 0
    advertisements = {}
    for broker in range(1, BROKERS + 1):
        advertisements[broker] = ids.advertisement(promised(symbol(broker)))
        yield Operation(time, broker, Advertise(advertisements[broker]))
        for _ in range(SUBSCRIBERS):
            time += MILLISECOND
            yield Operation(time, broker, Subscribe(ids.subscription(wanted(symbol(broker), "high"))))
    stocks = {broker: quotes(symbol(broker), stream(0, f"stock {broker}")) for broker in advertisements}
    draw = stream(0, "brokers")
    for _ in range(publications):
        time += 10 * MILLISECOND
        broker = 1 if draw.random() < share else draw.randrange(2, BROKERS + 1)
        publication = ids.publication(advertisements[broker], next(stocks[broker]))
        yield Operation(time, broker, Publish(publication))


def _record(path: Path, workload: Workload, snapshots: int) -> None:
    overlay = workload.overlay
    observes = (*OBSERVES, "snapshot") if snapshots else OBSERVES
    told = {"policy": POLICY, "overlay": overlay.edges, "observes": observes, "clock": "shared"}
    with TraceWriter(path, "bench", **told) as trace, collecting_rarely():  # type: ignore[arg-type]  # keys of a header
        Simulator(
            overlay,
            lambda broker: Broker(broker, overlay.neighbours(broker), POLICY),
            Costs.measured(POLICY),
            observers=[Recorder(trace, broker_name, snapshots)],
        ).play(workload.operations())
