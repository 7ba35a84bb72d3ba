"""Claims of papers that fail: do the counterexamples that ship still show it, and do the repairs mend them?"""

from __future__ import annotations

from importlib.resources import as_file, files
from importlib.resources.abc import Traversable

from routeproof.checker.check.conclusion import Failure
from routeproof.checker.counterexamples.replay import replay_file
from routeproof.checker.explore import explore
from routeproof.checker.system.errors import UsageError
from routeproof.checker.verdict import Finding
from routeproof.model.instance_file import parse_instance, to_table
from routeproof.model.protocols import world as world_of
from routeproof.model.world import World
from routeproof.spec.claim import Repair
from routeproof.spec.claims import CLAIMS, Claim
from routeproof.spec.properties import PROPERTIES

CORPUS = files("routeproof.traces").joinpath("corpus")


def unshown(corpus: Traversable = CORPUS) -> list[Failure]:
    """Returns a failure for each claim whose counterexample no longer shows it, or whose repair does not mend it."""
    broken = ((claim, _why(claim, corpus.joinpath(claim.trace))) for claim in CLAIMS.values() if claim.trace)
    return [Failure(claim.id, f"{claim.trace}: {why}") for claim, why in broken if why]


def _why(claim: Claim, trace: Traversable) -> str:
    if not trace.is_file():
        return "is not there"
    try:
        with as_file(trace) as path:
            replayed = replay_file(path)
    except UsageError as error:
        return str(error)
    if replayed.counterexample.property != PROPERTIES[claim.property]:
        return f"is a counterexample to something else than {claim.property}"
    if replayed.difference is not None:
        return f"is no counterexample any more: {replayed.difference}"
    mended = repaired(claim, replayed.counterexample.world)
    return f"is not mended by its repair: {mended.property} fails" if mended and mended.failed else ""


def repaired(claim: Claim, broken: World) -> Finding | None:
    """Result for the counterexample's own clients under the claim's repair; None if it has no repair."""
    repair = claim.repair
    if repair is None or not (repair.holds or repair.readings or repair.policy):
        return None
    asked = PROPERTIES[CLAIMS[repair.holds].property if repair.holds else claim.property]
    return explore(variant(broken, repair), properties=[asked]).findings[asked.id]


def variant(broken: World, repair: Repair) -> World:
    """World with the same clients, under what the repair changes."""
    policy = repair.policy or broken.policy
    table = {**to_table(broken.instance), "policy": policy}
    if repair.readings:  # the section that has the protocol's name
        protocol, given = broken.instance.protocol, table.get(broken.instance.protocol, {})
        table[protocol] = {**(given if isinstance(given, dict) else {}), **repair.readings}
    return world_of(parse_instance(table, "repaired"), policy)
