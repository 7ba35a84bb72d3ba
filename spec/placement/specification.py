"""Specification of placement."""

from __future__ import annotations

from routeproof.model.instance import POLICIES
from routeproof.spec.placement.properties import PROPERTIES_OF_PLACEMENT
from routeproof.spec.property import Rule, Specification

RULES = tuple(
    Rule(id, "placement", title, source, fires)
    for id, title, source, fires in (
        ("POP-2", "some publications are traced", "004 III-A", True),
        ("POP-3", "trace results go upstream", "004 III-A", True),
        ("POP-4", "the two conditions of a result", "004 III-A", False),
        ("POP-5", "the profile", "004 III-A", True),
        ("POP-6", "the beginning of a selection", "004 III-B", True),
        ("POP-7", "the relocation request", "004 III-B", True),
        ("POP-8", "the closest neighbour", "004 III-B", False),
        ("POP-9", "passing the request on", "004 III-B", True),
        ("POP-10", "the outcome", "004 III-B", True),
        ("GRP-1", "trace sessions", "004 IV-A", True),
        ("GRP-2", "message ids", "004 IV-A", False),
        ("GRP-3", "the bit vector", "004 IV-A", True),
        ("GRP-4", "requests for traces", "004 IV-A", True),
        ("GRP-5", "aggregated answers", "004 IV-A", True),
        ("GRP-6", "the candidates", "004 IV-B", False),
        ("GRP-7", "the delay of a candidate", "004 Alg. 1", False),
        ("GRP-8", "the message rate of a candidate", "004 Alg. 2", False),
        ("GRP-9", "vectors behind a link", "004 Alg. 3", False),
        ("GRP-10", "the choice", "004 IV-B", True),
        ("GRP-11", "the ends of the weight", "004 IV-B", False),
    )
)

SPECIFICATION = Specification(
    "placement",
    POLICIES,
    properties=PROPERTIES_OF_PLACEMENT,
    rules=RULES,
    adopts=(
        "NoLostDelivery",
        "NoDuplicate",
        "Precise",
        "Agreement",
        "NoResidue",
        "NoStray",
        "Drains",
        "SomeDelivery",
    ),
)
