"""Leaving out of a run what it does not need, in the world in which it was found.

Hypothesis makes examples small, not runs: what it keeps may still hold steps that nothing depends on. Where the
instance was drawn as well, `checker.shrink` does far more than this.
"""

from __future__ import annotations

from routeproof.checker.fuzz.walk import Tally, Violated, Violation, Walk


def trimmed(violation: Violation) -> Violation:
    """The same violation by a run of which no step can be left out."""
    at = len(violation.run)
    while at > 0:
        at = min(at, len(violation.run)) - 1
        shorter = _replayed(violation, violation.run[:at] + violation.run[at + 1 :])
        if shorter is not None:
            violation = shorter
    return violation


def _replayed(violation: Violation, run: tuple[str, ...]) -> Violation | None:
    """What can be taken of this run, up to where the property is violated; None where it is not."""
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
    return None
