"""Leaving out of a run what it does not need, in the world in which it was found.

Hypothesis makes examples small, not runs: what it keeps may still hold steps that nothing depends on. Where the
instance was drawn as well, `checker.counterexamples.shrink` does far more than this.
"""

from __future__ import annotations

from collections.abc import Sequence

from routeproof.checker.fuzz.walk import Tally, Violated, Violation, Walk


def trimmed(violation: Violation) -> Violation:
    """Returns the violation with a run of which no step can be left out."""
    while True:
        before = len(violation.run)
        for at in reversed(range(before)):
            run = violation.run
            violation = _replayed(violation, run[:at] + run[at + 1 :]) if at < len(run) else violation
        if len(violation.run) == before:
            return violation


def _replayed(violation: Violation, run: Sequence[str]) -> Violation:
    """Plays as much of this run as it can, up to the violation; returns the old one if the new run is not shorter."""
    found: list[Violation] = []

    def note(violation: Violation) -> bool:
        found.append(violation)
        return True

    walk = Walk(violation.world, [violation.property], Tally(), note)
    try:
        for label in run:
            action = walk.world.action_named[label]
            if walk.world.enabled(walk.state, action):
                walk.take(action)
        walk.conclude()
    except Violated:
        return found[0]
    return violation
