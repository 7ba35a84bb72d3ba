"""Migration for the engines. It does not ship as a protocol of its own yet; name it on the command line:

routeproof check model/migration/instances/move3.toml --protocol routeproof.checker.migration:MIGRATION
"""

from __future__ import annotations

from routeproof.impl.migration.implementation import IMPLEMENTATION
from routeproof.model.migration.definition import DEFINITION
from routeproof.spec.migration.specification import SPECIFICATION


class MIGRATION:
    """One value a room."""

    definition = DEFINITION
    specification = SPECIFICATION
    implementation = IMPLEMENTATION
