"""The experiments of papers 000 and 001, which are about pruning.

A module holds the figures of one kind of scenario in one paper.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from routeproof.checker.experiments.reproduce import Experiment
from routeproof.checker.pruning.experiments import controlled_000, controlled_001, costs_000, mobile_000, mobile_001

EXPERIMENTS: Mapping[str, Experiment[Any]] = {
    "000-table2": costs_000.EXPERIMENT,
    "000-fig6": controlled_000.FIG_6,
    "000-fig7": controlled_000.FIG_7,
    "000-fig9": mobile_000.FIG_9,
    "000-fig10": mobile_000.FIG_10,
    "001-fig7": controlled_001.FIG_7,
    "001-fig8": controlled_001.FIG_8,
    "001-fig9": controlled_001.FIG_9,
    "001-fig10": mobile_001.FIG_10,
    "001-fig12": mobile_001.FIG_12,
}
