"""Specification of migration."""

from __future__ import annotations

from routeproof.model.instance import POLICIES
from routeproof.spec.migration.claims import FIGURE_CLAIMS, MIGRATION_CLAIMS
from routeproof.spec.migration.properties import PROPERTIES_OF_MIGRATION
from routeproof.spec.property import Rule, Specification

RULES = tuple(
    Rule(id, "migration", title, source, fires)
    for id, title, source, fires in (
        ("MIG-1", "the source sends the publisher away", "004 III-C", True),
        ("MIG-2", "the target takes the publisher in", "004 III-C", True),
        ("MIG-3", "the update goes from target to source", "004 III-C", True),
        ("MIG-4", "op 1: the advertisement lies where the update comes from", "004 III-C", True),
        ("MIG-5", "op 2: entries that nothing draws any more are removed", "004 III-C", True),
        ("MIG-6", "op 3: subscriptions go to where the publisher is now", "004 III-C", True),
        ("MIG-7", "the completion follows the subscriptions", "004 III-C", True),
        ("MIG-8", "the publisher resumes", "004 III-C", True),
        ("MIG-11", "the sender's record", "ours", True),
        ("MIG-12", "the publisher marks its last publication", "ours", True),
        ("MIG-13", "an advertisement that moves lies both ways", "ours", True),
        ("MIG-14", "the broker that sent subscriptions withdraws them", "ours", True),
        ("MIG-15", "the target waits for the advertisement", "ours", True),
        ("MIG-16", "moves that do not take place", "ours", True),
    )
)

SPECIFICATION = Specification(
    "migration",
    POLICIES,
    properties=PROPERTIES_OF_MIGRATION,
    rules=RULES,
    claims=(*MIGRATION_CLAIMS, *FIGURE_CLAIMS),
    adopts=(
        "NoLostDelivery",
        "NoDuplicate",
        "Precise",
        "Agreement",
        "NoResidue",
        "NoStray",
        "Drains",
        "SomeDelivery",
        "SomeObligation",
    ),
)
