"""The papers' experiments, made again: `EXPERIMENTS` has them by name.

    plan = EXPERIMENTS["000-fig6"].plan(scale, seed)
    findings = EXPERIMENTS["000-fig6"].conclude({job.name: job.run() for job in plan})

`experiment` says what an experiment is, `simulation` what a run is and what it gives; `running` makes runs in several
processes, and `report` writes what came of them. Each experiment is a module named for its figure.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from routeproof.checker.reproduce import (
    fig6_000,
    fig7_000,
    fig7_001,
    fig8_001,
    fig9_000,
    fig9_001,
    fig10_000,
    fig10_001,
    fig12_001,
    table2_000,
)
from routeproof.checker.reproduce.experiment import Experiment

EXPERIMENTS: Mapping[str, Experiment[Any]] = {
    "000-table2": table2_000.EXPERIMENT,
    "000-fig6": fig6_000.EXPERIMENT,
    "000-fig7": fig7_000.EXPERIMENT,
    "000-fig9": fig9_000.EXPERIMENT,
    "000-fig10": fig10_000.EXPERIMENT,
    "001-fig7": fig7_001.EXPERIMENT,
    "001-fig8": fig8_001.EXPERIMENT,
    "001-fig9": fig9_001.EXPERIMENT,
    "001-fig10": fig10_001.EXPERIMENT,
    "001-fig12": fig12_001.EXPERIMENT,
}
