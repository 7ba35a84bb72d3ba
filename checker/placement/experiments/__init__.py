"""The experiments of paper 004: publishers that stay, and publishers that POP or GRAPE moves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from routeproof.checker.experiments.reproduce import Experiment
from routeproof.checker.placement.experiments import figures

EXPERIMENTS: Mapping[str, Experiment[Any]] = {
    "004-fig5": figures.ENTERPRISE,
    "004-fig6": figures.RANDOM,
    "004-fanout": figures.FAN_OUT,
    "004-weights": figures.WEIGHTS_STUDY,
    "004-thresholds": figures.THRESHOLDS_STUDY,
}
