"""Placement for the engines, as a protocol. It does not ship among the protocols; name it on the command line:

routeproof check model/placement/instances/order4.toml --protocol routeproof.checker.placement.protocol:PLACEMENT
"""

from __future__ import annotations

from routeproof.model.placement.definition import DEFINITION
from routeproof.spec.placement.specification import SPECIFICATION


class PLACEMENT:
    """One value a room."""

    definition = DEFINITION
    specification = SPECIFICATION
