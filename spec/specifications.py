"""The registry of specifications: rules, properties and claims of the protocols that ship and of those from outside.

The routing core's own are listed in `rules`, `properties` and `claims`.
"""

from __future__ import annotations

from routeproof.model.plugins import plugins
from routeproof.spec.migration.specification import SPECIFICATION as MIGRATION
from routeproof.spec.property import Specification

SHIPPED = (MIGRATION,)


def specifications() -> tuple[Specification, ...]:
    """The specifications of all protocols but the core: those that ship, then those from outside."""
    return (*SHIPPED, *(each.specification for each in plugins() if hasattr(each, "specification")))
