"""Campaigns: old counterexamples, then examples drawn by Hypothesis until one violates a property and is made small.

`Campaign.run` is all. What it finds and what it has seen are left in its attributes. A profile says how much is drawn:
`fast` for every change, `long` for campaigns. Hypothesis is cut off from the process that it runs in: a seed means the
same everywhere, and nothing is written.

Hypothesis seasons what it draws with constants from the source of whatever modules are loaded, and keeps notes on them
in `.hypothesis`. So one seed would draw one thing in a test of its own and another in the middle of a suite.

Traces are the fuzzer's memory, in place of a database that only one version of one library could read. `regression`
plays again what earlier campaigns wrote, before anything new is drawn, and returns the first trace that still ends in a
violation. The traces that ship (`traces/corpus/`) are left out: each shows where a claim fails, as a rule under a
reading that no instance has by default, and `check` replays them itself.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory

from attrs import Factory, define, frozen
from hypothesis import HealthCheck, Phase, Verbosity, seed, settings
from hypothesis import strategies as st
from hypothesis.configuration import set_hypothesis_home_dir, storage_directory
from hypothesis.internal.conjecture import providers
from hypothesis.stateful import run_state_machine_as_test

from routeproof.checker.counterexamples import Replay, is_counterexample, replay_file
from routeproof.checker.fuzz.strategies import Sizes
from routeproof.checker.fuzz.walk import Machine, Violated, Violation, Walk, WalkTally
from routeproof.model.instance import Instance
from routeproof.model.world import World
from routeproof.spec.properties import Property, properties_for
from routeproof.traces import Header, TraceError, open_trace


@contextmanager
def hermetic() -> Iterator[None]:
    before = storage_directory(intent_to_write=False).home_directory
    with TemporaryDirectory(prefix="routeproof-") as directory, _no_constants_of_this_process():
        set_hypothesis_home_dir(directory)
        try:
            yield
        finally:
            set_hypothesis_home_dir(before)


@contextmanager
def _no_constants_of_this_process() -> Iterator[None]:
    """There is no setting for it. Versions of Hypothesis without these names have no such constants either."""
    before = getattr(providers, "_get_local_constants", None)
    if before is None:
        yield
        return
    none = type(providers.GLOBAL_CONSTANTS)()
    providers._get_local_constants = lambda: none
    providers.CONSTANTS_CACHE.cache.clear()  # what was permitted so far includes constants of this process
    try:
        yield
    finally:
        providers._get_local_constants = before
        providers.CONSTANTS_CACHE.cache.clear()


@frozen
class FuzzProfile:
    """`seed` None: a new one for every campaign, which the result names."""

    examples: int
    steps: int
    """Rules a run; most of them are several steps of the world."""
    sizes: Sizes
    seed: int | None
    shrinking: int
    """Steps that Hypothesis may spend on making a violation small, before the shrinker of runs takes over."""


PROFILES = {
    "fast": FuzzProfile(examples=300, steps=40, sizes=Sizes(), seed=0, shrinking=8_000),
    "long": FuzzProfile(
        examples=5_000,
        steps=80,
        sizes=Sizes(brokers=12, advertisements=5, subscriptions=10, publications=8),
        seed=None,
        shrinking=500_000,
    ),
}


INTERRUPTED = "interrupted"


class CampaignStopped(KeyboardInterrupt):
    """Enough. An interrupt is the one thing at which Hypothesis drops everything and draws no conclusions."""


@define
class Campaign:
    """A campaign: its settings, and from `tally` on, its findings."""

    worlds: st.SearchStrategy[World]
    machine: type[Machine]
    profile: FuzzProfile
    seed: int
    properties: Sequence[Property] | None = None
    """Properties to judge; None for those of each world's policy."""
    declared: frozenset[str] = frozenset()
    """Properties that are known to fail here: a violation is noted, and the search goes on."""
    deadline: float = inf

    tally: WalkTally = Factory(WalkTally)
    examples: int = 0
    shrinking: WalkTally = Factory(WalkTally)
    """Observations while a violation is made small, which are no evidence of anything else."""
    violation: Violation | None = None
    noted: dict[str, Violation] = Factory(dict)
    limit: str = ""
    """Reason why it ended before its last example, if no violation ended it."""

    def run(self) -> None:
        def example() -> Machine:
            self._next_example()
            return self.machine(self.worlds, self._set_out)

        try:
            with hermetic():
                # Any callable that makes a machine will do; Hypothesis says so, its types do not.
                run_state_machine_as_test(seed(self.seed)(example), settings=self._settings())  # type: ignore[arg-type]
        except (Violated, CampaignStopped):
            pass
        except KeyboardInterrupt:
            self.limit = INTERRUPTED

    def _next_example(self) -> None:
        late = time.monotonic() > self.deadline
        if self.violation is not None:
            if late or self.shrinking.steps > self.profile.shrinking:
                raise CampaignStopped
        elif late:
            self.limit = "out of time"
            raise CampaignStopped
        else:
            self.examples += 1

    def _set_out(self, world: World) -> Walk:
        properties = properties_for(world.definition.name, world.policy) if self.properties is None else self.properties
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


@frozen
class Regression:
    """A trace that still shows what it was kept for, or something else that is wrong."""

    path: Path
    violation: Violation


@frozen
class Scope:
    """Scope of a question: traces of anything else are left alone. `instance` None: any instance without faults."""

    instance: Instance | None
    protocol: str
    policies: Sequence[str]
    mutant: str | None
    properties: Sequence[Property] | None
    declared: frozenset[str]

    def admits(self, header: Header) -> bool:
        """By the header alone, before a run is played."""
        return (
            is_counterexample(header)
            and header.protocol == self.protocol
            and header.policy in self.policies
            and header.more.get("mutant") == self.mutant
        )

    def admits_instance(self, instance: Instance) -> bool:
        if self.instance is None:
            return not instance.faults.any  # where links and brokers fail, violations are no news
        return instance.name in (self.instance.name, f"{self.instance.name}-shrunk")


def regression(scope: Scope, directory: Path | None) -> Regression | None:
    paths = directory.iterdir() if directory is not None and directory.is_dir() else ()
    for path in sorted(paths):
        if path.suffix == ".jsonl" and _is_admitted(scope, path):
            replayed = replay_file(path)
            if scope.admits_instance(replayed.counterexample.world.instance):
                for violation in _violations(scope, replayed):
                    return Regression(path, violation)
    return None


def _is_admitted(scope: Scope, path: Path) -> bool:
    """Traces of brokers may lie there too, and files that are none."""
    try:
        with open_trace(path) as (header, _):
            return scope.admits(header)
    except TraceError:
        return False


def _violations(scope: Scope, replayed: Replay) -> Iterator[Violation]:
    """First violations. A run that cannot be played to its end any more is judged as far as it goes."""
    world, run = replayed.counterexample.world, replayed.counterexample.run
    judged = properties_for(world.definition.name, world.policy) if scope.properties is None else scope.properties
    for length, wrong in enumerate(replayed.violations):
        for p, why in wrong:
            if p in judged and p.id not in scope.declared and p.id not in world.instance.must_fail:
                yield Violation(world, p, why, run[:length])
