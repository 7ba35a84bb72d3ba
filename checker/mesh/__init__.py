"""The mesh for the engines. It does not ship as a protocol of its own yet; name it on the command line:

routeproof check model/mesh/instances/bypass4.toml --protocol routeproof.checker.mesh:MESH
"""

from __future__ import annotations

from routeproof.impl.mesh.implementation import IMPLEMENTATION
from routeproof.model.mesh.definition import DEFINITION
from routeproof.spec.mesh.specification import SPECIFICATION


class MESH:
    """One value a room."""

    definition = DEFINITION
    specification = SPECIFICATION
    implementation = IMPLEMENTATION
