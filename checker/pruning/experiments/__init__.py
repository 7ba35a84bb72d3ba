"""The experiments of papers 000 and 001, which are about pruning. Each is in a module named for its figure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from routeproof.checker.experiments.reproduce.experiment import Experiment
from routeproof.checker.pruning.experiments import (
    fig6_000,
    fig7_000,
    fig7_001,
    fig8_9_001,
    fig9_000,
    fig10_000,
    fig10_001,
    fig12_001,
    table2_000,
)

EXPERIMENTS: Mapping[str, Experiment[Any]] = {
    "000-table2": table2_000.EXPERIMENT,
    "000-fig6": fig6_000.EXPERIMENT,
    "000-fig7": fig7_000.EXPERIMENT,
    "000-fig9": fig9_000.EXPERIMENT,
    "000-fig10": fig10_000.EXPERIMENT,
    "001-fig7": fig7_001.EXPERIMENT,
    "001-fig8": fig8_9_001.FIG_8,
    "001-fig9": fig8_9_001.FIG_9,
    "001-fig10": fig10_001.EXPERIMENT,
    "001-fig12": fig12_001.EXPERIMENT,
}
