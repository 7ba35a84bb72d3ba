"""GRAPE's choice in the model, by its three algorithms as they are printed, without caches (GRP-7 to GRP-11).

The model has no time: a broker on the way counts 1 toward the delay.
"""

from __future__ import annotations

from collections.abc import Mapping

from routeproof.model.overlay import LOCAL, Node
from routeproof.model.placement.messages import BrokerTrace

Traces = Mapping[Node, BrokerTrace]


def choose(traces: tuple[BrokerTrace, ...], metric: str, weight: int) -> Node:
    """GRP-10: of the candidates whose metric is at most 100 - weight percent of its range, the least by the other."""
    known = {trace.broker: trace for trace in traces}
    rates = {broker: message_rate(known, broker, LOCAL) for broker in known}
    delays = {broker: delay(known, broker, LOCAL, 0) for broker in known}
    first, second = (rates, delays) if metric == "load" else (delays, rates)
    least, most = min(first.values()), max(first.values())
    left = [b for b in known if 100 * (first[b] - least) <= (100 - weight) * (most - least)]
    return min(left, key=lambda b: (second[b], first[b], b))


def delay(traces: Traces, broker: Node, came: Node, so_far: int) -> int:
    """GRP-7: the delays of all deliveries in sum. Their number is the same at every candidate."""
    trace = traces[broker]
    behind = sum(delay(traces, n, broker, so_far + 1) for n in trace.neighbours if n != came and n in traces)
    return trace.deliveries * (so_far + 1) + behind


def message_rate(traces: Traces, broker: Node, came: Node) -> int:
    """GRP-8: input messages of this broker and of all behind it."""
    behind = sum(message_rate(traces, n, broker) for n in traces[broker].neighbours if n != came and n in traces)
    return vector(traces, broker, came).bit_count() + behind


def vector(traces: Traces, broker: Node, came: Node) -> int:
    """GRP-9: what is delivered here or behind."""
    found = traces[broker].bits
    for neighbour in traces[broker].neighbours:
        if neighbour != came and neighbour in traces:
            found |= vector(traces, neighbour, broker)
    return found
