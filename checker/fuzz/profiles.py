"""How much fuzzing: `fast` for every change, `long` for campaigns."""

from __future__ import annotations

from attrs import frozen

from routeproof.checker.fuzz.strategies import Sizes


@frozen
class Profile:
    """`seed` None: a new one for every campaign, which the result names."""

    examples: int
    steps: int
    """Rules a run; most of them are several steps of the world."""
    sizes: Sizes
    seed: int | None
    shrinking: int
    """Steps that Hypothesis may spend on making a violation small, before the shrinker of runs takes over."""


PROFILES = {
    "fast": Profile(examples=300, steps=40, sizes=Sizes(), seed=0, shrinking=8_000),
    "long": Profile(
        examples=5_000,
        steps=80,
        sizes=Sizes(brokers=12, advertisements=5, subscriptions=10, publications=8),
        seed=None,
        shrinking=500_000,
    ),
}
