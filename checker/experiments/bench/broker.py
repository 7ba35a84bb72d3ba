"""The reference broker: operations a second on one broker at two sizes of its table, and a whole workload simulated."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from random import Random

from routeproof.checker.experiments.bench import ProcessTimer, Row, afresh, aim, peak_megabytes
from routeproof.checker.system.processes import collecting_rarely
from routeproof.impl import all_policies, implementation_of
from routeproof.impl.observers import Metrics
from routeproof.impl.routing import Broker
from routeproof.impl.simulator import Costs, Simulator
from routeproof.impl.workloads import workload
from routeproof.impl.workloads.stock import HIGH, LOW, MEDIUM, MOVE, SWING, VOLUME, promised, quotes, symbol, wanted
from routeproof.impl.workloads.workload import Ids, Predicates, stream
from routeproof.model.messages import Advertise, Advertisement, Publish, Subscribe, Subscription

SIZES = (5_000, 50_000)
NEIGHBOURS = (1, 2, 3, 4)
STOCKS = 400
PUBLICATIONS = 20_000
WITHDRAWN = 2_000
RATES = (LOW,) * 14 + (MEDIUM,) * 5 + (HIGH,)
"""Shares of publication rates as in paper 004: 70 %, 25 % and 5 %."""

SECONDS = 300
"""In which we want the whole of `controlled` to be simulated."""


def _distinct(symbol: str, rate: str, random: Random) -> Predicates:
    """Hardly two filters are equal: thresholds are drawn, around those of 004."""
    conditions: dict[str, Predicates] = {
        LOW: [["highLow%Diff", ">", SWING * random.uniform(0.95, 1.05)]],
        MEDIUM: [["volume", ">", VOLUME * random.uniform(0.8, 1.2)], ["openClose%Diff", ">", MOVE]],
        HIGH: [["open", ">", random.uniform(0, 10)]],
    }
    return [*promised(symbol), *conditions[rate]]


FILTERS: Mapping[str, Callable[[str, str, Random], Predicates]] = {
    "alike": lambda symbol, rate, _: wanted(symbol, rate),
    "distinct": _distinct,
}
"""Filters of subscriptions. Alike: three different ones a stock, however many subscriptions."""


def broker() -> Iterator[Row]:
    """One broker with four neighbours, all stocks advertised from the first; subscriptions come from the others.

    A withdrawal is as a neighbour of the protocol passes it on, so that what it triggers is counted and sent.
    Where filters are alike, both tables have as many different ones; where they are distinct, the larger has ten times
    as many for each stock.
    """
    for filters in FILTERS:
        for policy in all_policies():
            group: list[Row] = []
            for size in SIZES:
                group.append(afresh(measure, policy, filters, size))
                yield with_growth(group)[-1]


def with_growth(group: list[Row]) -> list[Row]:
    """How fast each is, as a multiple of the first."""
    kinds = ("subscriptions/s", "withdrawals/s", "publications/s")
    return [{**row, **{f"{kind} ratio": round(row[kind] / group[0][kind], 2) for kind in kinds}} for row in group]


def measure(policy: str, filters: str, size: int, publications_drawn: int = PUBLICATIONS) -> Row:
    ids, random = Ids(), stream(0, "bench")
    implementation = implementation_of(policy)
    one = implementation.make(9, NEIGHBOURS, policy, {})
    advertisements = [ids.advertisement(promised(symbol(n))) for n in range(STOCKS)]
    for advertisement in advertisements:
        one.receive(1, Advertise(advertisement))
    subscriptions: list[tuple[int, Subscription, Advertisement]] = []
    for _ in range(size):
        stock = random.randrange(STOCKS)
        wants = ids.subscription(FILTERS[filters](symbol(stock), random.choice(RATES), random))
        subscriptions.append((random.choice(NEIGHBOURS[1:]), wants, advertisements[stock]))
    drawn = [quotes(symbol(n), stream(n, "quotes")) for n in range(STOCKS)]
    publications = [
        ids.publication(advertisements[n % STOCKS], next(drawn[n % STOCKS])) for n in range(publications_drawn)
    ]
    with collecting_rarely():
        subscribing = ProcessTimer()
        for sender, subscription, _ in subscriptions:
            one.receive(sender, Subscribe(subscription))
        subscribed = subscribing.cpu
        publishing = ProcessTimer()
        for publication in publications:
            one.receive(1, Publish(publication))
        published = publishing.cpu
        withdrawing = ProcessTimer()
        for sender, subscription, of in islice(subscriptions, WITHDRAWN):
            one.receive(sender, implementation.withdrawal(policy, subscription, of))
        withdrawn = withdrawing.cpu
    return {
        "policy": policy,
        "filters": filters,
        "table": size,
        "different": len({subscription.filter for _, subscription, _ in subscriptions}),
        "subscriptions/s": round(size / subscribed),
        "withdrawals/s": round(min(size, WITHDRAWN) / withdrawn),
        "publications/s": round(publications_drawn / published),
        "peak MB": peak_megabytes(),
    }


def simulation() -> Iterator[Row]:
    """`controlled` at the size of its paper, 80,000 subscriptions, under `active`; and a tenth of it for comparison."""
    tenth = afresh(_simulate, 0.1)
    yield {**tenth, "ratio": 1.0, "aims": ""}
    yield with_aim([tenth, afresh(_simulate, 1.0)])[-1]


def with_aim(rows: list[Row]) -> list[Row]:
    """Adds to the last row whether the whole of `controlled` was simulated within the aim."""
    rows = [{**row, "ratio": round(row["messages/s"] / rows[0]["messages/s"], 2), "aims": ""} for row in rows]
    rows[-1]["aims"] = aim(rows[-1]["seconds"] < SECONDS, f"under {SECONDS} s")
    return rows


def _simulate(scale: float) -> Row:
    drawn = workload("controlled", scale, 0)
    clock = ProcessTimer()
    with collecting_rarely():
        simulator = Simulator(
            drawn.overlay,
            lambda b: Broker(b, drawn.overlay.neighbours(b), "active"),
            Costs.measured("active"),
            observers=[Metrics(drawn.overlay.brokers, drawn.look_every)],
        )
        simulator.play(drawn.operations())
    return {
        "workload": "controlled",
        "policy": "active",
        "scale": scale,
        "messages": simulator.handled,
        "seconds": round(clock.wall, 1),
        "messages/s": round(simulator.handled / clock.wall),
        "peak MB": peak_megabytes(),
    }
