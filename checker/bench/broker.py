"""The reference broker: operations a second on one broker at two sizes of its table, and a whole workload simulated."""

from __future__ import annotations

from itertools import islice

from routeproof.checker.bench.measuring import Clock, Row, afresh, peak_megabytes
from routeproof.checker.memory import collecting_rarely
from routeproof.impl.broker import Broker
from routeproof.impl.brokers import make_broker
from routeproof.impl.costs import Costs
from routeproof.impl.metrics import Metrics
from routeproof.impl.simulator import Simulator
from routeproof.impl.workloads import workload
from routeproof.impl.workloads.quotes import HIGH, LOW, MEDIUM, promised, quotes, symbol, wanted
from routeproof.impl.workloads.workload import Ids, stream
from routeproof.model.instance import POLICIES
from routeproof.model.messages import Advertise, Advertisement, Cut, Publish, Subscribe, Subscription, Unsubscribe
from routeproof.model.pruning_parameters import PRUNING, THRESHOLDS

SIZES = (5_000, 50_000)
NEIGHBOURS = (1, 2, 3, 4)
STOCKS = 400
PUBLICATIONS = 20_000
WITHDRAWN = 2_000
RATES = (LOW,) * 14 + (MEDIUM,) * 5 + (HIGH,)
"""As 004 has them: 70 %, 25 % and 5 %."""


def broker() -> list[Row]:
    """One broker with four neighbours, all stocks advertised from the first; subscriptions come from the others.

    Under pruning a withdrawal has a list that leads one hop further, so that what it triggers is counted and sent.
    """
    rows = []
    for policy in (*POLICIES, *PRUNING):
        small, large = (afresh(_measure, policy, size) for size in SIZES)
        for row in (small, large):
            kinds = ("subscriptions/s", "withdrawals/s", "publications/s")
            ratios = {f"{kind} ratio": round(row[kind] / small[kind], 2) for kind in kinds}
            rows.append({**row, **ratios})
    return rows


def _measure(policy: str, size: int) -> Row:
    ids, random = Ids(), stream(0, "bench")
    one = make_broker(9, NEIGHBOURS, policy)
    advertisements = [ids.advertisement(promised(symbol(n))) for n in range(STOCKS)]
    for advertisement in advertisements:
        one.receive(1, Advertise(advertisement))
    subscriptions: list[tuple[int, Subscription, Advertisement]] = []
    for _ in range(size):
        stock = random.randrange(STOCKS)
        wants = ids.subscription(wanted(symbol(stock), random.choice(RATES)))
        subscriptions.append((random.choice(NEIGHBOURS[1:]), wants, advertisements[stock]))
    drawn = [quotes(symbol(n), stream(n, "quotes")) for n in range(STOCKS)]
    publications = [ids.publication(advertisements[n % STOCKS], next(drawn[n % STOCKS])) for n in range(PUBLICATIONS)]
    with collecting_rarely():
        subscribing = Clock()
        for sender, subscription, _ in subscriptions:
            one.receive(sender, Subscribe(subscription))
        subscribed = subscribing.cpu
        publishing = Clock()
        for publication in publications:
            one.receive(1, Publish(publication))
        published = publishing.cpu
        withdrawing = Clock()
        for sender, subscription, of in islice(subscriptions, WITHDRAWN):
            one.receive(sender, _withdrawal(policy, subscription, of))
        withdrawn = withdrawing.cpu
    return {
        "policy": policy,
        "table": size,
        "subscriptions/s": round(size / subscribed),
        "withdrawals/s": round(WITHDRAWN / withdrawn),
        "publications/s": round(PUBLICATIONS / published),
        "peak MB": peak_megabytes(),
    }


def _withdrawal(policy: str, subscription: Subscription, of: Advertisement) -> Unsubscribe:
    if policy not in PRUNING:
        return Unsubscribe(subscription)
    return Unsubscribe(subscription, (Cut(of.id, (1,) * len(THRESHOLDS[policy])),))


def simulation() -> list[Row]:
    """`controlled` at the size of its paper, 80,000 subscriptions, under `active`; a tenth of it beside it."""
    rows = [afresh(_simulate, scale) for scale in (0.1, 1.0)]
    return [{**row, "ratio": round(row["messages/s"] / rows[0]["messages/s"], 2)} for row in rows]


def _simulate(scale: float) -> Row:
    drawn = workload("controlled", scale, 0)
    clock = Clock()
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
