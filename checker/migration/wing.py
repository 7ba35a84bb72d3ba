"""The wing of migration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from routeproof.checker.wings import Wing


def experiments() -> Mapping[str, Any]:
    """The experiments of paper 004, whose publishers move to where placement wants them."""
    from routeproof.checker.placement.experiments import EXPERIMENTS

    return EXPERIMENTS


WING = Wing(experiments=experiments)
