"""The stated limit of moves: what a participant that crashes takes with it (`spec/mesh.md`, MOVE-9)."""

from routeproof.checker.explore import explore
from routeproof.checker.instances import find
from routeproof.model.instance_file import parse_instance, to_table
from routeproof.model.protocols import world

LOST = {"Everywhere": 4, "NoLostDelivery": 6, "MoveEnds": 7, "Drains": 16, "MapsFresh": 20, "AnchorsFresh": 20}
"""By property, the steps after which a crash breaks it."""


def test_what_a_crash_takes_with_it() -> None:
    """In the first states only: a subscription that goes round for ever makes their number infinite."""
    table = to_table(find("mover3"))
    t = {"id": "t", "at": 1, "events": [0]}
    table |= {"faults": {"crash": 1}, "must_reach": [], "subscription": [t]}
    result = explore(world(parse_instance(table, "lost3"), "none"), max_states=11_000)
    failed = {id: finding.run for id, finding in result.findings.items() if finding.kind == "always" and finding.failed}
    assert {id: len(run or ()) for id, run in failed.items()} == LOST
    assert result.findings["NoDuplicate"].exercised
