"""Rules of the computation: each is in the prose, in the reference, and held by a test that is named here."""

import ast
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from attrs import evolve
from hypothesis import given, settings

from routeproof.impl.trees import multiple, steiner
from routeproof.impl.trees.clustering import Units
from routeproof.impl.trees.dynamics import ClusterCoordinator, Routes, Sampled
from routeproof.impl.trees.matching import Subscriptions, is_sampled
from routeproof.impl.trees.multiple import Planning
from routeproof.impl.trees.network import Array, BrokerGraph
from routeproof.impl.trees.steiner import by_paths
from tests.trees.computation_cases import THOROUGH, Case, cases
from tests.trees.computation_invariants import sampled, totals

ROOT = Path(__file__).resolve().parents[2]
ID = re.compile(r"\b(?:NET|COST|TREE|LST|CLUS|COORD)-\d+\b")
CATALOGUE = {"NET": 5, "COST": 5, "TREE": 10, "LST": 5, "CLUS": 12, "COORD": 7}
"""Rules of each family, numbered from 1."""

HELD = {
    "NET-1": ("distances", "test_networks_that_are_refused"),
    "NET-2": ("inv_1", "inv_2"),
    "NET-3": ("inv_3", "inv_4"),
    "NET-4": ("inv_3", "test_example_i_1"),
    "NET-5": ("inv_6", "inv_7"),
    "COST-1": ("inv_6",),
    "COST-2": ("inv_6", "test_example_i_3"),
    "COST-3": ("inv_3",),
    "COST-4": ("inv_13", "test_one_document_costs_its_steiner_tree_and_one_host_its_distances"),
    "COST-5": ("inv_6",),
    "TREE-1": ("inv_13",),
    "TREE-2": ("inv_7",),
    "TREE-3": ("inv_7", "test_theorem_iv_2_the_gap_grows"),
    "TREE-4": ("inv_7", "test_example_i_2"),
    "TREE-5": ("inv_2",),
    "TREE-6": ("inv_2",),
    "TREE-7": ("inv_2", "inv_7"),
    "TREE-8": ("inv_2",),
    "TREE-9": ("test_a_sample_that_matches_nothing",),
    "TREE-10": ("clus_11",),
    "LST-1": ("inv_7", "test_example_i_2"),
    "LST-2": ("inv_7", "test_example_i_2"),
    "LST-3": ("test_one_document_costs_its_steiner_tree_and_one_host_its_distances",),
    "LST-4": ("lst_4",),
    "LST-5": ("inv_7",),
    "CLUS-1": ("inv_1", "merges"),
    "CLUS-2": ("inv_9",),
    "CLUS-3": ("inv_8", "merges"),
    "CLUS-4": ("test_mult2_stops_above_one_cluster",),
    "CLUS-5": ("clus_5",),
    "CLUS-6": ("merges",),
    "CLUS-7": ("inv_8",),
    "CLUS-8": ("inv_8", "test_mult2_stops_above_one_cluster"),
    "CLUS-9": ("clus_9",),
    "CLUS-10": ("merges", "test_the_files_are_the_local_ones"),
    "CLUS-11": ("clus_11",),
    "CLUS-12": ("clus_12",),
    "COORD-1": ("coord_1", "test_the_sample_and_its_window"),
    "COORD-2": ("inv_10",),
    "COORD-3": ("inv_1", "inv_10"),
    "COORD-4": ("inv_10",),
    "COORD-5": ("inv_10",),
    "COORD-6": ("test_the_switch_is_specified",),
    "COORD-7": ("inv_10",),
}
"""The functions in `tests/trees/` that fail if the rule is broken."""

ONLY_PROSE = {"TREE-6", "TREE-8", "CLUS-4"}
"""Rules that name no step of their own: a result, a reading, names. The reference mentions them with others."""


def ids_in(*patterns: str) -> set[str]:
    """The ids in some files."""
    found = set()
    for pattern in patterns:
        for path in ROOT.glob(pattern):
            found |= set(ID.findall(path.read_text(encoding="utf-8")))
    return found


def headings(page: str) -> list[str]:
    """The ids that a page of the specification defines."""
    return re.findall(r"^\*\*([A-Z]+-\d+)\*\*", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE)


def test_every_rule_is_in_prose_and_in_the_reference() -> None:
    every = {f"{family}-{at}" for family, many in CATALOGUE.items() for at in range(1, many + 1)}
    prose = re.findall(
        r"^\*\*([A-Z]+-\d+)\*\*", (ROOT / "spec/trees/computation.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert sorted(prose) == sorted(every)
    assert every - ONLY_PROSE <= ids_in("impl/trees/*.py", "checker/trees/*.py")
    assert ids_in("impl/trees/*.py", "checker/trees/*.py", "tests/trees/*.py") <= every


def test_every_rule_is_held_by_a_test() -> None:
    functions: dict[str, str] = {}
    for path in (ROOT / "tests/trees").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                functions[node.name] = path.name
    assert set(HELD) == {f"{family}-{at}" for family, many in CATALOGUE.items() for at in range(1, many + 1)}
    named = {name for names in HELD.values() for name in names}
    assert not {name for name in named if name not in functions}


def test_the_switch_is_specified() -> None:
    """COORD-6: the protocol has rules of its own, SWAP-*."""
    assert (
        len(set(re.findall(r"^\*\*(SWAP-\d+)\*\*", (ROOT / "spec/trees.md").read_text(encoding="utf-8"), re.MULTILINE)))
        >= 5
    )


def lst_4(case: Case) -> None:
    """LST-4: of all constructions the one of least cost, and the first of equal ones."""
    planning = case.planning()
    every = np.arange(len(planning.units))
    alone = [case.planning(evolve(THOROUGH, constructions=(name,))).compute(every) for name in ("hub", "star", "akpw")]
    best = planning.compute(every)
    assert best.cost == min(each.cost for each in alone)
    assert best.construction == next(each.construction for each in alone if each.cost == best.cost)


def clus_5(case: Case) -> None:
    """CLUS-5: no cluster of that level is divided, and its cost is an upper bound."""
    planning = case.planning()
    units = planning.tree.units
    for start in range(1, units + 1):
        level = [frozenset(planning.tree.of_node(node).tolist()) for node in planning.tree.level(start)]
        before = sum(planning.compute(np.array(sorted(each))).cost for each in level)
        found = multiple.mult2(planning, start=start)
        assert found.path[0][:2] == (start, before)
        assert found.cost <= before
        clusters = [frozenset(each.tolist()) for each in found.clusters]
        assert all(any(each <= cluster for cluster in clusters) for each in level)


def clus_9(case: Case) -> None:
    """CLUS-9: MULT2 computes a tree for two clusters only if they have a document in common."""
    planning = case.planning()
    together = multiple._together

    def documents(units: Array) -> set[int]:
        return {doc for unit in units.tolist() for doc in planning.units.docs.row(unit).tolist()}

    def watched(planning: Planning, pairs: Sequence[tuple[Array, Array]]) -> list[int]:
        assert all(documents(one) & documents(other) for one, other in pairs)
        return together(planning, pairs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(multiple, "_together", watched)
        multiple.mult2(planning)


def coord_1(case: Case) -> None:
    """COORD-1: the window has the documents of so much time, and a larger share of a sample contains a smaller one."""
    documents = list(sampled(case))
    span = 1 + len(documents) // 2
    coordinator = ClusterCoordinator(Routes.around(case.network), 0.1, span)
    for at, document in enumerate(documents, 1):
        coordinator.sample(document)
        assert list(coordinator.window) == documents[max(0, at - span) : at]
    ids = [f"{id}-{at}" for id, _, _ in case.subscriptions for at in range(40)]
    half, all_but_few, others = ([is_sampled(id, seed, x) for id in ids] for seed, x in ((1, 0.5), (1, 0.9), (2, 0.5)))
    assert all(late or not early for early, late in zip(half, all_but_few, strict=True))
    assert not ids or half != others


def clus_11(case: Case) -> None:
    """CLUS-11, TREE-10: for a document that k units have, at most 2k - 1, and none twice."""
    asked: list[bytes] = []

    def counted(network: BrokerGraph, sets: Sequence[Array]) -> list[Array]:
        asked.extend(terminals.tobytes() for terminals in sets)
        return by_paths(network, sets)

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(steiner.METHODS, "counted", counted)
        planning = case.planning(evolve(THOROUGH, steiner="counted"))
        multiple.mult(planning)
    _, units = np.unique(planning.units.docs.values, return_counts=True)
    assert len(asked) == len(set(asked)) <= int((2 * units - 1).sum())


def clus_12(case: Case) -> None:
    """CLUS-12: alternatives in clusters of their own; hosts then drop what comes twice."""
    split = evolve(case)
    object.__setattr__(split, "subscribed", Subscriptions.of(case.subscriptions, split=True))
    found = []
    for each in (case, split):
        planning = multiple.merged(each.network, Units.of(each.subscribed, each.encoded, "interests"), THOROUGH)
        found.append(totals(each, multiple.strategy_of(planning, each.subscribed, multiple.mult(planning))))
    whole, parts = found
    assert (whole.deliveries, whole.documents) == (parts.deliveries, parts.documents)
    assert whole.duplicates >= 0 <= parts.duplicates


RULES: dict[str, Callable[[Case], None]] = {
    each.__name__: each for each in (lst_4, clus_5, clus_9, clus_11, clus_12, coord_1)
}


@pytest.mark.parametrize("name", RULES)
def test_rule(name: str) -> None:
    @settings(max_examples=15, deadline=None)
    @given(cases(7))
    def holds(case: Case) -> None:
        RULES[name](case)

    holds()


def test_the_sample_and_its_window() -> None:
    """COORD-1: larger shares contain smaller ones, a share is about what it says, and the window slides."""
    ids = [f"d{at}" for at in range(4_000)]
    samples = [{id for id in ids if is_sampled(id, 7, share)} for share in (0.001, 0.03, 0.5, 1.0)]
    assert samples[0] <= samples[1] <= samples[2] <= samples[3] == set(ids)
    assert 80 <= len(samples[1]) <= 160
    assert 1_850 <= len(samples[2]) <= 2_150
    assert samples[2] != {id for id in ids if is_sampled(id, 8, 0.5)}
    coordinator = ClusterCoordinator(Routes.around(BrokerGraph.numbered([(0, 1)])), 0.1, span=10)
    for time in (0, 4, 9, 10, 15, 40):
        coordinator.sample(Sampled(time, 0, 1, frozenset("a")))
        assert all(time - 10 < each.time <= time for each in coordinator.window)
    assert [each.time for each in coordinator.window] == [40]
