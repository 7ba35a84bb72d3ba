"""Operations of an instance as a workload: each is issued as often as the instance says, in an order that is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from routeproof.impl.simulation.costs import MILLISECOND
from routeproof.impl.simulation.simulator import Operation
from routeproof.impl.workloads.workload import Workload, stream
from routeproof.model.operations import OperationRow
from routeproof.model.overlay import Overlay
from routeproof.model.topology import Topology

APART = 10 * MILLISECOND
"""Between two operations. Messages of the one are on their way still when the next one comes."""


def of_operations(overlay: Overlay, topology: Topology, rows: Sequence[OperationRow], seed: int) -> Workload:
    """`after` and `until` of the rows are kept to, so that every operation is issued."""
    order = _order(rows, stream(seed, "operations"))
    operations = tuple(Operation(n * APART, row.node, row.message) for n, row in enumerate(order))
    return Workload(overlay, lambda: iter(operations), {"operations": len(operations)}, {}, APART, topology)


def _order(rows: Sequence[OperationRow], random: Random) -> list[OperationRow]:
    """A row comes behind the one that it names in `after`, and before the one in `until`."""
    left, order = list(rows), list[OperationRow]()
    while left:
        waiting = {row.label for row in left}
        held = {row.until for row in left}
        ready = [row for row in left if row.after not in waiting and row.label not in held]
        order.append(random.choice(ready))
        left.remove(order[-1])
    return order
