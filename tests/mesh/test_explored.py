"""The mesh, explored: what holds, which readings fail, and which property catches which fault."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from routeproof.checker.explore import explore
from routeproof.checker.instances import load
from routeproof.model.instance_file import InstanceError, parse_instance, to_table
from routeproof.model.mesh.mutants import MESH_MUTANTS
from routeproof.model.mesh.parameters import READINGS, parameters_of
from routeproof.model.protocols import world
from routeproof.spec.mesh.specification import SPECIFICATION
from routeproof.spec.properties import PROPERTIES
from tests.mesh.conftest import INSTANCES

FILES = sorted(INSTANCES.glob("*.toml"))
CAUGHT = {
    "anchor-stays": ("line5", "AnchorsFresh", 5),
    "anchor-follows": ("bypass4", "AnchorsFresh", 4),
    "sends-back": ("bypass4", "NoWayBack", 9),
    "sends-nowhere-behind-a-soft-hop": ("line5", "NoLostDelivery", 9),
    "soft-hops-uncounted": ("forks4", "NoDuplicate", 12),
    "stands-for-its-branch": ("bypass4", "NoLostDelivery", 7),
    "covers-across-ends": ("carried4", "NoLostDelivery", 10),
    "withdrawal-stops": ("forks4", "Everywhere", 7),
    "forwards-to-one-branch": ("forks4", "Everywhere", 3),
    "close-unnoticed": ("candidate4", "NoLostDelivery", 9),
    "candidate-as-link": ("candidate4", "NoLostDelivery", 7),
    "both-ways": ("forks4", "NoDuplicate", 8),
    "nearest-only": ("forks4", "NoLostDelivery", 10),
    "carried-and-sent": ("candidate4", "NoDuplicate", 12),
    "over-fanout": ("boost4", "WithinFanout", 9),
    "promoted-unnoticed": ("rounds4", "NoLostDelivery", 11),
    "candidates-anywhere": ("rounds4", "LinksInMap", 1),
    "hands-over-early": ("move4", "NoLostDelivery", 12),
    "second-copies-forwarded": ("mover3", "NoDuplicate", 20),
    "old-link-cut": ("mover3", "NoLostDelivery", 15),
    "finishes-early": ("two3", "NoLostDelivery", 20),
    "old-link-in-map": ("two3", "OwnMapIsTree", 10),
    "map-grows": ("subtree4", "MapsFresh", 28),
    "anchors-kept": ("move4", "AnchorsFresh", 32),
    "late-subscriptions-taken": ("late3", "Everywhere", 28),
    "withdrawals-forgotten": ("subtree4", "Everywhere", 34),
    "beyond-the-radius": ("far6", "Everywhere", 33),
    "withheld-forgotten": ("declined3", "Everywhere", 15),
    "refusal-unfinished": ("declined3", "MoveEnds", 9),
    "refused-and-taken": ("declined3", "RefusedStays", 8),
    "called-off-late": ("calledoff3", "NoLostDelivery", 20),
    "grants-two": ("two3", "MoveEnds", 15),
}
"""By fault: an instance, the property that catches it there, and the length of the shortest run."""


@pytest.mark.parametrize("mutant", CAUGHT)
def test_a_fault_is_caught(mutant: str) -> None:
    name, property, steps = CAUGHT[mutant]
    asked = world(load(INSTANCES / f"{name}.toml"), "none", mutant)
    finding = explore(asked, properties=[PROPERTIES[property]], stop_at_first=True).findings[property]
    assert finding.verdict == "fails"
    assert finding.run is not None
    assert len(finding.run) == steps


def test_every_fault_is_in_the_table_and_every_property_of_the_mesh_catches_one() -> None:
    assert sorted(CAUGHT) == sorted(MESH_MUTANTS)
    own = {p.id for p in SPECIFICATION.properties if p.kind == "always"}
    assert own <= {property for _, property, _ in CAUGHT.values()}


def test_every_rule_is_in_the_prose_and_fires_somewhere() -> None:
    prose = (Path(__file__).resolve().parents[2] / "spec/mesh.md").read_text(encoding="utf-8")
    begins = re.findall(r"^\*\*([A-Z]+-\d+)\*\*", prose, re.MULTILINE)
    assert begins == [rule.id for rule in SPECIFICATION.rules]
    asked = {id for path in FILES for id in load(path).must_reach}
    assert {rule.id for rule in SPECIFICATION.rules if rule.fires} <= asked
    assert all(f"**{p.id}**" in prose for p in SPECIFICATION.properties if p.kind == "always")


def test_every_reading_is_chosen_by_an_instance_and_is_in_the_prose() -> None:
    prose = (Path(__file__).resolve().parents[2] / "spec/mesh.md").read_text(encoding="utf-8")
    for name, values in READINGS.items():
        assert f"| `{name}` | {', '.join(f'`{value}`' for value in values)} |" in prose, name
        if name != "distance":  # held equal in test_forwarding
            assert {getattr(parameters_of(load(path)), name) for path in FILES} == set(values)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_an_instance_is_what_is_written_of_it(path: Path) -> None:
    instance = load(path)
    assert parse_instance(to_table(instance), "again") == instance


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("radius = 2", "radius = 0", "mesh.radius: found 0; expected a whole number from 1 to 16"),
        ('["S2"]', '["S9"]', 'mesh.strategies[1]: found "S9"; expected one of S0, S1, S2, SH'),
        ('["S2"]', '["S2", "S1"]', "mesh.strategies: found 2 strategies; expected 1, or 4, one a broker"),
        ("[[1, 3]]\nopens", "[[1, 2]]\nopens", "mesh.soft[1]: b1 and b2 are 1 hops apart; expected 2 to 2, the radius"),
        ("[[1, 3]]\nopens", "[[1, 9]]\nopens", "mesh.soft[1][2]: found broker 9; expected a broker of the overlay"),
        ("closes = [[1, 3]]", "closes = [[4, 1]]", "mesh.closes: [4, 1] is not opened; list it in soft, candidates"),
    ],
)
def test_what_is_wrong_is_refused_in_one_line(tmp_path: Path, old: str, new: str, what: str) -> None:
    text = (INSTANCES / "bypass4.toml").read_text(encoding="utf-8")
    assert old in text
    path = tmp_path / "wrong.toml"
    path.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(InstanceError, match=re.escape(what)):
        load(path)
