"""The registry of specifications: those of the protocols that ship on top of the routing core, then those from outside.

The routing core's own rules, properties, claims and theorems are in `rules`, `properties`, `claims` and
`theory.theorems`, each of which adds those of the specifications.
"""

from __future__ import annotations

from routeproof.model.plugins import plugins
from routeproof.spec.migration.specification import SPECIFICATION as MIGRATION
from routeproof.spec.property import Specification
from routeproof.spec.pruning.specification import SPECIFICATION as PRUNING

SHIPPED = (PRUNING, MIGRATION)


def specifications() -> tuple[Specification, ...]:
    """Returns the specifications of all protocols but the core: those that ship, then those from outside."""
    named = (getattr(plugin, "specification", None) for plugin in plugins())
    return (*SHIPPED, *(each for each in named if each is not None))
