"""Placement from traces: where the publishers of a recorded run should be, and what the network would gain.

To be read in this order: `overlay` (the brokers as arrays), `events` and `reading` (events of a trace to columns),
`joining` (bit vectors and counts of publications), `choosing` (POP, GRAPE and brute force), `engines` (on one core and
on Spark), `report` and `picture`. `running` and `figures` are the experiments of the paper. The rules are in
`spec/placement.md`.

Placement is a protocol of the model too. It does not ship among the protocols; name it on the command line:

routeproof check model/placement/instances/order4.toml --protocol routeproof.checker.placement:PLACEMENT
"""

from __future__ import annotations

from routeproof.impl.placement.implementation import IMPLEMENTATION
from routeproof.model.placement.definition import DEFINITION
from routeproof.spec.placement import SPECIFICATION


class PLACEMENT:
    """One value a room."""

    definition = DEFINITION
    specification = SPECIFICATION
    implementation = IMPLEMENTATION
