"""The bench of the explorer: its instances are large, and other protocols than the core stand next to the core."""

import json
from pathlib import Path

import pytest

from routeproof.checker.cli.experiments import BENCHES
from routeproof.checker.experiments import bench
from routeproof.checker.instances import find

COUNTS = json.loads((Path(__file__).parents[1] / "explore" / "counts.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", [*bench.LARGE, *bench.OTHERS])
def test_what_is_measured_is_large(name: str) -> None:
    assert max(states for states, _, _ in COUNTS[name].values()) > 500_000


def test_the_command_names_every_suite() -> None:
    assert tuple(bench.SUITES) == BENCHES


def test_protocols_are_measured_beside_the_core(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of three instances of migration with over a million states each there is a row; here of a small one."""
    assert find(bench.CORE[0]).protocol == "routing"
    own = [name for name in bench.OTHERS if find(name).protocol == "migration"]
    assert sum(max(states for states, _, _ in COUNTS[name].values()) > 1_000_000 for name in own) >= 3
    assert {bench.OTHERS[name] for name in own} == {0.5}
    monkeypatch.setattr(bench, "OTHERS", {"quit2": 0.5})
    monkeypatch.setattr(bench, "CORE", ("tiny", "active"))
    [row] = bench.protocols()
    assert (row["instance"], row["states"]) == ("quit2", COUNTS["quit2"][row["policy"]][0])
    assert row["ratio"] == pytest.approx(row["states/s"] / row["core states/s"], abs=0.01)
    assert row["aims"].endswith("NOT reached") == (row["ratio"] < 0.5)


@pytest.mark.campaign
def test_the_other_protocols_reach_their_share_of_the_rate() -> None:
    assert [row["instance"] for row in bench.protocols() if row["aims"].endswith("NOT reached")] == []
