"""Traces to be validated, as the simulator records them: of any length, and as even or as lopsided as one wants."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from attrs import evolve

from routeproof.checker.memory import collecting_rarely
from routeproof.impl.broker import Broker
from routeproof.impl.costs import MILLISECOND, Costs
from routeproof.impl.recording import OBSERVES, Recorder
from routeproof.impl.simulator import Operation, Simulator
from routeproof.impl.workloads.quotes import promised, quotes, symbol, wanted
from routeproof.impl.workloads.stock import Stock
from routeproof.impl.workloads.workload import Ids, Workload, stream
from routeproof.model.messages import Advertise, Publish, Subscribe
from routeproof.model.overlay import Overlay
from routeproof.traces import TraceWriter, broker_name

POLICY = "active"

MILLISECONDS_PER_EVENT = 1_080_000 / 3_060_000
"""Of the stock workload at its full size, once the subscriptions stand."""

BROKERS = 8
SUBSCRIBERS = 6
"""To the stock of each broker of `lopsided`, at that broker."""


def stock(path: Path, events: int) -> None:
    """Quotes of 40 stocks to 4,000 subscriptions on 63 brokers, for so long that there are about so many events."""
    recipe = evolve(Stock(), run_ms=round(events * MILLISECONDS_PER_EVENT))
    _record(path, recipe.workload(0), 0)


def lopsided(path: Path, events: int, share: float, snapshots: int) -> None:
    """A star whose brokers have their publisher and subscribers with them; the first has this share of the events."""
    overlay = Overlay.of((1, broker) for broker in range(2, BROKERS + 1))
    publications = events // (1 + SUBSCRIBERS)
    _record(path, Workload(overlay, lambda: _local(publications, share), {}, {}, MILLISECOND), snapshots)


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
