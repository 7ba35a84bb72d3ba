"""The fuzzer: long runs of large instances, drawn at random, judged at every step, and shrunk when something is wrong.

    >>> from routeproof.checker.fuzz import fuzz
    >>> fuzz(None, policy="active", mutant=None, seed=0).findings["NoLostDelivery"].verdict
    'holds'

Reading order: `algebras` and `strategies` (what is drawn), `walk` and `watch` (a run, judged), `machine` (what
Hypothesis may do in it), `campaign` (Hypothesis at work), `known` (old counterexamples first), `profiles` (how much).
What a verdict of the fuzzer means is decided in `docs/decisions/0005-fuzz-verdict.md`.
"""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from pathlib import Path

from attrs import evolve
from hypothesis import strategies as st

from routeproof.checker.errors import unknown
from routeproof.checker.fuzz.campaign import Campaign
from routeproof.checker.fuzz.known import Regression, Scope, regression
from routeproof.checker.fuzz.machine import FaultyMachine, Machine
from routeproof.checker.fuzz.profiles import PROFILES
from routeproof.checker.fuzz.strategies import GENERATED, worlds
from routeproof.checker.fuzz.walk import Violation
from routeproof.checker.record import write_counterexample
from routeproof.checker.shrink import shrink
from routeproof.checker.verdict import Finding, Result
from routeproof.model.instance import POLICIES, Instance
from routeproof.model.protocols import world
from routeproof.model.routing_mutants import MUTANTS
from routeproof.spec.properties import PROPERTIES, Property, properties_for

__all__ = ["PROFILES", "fuzz"]


def fuzz(
    instance: Instance | None,
    *,
    policy: str | None,
    mutant: str | None,
    seed: int | None = None,
    profile: str = "fast",
    examples: int | None = None,
    properties: Sequence[Property] | None = None,
    traces: Path | None = None,
    seconds: float | None = None,
) -> Result:
    """Search for a violation: in the interleavings of one instance, or in instances that are drawn as well.

    No policy: the instance's first, or a drawn one. Kept traces are played first (see `known`). A violation is written
    to `traces`; where the instance was drawn, it is a minimal one that is written.
    """
    began = time.monotonic()
    question = _Question(instance, policy, mutant, properties, traces, seed, profile, examples, seconds)
