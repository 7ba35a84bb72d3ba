"""Which rule a broker broke: from what it was told, what the model sends there, and what it sent instead."""

from __future__ import annotations

from routeproof.checker.validate.said import Said
from routeproof.model.tables import Tables

FLOODED = {"advertise": "RTE-2", "unadvertise": "RTE-7", "publish": "RTE-5"}
ON = {"advertise": "RTE-4", "unadvertise": "RTE-7", "unsubscribe": "RTE-6", "unsubscribe-many": "RTE-6"}
"""By what the broker was told, the rule by which it sends and withdraws subscriptions; on a new one, RTE-3."""


def blame(told: str, tables: Tables, policy: str, wanted: Said | None, seen: Said | None) -> str:
    """The rule behind the first difference. `told`: what was handled; `tables`: what the model knows after that."""
    if wanted is not None and seen is not None and wanted.adds != seen.adds and wanted.withdraws != seen.withdraws:
        return "COV-8"  # the one where the other should be: the order is wrong
    said = wanted or seen
    assert said is not None, "a difference is made of something"
    if said.kind in FLOODED:
        return FLOODED[said.kind]
    if said.withdraws:
        covering = told.startswith("subscribe") or told == "advertise"
        return ("COV-6" if policy == "lazy" else "COV-4") if covering else ON.get(told, "RTE-6")
    if wanted is None and policy != "none" and _is_covered(said, tables):
        return "COV-2"
    return ON.get(told, "RTE-3")


def _is_covered(said: Said, tables: Tables) -> bool:
    """Does the broker know of something that covers what it sent?"""
    about = dict(said.about)
    known = [s for s, _ in tables.subs]
    return any(
        t.id not in about and t.filter.covers(wanted) for s in known if (wanted := about.get(s.id)) for t in known
    )
