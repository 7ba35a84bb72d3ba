"""Seeded faults of the computation: each violates the invariant that it names."""

import importlib
from collections.abc import Callable
from functools import reduce
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen
from hypothesis import HealthCheck, Phase, given, settings

from tests.trees.computation_cases import Case, cases
from tests.trees.test_computation import INVARIANTS, SMALL
from tests.trees.test_computation_rules import RULES


@frozen
class Mutant:
    """A function of the computation in which one text stands for another."""

    module: str
    function: str
    old: str
    new: str
    invariant: str


MUTANTS = {
    "one-level-late": Mutant(
        "network", "BrokerGraph._by_levels", "reached[(level - steps[arcs])", "reached[(level - 1)", "distances"
    ),
    "lowest-common-ancestor": Mutant("tree", "Rooted.meeting", "np.where(width == 0, low, found)", "low", "inv_6"),
    "load-of-the-subtree": Mutant(
        "tree", "Connected.loads", "sums[at + self.tree.size] - sums[at]", "sums[at]", "inv_3"
    ),
    "sizes-ignored": Mutant("strategy", "_add_tree", "* documents.size[docs]", "* 1", "inv_6"),
    "publisher-forgotten": Mutant(
        "strategy", "_add_tree", "documents.publisher[docs]", "host[:1][np.zeros(len(docs), int)]", "inv_6"
    ),
    "nearest-to-the-publisher": Mutant(
        "steiner", "_grown", "closer = from_here < near", "closer = from_here < 0", "inv_13"
    ),
    "cells-without-crossings": Mutant("steiner", "_within_cells", "found.add(at)", "pass", "inv_13"),
    "every-crossing": Mutant("steiner", "_within_cells", "if sets.join(one, other):", "if True:", "inv_13"),
    "bridge-forgotten": Mutant("stretch", "_star_of", "bridges.append(bridge[1])", "pass", "inv_7"),
    "cluster-without-tree": Mutant("stretch", "_clusters", "tree.append(number)", "pass", "inv_7"),
    "link-invented": Mutant("computing", "rooted_at", "parent[other] = v", "parent[other] = root", "inv_2"),
    "forest-last": Mutant("computing", "_attached", "(*forest, *others)", "(*others, *forest)", "inv_7"),
    "multiplicities-not-weighted": Mutant(
        "computing",
        "Trees.compute",
        "np.repeat(each.size, [",
        "np.repeat(each.size**0, [",
        "inv_7",
    ),
    "later-of-equal-levels": Mutant(
        "multiple", "mult", "(exact[at], at))\n    path", "(exact[at], -at))\n    path", "inv_8"
    ),
    "first-level": Mutant(
        "multiple", "mult", "best = min(exact, key=lambda at: (exact[at], at))", "best = min(exact)", "inv_8"
    ),
    "overlap-for-jaccard": Mutant(
        "clustering", "similarities", "counts + many - both", "np.minimum(counts, many)", "merges"
    ),
    "stale-partner": Mutant("clustering", "_renew", "for unit in again:", "for unit in again[1:]:", "merges"),
    "merge-without-gain": Mutant("multiple", "_entry", "if cost >= apart:", "if cost > apart:", "inv_9"),
    "one-merge": Mutant("multiple", "mult2", "heappush(heap, entry)", "heap.clear()", "inv_9"),
    "unsampled-forgotten": Mutant("multiple", "members_of", "placed == at", "placed == -1", "inv_1"),
    "first-cluster": Mutant(
        "dynamics", "Routes.insert", "(increments[at], -shared[at], nearest[at], at)", "at", "inv_10"
    ),
    "log-not-replayed": Mutant("dynamics", "ClusterCoordinator.decide", "self.log[proposal.changes :]", "()", "inv_10"),
    "any-gain-installs": Mutant("dynamics", "ClusterCoordinator.decide", "> self.threshold", "> 0", "inv_10"),
    "worst-construction": Mutant(
        "computing", "Trees.compute", "min(found, key=lambda each: each.cost)", "found[-1]", "lst_4"
    ),
    "hybrid-from-the-beginning": Mutant(
        "multiple", "mult2", "tree.level(min(tree.units, max(1, start)))", "list(range(tree.units))", "clus_5"
    ),
    "steiner-trees-forgotten": Mutant("steiner", "SteinerTrees.of_each", " and key not in self._known", "", "clus_11"),
    "first-alternative": Mutant(
        "matching",
        "Subscriptions.of",
        "[(each,) for each in interest]",
        "[(each,) for each in interest[:1]]",
        "clus_12",
    ),
    "every-pair": Mutant(
        "multiple", "mult2", "everything = not planning.readings.overlapping", "everything = True", "clus_9"
    ),
    "window-too-long": Mutant(
        "dynamics",
        "ClusterCoordinator.sample",
        "<= document.time - self.span",
        "< document.time - self.span",
        "coord_1",
    ),
    "one-sample-for-all": Mutant("matching", "is_sampled", "key=seed.to_bytes", "key=(0).to_bytes", "coord_1"),
    "deleted-and-kept": Mutant(
        "dynamics", "Routes.delete", "del self.cluster[id], self.wanted[id]", "del self.cluster[id]", "inv_1"
    ),
}


def mutated(mutant: Mutant) -> tuple[Any, Any]:
    """The function, and the code with the fault."""
    module = importlib.import_module(f"routeproof.impl.trees.{mutant.module}")
    assert module.__file__ is not None
    source = Path(module.__file__).read_text(encoding="utf-8")
    assert source.count(mutant.old) == 1, f"the text of a mutant stands {source.count(mutant.old)} times in the module"
    scratch: dict[str, Any] = {"__name__": module.__name__}
    exec(compile(source.replace(mutant.old, mutant.new), module.__file__, "exec"), scratch)
    names = mutant.function.split(".")
    function = reduce(getattr, names, module)
    faulty = reduce(getattr, names[1:], scratch[names[0]])
    return getattr(function, "__func__", function), faulty.__code__


def asked(invariant: Callable[[Case], None], most: int) -> None:
    @settings(
        max_examples=400,
        deadline=None,
        derandomize=True,
        database=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    @given(cases(most))
    def holds(case: Case) -> None:
        invariant(case)

    holds()


@pytest.mark.parametrize("name", MUTANTS)
def test_the_named_invariant_catches_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mutant = MUTANTS[name]
    function, code = mutated(mutant)
    monkeypatch.setattr(function, "__code__", code)
    with pytest.raises(Exception) as caught:  # noqa: PT011 - an invariant, or a check of the computation itself
        asked((INVARIANTS | RULES)[mutant.invariant], SMALL.get(mutant.invariant, 8))
    assert not isinstance(caught.value, (NameError, SyntaxError, AttributeError, TypeError)), caught.value
