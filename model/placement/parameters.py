"""Readings of placement: places that paper 004 leaves open, as named parameters with a default.

[placement]
algorithm = "pop"         # or "grape"
threshold = 2             # traced publications before a selection (POP-6, GRP-1)
tags = 2                  # POP: publications of each publisher that may be tagged
results = "named"         # or "unnamed", as printed: a trace result does not say of which publication it is
absent = "zero"           # or "skipped": a neighbour that a traced publication did not go to
counter = "publisher"     # or "broker": whose publications message ids count (GRP-2)
metric = "load"           # or "delay"
weight = 100
"""

from __future__ import annotations

from attrs import frozen

from routeproof.model.instance import Instance

READINGS: dict[str, tuple[str, ...]] = {
    "algorithm": ("pop", "grape"),
    "results": ("named", "unnamed"),
    "absent": ("zero", "skipped"),
    "counter": ("publisher", "broker"),
    "metric": ("load", "delay"),
}
"""Per reading its values, the default first."""


@frozen
class PlacementParameters:
    """A choice of readings, and the numbers of an instance."""

    algorithm: str = "pop"
    results: str = "named"
    """Named, since results of two traces may overtake each other: a publication that goes less far is reported
    earlier."""
    absent: str = "zero"
    """A neighbour that got nothing counts as 0, or its average would stay high after its subscribers have left."""
    counter: str = "publisher"
    """A publisher's own counter, or the offsets in a bit vector might exceed the threshold."""
    metric: str = "load"
    threshold: int = 1
    tags: int = 1
    weight: int = 100


DEFAULT = PlacementParameters()


def parameters_of(instance: Instance) -> PlacementParameters:
    """The readings that an instance chooses."""
    found: PlacementParameters = instance.section("placement", DEFAULT)
    return found
