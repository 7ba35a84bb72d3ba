"""Violations to record, replay, show and shrink: mutants, each with a property that catches it."""

from __future__ import annotations

from attrs import frozen

from routeproof.checker.evaluation import Finding
from routeproof.checker.explore import explore
from routeproof.checker.instances import find
from routeproof.model.protocols import world
from routeproof.model.world import World
from routeproof.spec.properties import PROPERTIES


@frozen
class Prey:
    """What fails (or, of a `sometimes`, is reached) where."""

    instance: str
    policy: str
    mutant: str | None
    property: str

    def __str__(self) -> str:
        return "-".join((self.instance, self.policy, self.mutant or "none", self.property))


MUTANTS = (
    Prey("line3", "active", "removals-first", "NoLostDelivery"),
    Prey("line3", "none", "no-settle-after-unsubscribe", "NoResidue"),
    Prey("cross3", "lazy", "no-settle-after-advertise", "NoLostDelivery"),
    Prey("cross3", "active", "quench-from-same-neighbour", "NoLostDelivery"),
    Prey("line3", "packing", "packing-withdrawals-first", "NoLostDelivery"),
    Prey("cross3", "none", "none-forwards-once", "PropagationTree"),
    Prey("line3", "active", "active-keeps-covered", "Compact"),
    Prey("unadv3", "lazy", "lazy-keeps-withdrawn", "NoResidue"),
    Prey("unadv3", "active", "unadvertise-not-flooded", "NoResidue"),
    Prey("cross3", "none", "publication-per-entry", "NoDuplicate"),
    Prey("two4", "active", "delivers-unmatched", "Precise"),
    Prey("line3", "active", "publication-sent-back", "Drains"),
)

FAULTS = (
    Prey("loss2", "active", None, "NoLostDelivery"),
    Prey("duplicate3", "lazy", None, "NoDuplicate"),
    Prey("reorder3", "active", None, "Agreement"),
    Prey("crash3", "none", None, "NoLostDelivery"),
)

WITNESS = Prey("line3", "active", None, "SomeQuenching")

ALL = (*MUTANTS, *FAULTS, WITNESS)


def hunt(prey: Prey, max_states: int = 20_000) -> tuple[World, Finding]:
    """The world, and a shortest run in it."""
    hunted = world(find(prey.instance), prey.policy, prey.mutant)
    finding = search(hunted, prey.property, max_states)
    assert finding.run is not None, f"{prey} was not found"
    return hunted, finding


def search(hunted: World, property: str, max_states: int = 20_000) -> Finding:
    result = explore(hunted, properties=[PROPERTIES[property]], max_states=max_states, stop_at_first=True)
    return result.findings[property]
