"""One campaign: examples drawn by Hypothesis until one violates a property, which Hypothesis then makes small.

`Campaign.run` is all. What it finds and what it has seen are left in its attributes.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from math import inf

from attrs import Factory, define
from hypothesis import HealthCheck, Phase, Verbosity, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import run_state_machine_as_test

from routeproof.checker.fuzz.hermetic import hermetic
from routeproof.checker.fuzz.machine import Machine
from routeproof.checker.fuzz.profiles import Profile
from routeproof.checker.fuzz.walk import Tally, Violated, Violation, Walk
from routeproof.model.world import World
from routeproof.spec.properties import Property, properties_for

INTERRUPTED = "interrupted"


class Leave(KeyboardInterrupt):
    """Enough. An interrupt is the one thing at which Hypothesis drops everything and draws no conclusions."""


@define
class Campaign:
    """What to do, and from `tally` on, what came of it."""

    worlds: st.SearchStrategy[World]
    machine: type[Machine]
    profile: Profile
    seed: int
    properties: Sequence[Property] | None = None
    """Those of each world's policy where None."""
    declared: frozenset[str] = frozenset()
    """Properties that are known to fail here: a violation is noted, and the search goes on."""
    deadline: float = inf

    tally: Tally = Factory(Tally)
    examples: int = 0
    shrinking: Tally = Factory(Tally)
    """What is seen while a violation is made small, which is no evidence of anything else."""
    violation: Violation | None = None
    noted: dict[str, Violation] = Factory(dict)
    limit: str = ""
    """What ended it before its last example, if no violation did."""

    def run(self) -> None:
        def example() -> Machine:
            self._next_example()
            return self.machine(self.worlds, self._set_out)

        try:
            with hermetic():
                # Any callable that makes a machine will do; Hypothesis says so, its types do not.
                run_state_machine_as_test(seed(self.seed)(example), settings=self._settings())  # type: ignore[arg-type]
        except (Violated, Leave):
            pass
        except KeyboardInterrupt:
            self.limit = INTERRUPTED

    def _next_example(self) -> None:
        late = time.monotonic() > self.deadline
        if self.violation is not None:
            if late or self.shrinking.steps > self.profile.shrinking:
                raise Leave
        elif late:
            self.limit = "out of time"
            raise Leave
        else:
            self.examples += 1

    def _set_out(self, world: World) -> Walk:
        properties = properties_for(world.policy) if self.properties is None else self.properties
        return Walk(world, properties, self.shrinking if self.violation else self.tally, self._is_sought)

    def _is_sought(self, violation: Violation) -> bool:
        """The first one found, and while it is made small, any of the same property."""
        id = violation.property.id
        if id in self.declared:
            if id not in self.noted or len(violation.run) < len(self.noted[id].run):
                self.noted[id] = violation
            return False
        if self.violation is not None and self.violation.property.id != id:
            return False
        if self.violation is None or len(violation.run) < len(self.violation.run):
            self.violation = violation
        return True

    def _settings(self) -> settings:
        return settings(
            max_examples=self.profile.examples,
            stateful_step_count=self.profile.steps,
            # No reuse: our traces are the database (see `known`). No explaining: the trace explains.
            phases=(Phase.generate, Phase.shrink),
            database=None,
            derandomize=True,  # nothing but the seed that is given
            deadline=None,  # a drain takes as long as it takes
            report_multiple_bugs=False,
            print_blob=False,
            verbosity=Verbosity.quiet,
            # Hypothesis calls examples slow or large that are ordinary here: a run of hundreds of steps is the point.
            suppress_health_check=(HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example),
        )
