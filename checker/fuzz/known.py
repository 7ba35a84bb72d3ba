"""Old counterexamples first: every trace that is kept is played again before anything new is drawn.

Traces are the fuzzer's memory, in place of a database that only one version of one library could read: the shipped
corpus, and whatever earlier campaigns wrote. `regression` is the first of them that still ends in a violation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from importlib.resources import as_file, files
from pathlib import Path

from attrs import frozen

from routeproof.checker.counterexamples.counterexample import is_counterexample
from routeproof.checker.counterexamples.replay import Replay, replay_file
from routeproof.checker.fuzz.walk import Violation
from routeproof.model.instance import Instance
from routeproof.spec.properties import Property, properties_for
from routeproof.traces import Header, TraceError, open_trace


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
    with ExitStack() as stack:
        corpus = files("routeproof.traces").joinpath("corpus")
        paths = [stack.enter_context(as_file(entry)) for entry in corpus.iterdir()] if corpus.is_dir() else []
        paths += list(directory.iterdir()) if directory is not None and directory.is_dir() else []
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
