"""One fuzzing campaign: draw examples until one violates a property, then make that one small."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from tempfile import TemporaryDirectory

from attrs import evolve
from hypothesis import HealthCheck, Phase, Verbosity, seed, settings
from hypothesis import strategies as st
from hypothesis.configuration import set_hypothesis_home_dir, storage_directory
from hypothesis.stateful import run_state_machine_as_test

from routeproof.checker.fuzz.machine import FaultyMachine, Machine
from routeproof.checker.fuzz.profiles import Profile
from routeproof.checker.fuzz.strategies import instances
from routeproof.checker.fuzz.walk import Tally, Violated, Violation, Walk
from routeproof.model.instance import POLICIES, Instance
from routeproof.model.protocols import world
from routeproof.model.routing_mutants import MUTANTS
from routeproof.model.world import World
from routeproof.spec.properties import Property, properties_for


class OutOfTime(KeyboardInterrupt):
    """Leaves Hypothesis at once: not an `Exception`, which it would take for a failing example."""


class Campaign:
    def __init__(self, worlds, properties, profile, seed, deadline) -> None:
        self.worlds = worlds
        self.properties = properties
        self.profile = profile
        self.seed = seed
        self.deadline = deadline
        self.tally = Tally()
        self.violation: Violation | None = None
        self.attempts = 0
        self.cut = False

    def run(self, faulty: bool) -> None:
        @seed(self.seed)
        def machine() -> Machine:
            return (FaultyMachine if faulty else Machine)(self.worlds, self.set_out)

        try:
            with _nothing_written():
                run_state_machine_as_test(machine, settings=self._settings())
        except Violated:
            pass
        except OutOfTime:
            self.cut = True

    def set_out(self, world):
        self.tally.examples += 1
        if self.violation:
            self.attempts += 1
            if self.attempts > self.profile.shrinking:
                raise OutOfTime
        return Walk(world, self.properties or properties_for(world.policy), self.tally, self.report)

    def report(self, v):
        if self.violation is None:
            self.violation = v
            return True
        if v.property != self.violation.property:
            return False
        if len(v.run) < len(self.violation.run):
            self.violation = v
        return True

    def _settings(self):
        return settings(
            max_examples=self.profile.examples,
            stateful_step_count=self.profile.steps,
            phases=(Phase.generate, Phase.shrink),
            derandomize=True,
            database=None,
            deadline=None,
            report_multiple_bugs=False,
            print_blob=False,
            verbosity=Verbosity.quiet,
            suppress_health_check=list(HealthCheck),
        )


@contextmanager
def _nothing_written():
    before = storage_directory(intent_to_write=False).home_directory
    with TemporaryDirectory() as d:
        set_hypothesis_home_dir(d)
        try:
            yield
        finally:
            set_hypothesis_home_dir(before)


@st.composite
def worlds(draw, sizes, policies, mutant):
    policy = draw(st.sampled_from(policies))
    return world(evolve(draw(instances(sizes)), policies=(policy,)), policy, mutant)
