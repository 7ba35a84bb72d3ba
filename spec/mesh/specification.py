"""Specification of the mesh."""

from __future__ import annotations

from routeproof.spec.mesh.properties import PROPERTIES_OF_MESH
from routeproof.spec.property import Specification
from routeproof.spec.rules import Rule

RULES = tuple(
    Rule(id, "mesh", title, source, fires)
    for id, title, source, fires in (
        ("MESH-1", "the master map is the neighbourhood", "002 3", False),
        ("MESH-2", "the working map follows from master map and links", "002 3", False),
        ("MESH-3", "brokers without a link are merged into nearer ones", "002 3", False),
        ("MESH-4", "the array is sorted by distance", "002 3", False),
        ("MESH-5", "between, beyond, behind", "002 3", False),
        ("SUB-1", "subscriptions go everywhere, on primary links", "002 4", True),
        ("SUB-2", "the anchor of a local subscription", "002 4", True),
        ("SUB-3", "the anchor moves along", "002 4", True),
        ("SUB-5", "the working table follows from the working map", "002 4", True),
        ("FWD-1", "match, then compute paths", "002 5", True),
        ("FWD-2", "S0: the primary neighbours", "002 5", True),
        ("FWD-3", "only downstream", "002 5", True),
        ("FWD-4", "S1: what is common to the paths", "002 5", True),
        ("FWD-5", "S1: the farthest of it", "002 5", True),
        ("FWD-6", "S2: the nearest anchors", "002 5", True),
        ("FWD-7", "SH: S1 where the uplink is loaded", "002 5", True),
        ("FWD-9", "candidates are carried", "002 6", True),
        ("LINK-1", "links open and close at one end", "002 6", True),
    )
)

SPECIFICATION = Specification(
    "mesh",
    ("none",),
    properties=PROPERTIES_OF_MESH,
    rules=RULES,
    adopts=("NoLostDelivery", "NoDuplicate", "Precise", "Drains", "SomeDelivery", "SomeObligation"),
)
