"""Workloads: who subscribes to what, where and when, at the size of the papers or smaller.

`WORKLOADS` has them by name; `workload` draws one:

    drawn = workload("controlled", scale=0.01, seed=0)
    simulator.play(drawn.operations())

What each parameter is and where it comes from is in `docs/reference/workloads.md`.
"""

from __future__ import annotations

from collections.abc import Mapping

from routeproof.impl.workloads.controlled import Clustered001, Controlled, Controlled001
from routeproof.impl.workloads.moving import Mobile, Tiered, TieredAll, Zipf
from routeproof.impl.workloads.stock import Stock, StockEnterprise
from routeproof.impl.workloads.workflow import Workflow
from routeproof.impl.workloads.workload import Parameter, Recipe, Workload, parameters

__all__ = ["MOST_SCALE", "SMALL", "WORKLOADS", "Parameter", "Recipe", "Workload", "parameters", "workload"]

WORKLOADS: Mapping[str, Recipe] = {
    "controlled": Controlled(),
    "controlled-001": Controlled001(),
    "clustered-001": Clustered001(),
    "stock": Stock(),
    "stock-enterprise": StockEnterprise(),
    "zipf": Zipf(),
    "mobile": Mobile(),
    "workflow": Workflow(),
    "tiered": Tiered(),
    "tiered-all": TieredAll(),
}

SMALL = 0.01
"""The scale of a run that takes seconds."""

MOST_SCALE = 10.0


def workload(name: str, scale: float, seed: int) -> Workload:
    return WORKLOADS[name].scaled(scale).workload(seed)
