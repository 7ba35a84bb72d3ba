"""Does the explorer find every seeded fault of pruning, name the property that it breaks, and shrink the run?

`caught.json` says for each mutant, under each policy that it changes: the instance that shows it, the property
that catches it first, the steps of the shortest run there, and the steps of the shrunk one. `REWRITE_GOLDEN=1` writes.
"""

import json
import os
from pathlib import Path

import pytest
from attrs import evolve

from routeproof.checker.counterexamples import replay
from routeproof.checker.counterexamples.shrink import shrink
from routeproof.checker.explore import explore
from routeproof.checker.instances import find
from routeproof.model.messages import Advertisement, Subscription
from routeproof.model.protocols import world
from routeproof.model.pruning.definition import DEFINITION, with_readings
from routeproof.model.pruning.handler import Pruning
from routeproof.model.pruning.mutants import PRUNING_MUTANTS
from routeproof.model.pruning.statistics import pruned
from routeproof.model.pruning.vocabulary import PRUNING, Cut
from routeproof.model.routing import StepEffects
from routeproof.spec.properties import PROPERTIES
from tests.shown import recorded

TABLE = Path(__file__).with_name("caught.json")
CAUGHT: dict[str, dict[str, list[str | int]]] = json.loads(TABLE.read_text()) if TABLE.exists() else {}
REWRITE = bool(os.environ.get("REWRITE_GOLDEN"))
SHOWN_IN: dict[str, str | dict[str, str]] = {
    "thresholds-swapped": "bands3",
    "threshold-ignored": {"incremental": "halves3", "selective": "half3"},
    "second-distance-always": "halves3",
    "many-off-by-one": "halves3",
    "some-off-by-one": "halves3",
    "end-always": "halves3",
    "triggered-elsewhere": "beside3",
    "window-ignored": "window3",
    "wrong-count": "nested3",
    "list-for-everybody": "fork4",
    "retained-never-replaced": "larger3",
    "retained-without-advertisement": "adverts3",
    "retained-forgotten": "adverts3",
    "delivers-while-held": "return3",
    "hold-outlives-return": "return3",
    "held-withdrawals-dropped": "hold3",
}
"""The others in `back2`, which is the smallest."""
CASES = [(m.id, policy) for m in PRUNING_MUTANTS.values() for policy in m.policies]


def shortest(mutant: str, policy: str) -> list[str | int]:
    """The row of the table, measured."""
    shown = SHOWN_IN.get(mutant, {})
    own = shown if isinstance(shown, str) else shown.get(policy)
    for name in [own] if own else ["back2", "prune3"]:
        asked = world(find(name), policy, mutant)
        result = explore(asked, stop_at_first=True)
        failed = [f for f in result.findings.values() if f.kind == "always" and f.run is not None]
        if failed:
            found = min(failed, key=lambda f: len(f.run or ()))
            small_world, small = shrink(asked, found)
            replay(small_world, small.run or ())
            return [name, found.property, len(found.run or ()), len(small.run or ())]
    raise AssertionError(f"nothing catches {mutant} under {policy}")


@recorded
@pytest.mark.parametrize(("mutant", "policy"), CASES)
def test_finds_and_shrinks(mutant: str, policy: str) -> None:
    measured = shortest(mutant, policy)
    if REWRITE:
        CAUGHT.setdefault(mutant, {})[policy] = measured
        lines = ",\n".join(f' "{id}": {json.dumps(rows)}' for id, rows in CAUGHT.items())
        TABLE.write_text(f"{{\n{lines}\n}}\n")
    assert CAUGHT[mutant][policy] == measured


def test_there_are_enough_of_them_and_each_property_of_pruning_catches_one() -> None:
    assert len(PRUNING_MUTANTS) >= 10
    assert list(CAUGHT) == list(PRUNING_MUTANTS)
    catching = {str(row[1]) for rows in CAUGHT.values() for row in rows.values()}
    own = {p.id for p in PROPERTIES.values() if p.policies == PRUNING and p.kind == "always"}
    assert own - catching == {"Similarity", "EquationOne"}, "see the tests below"


@pytest.mark.parametrize("policy", PRUNING)
def test_what_ends_too_early_breaks_the_bound_as_well(policy: str) -> None:
    asked = world(find("prune3"), policy, "stops-one-hop-early")
    assert explore(asked, properties=[PROPERTIES["FalsePositiveBound"]]).findings["FalsePositiveBound"].failed


class KeptWithoutRows(Pruning):
    """Takes an advertisement without rows for one whose distances are 0 (CRD-6)."""

    def cut(self, step: StepEffects, s: Subscription, a: Advertisement) -> Cut | None:
        found = super().cut(step, s, a)
        has_rows = pruned(step.tables).rows_of(s, a.id)
        return found if has_rows else Cut(a.id, (0,) * len(self.parameters.thresholds))


def test_where_a_withdrawal_ends_is_held_also_if_nothing_was_delivered() -> None:
    """The publication does not reach the broker of S before S is withdrawn; FalsePositiveBound is silent."""
    asked = world(find("back2"), "incremental")
    faulty = evolve(asked, protocol=DEFINITION.make(KeptWithoutRows, asked.instance, asked.policy))
    both = [PROPERTIES["CriticalBroker"], PROPERTIES["FalsePositiveBound"]]
    critical, bound = (explore(faulty, properties=both).findings[each.id] for each in both)
    assert critical.run is not None
    assert critical.run[-2:] == ("publish(q)", "unsubscribe(S)")
    assert not bound.failed


@pytest.mark.parametrize(("name", "mutant"), [("strict3", "stops-one-hop-late"), ("apart4", "triggered-elsewhere")])
def test_where_a_withdrawal_ends_is_held_in_other_readings_too(name: str, mutant: str) -> None:
    """Less and more instead of at most and at least; M for each neighbour."""
    found = explore(world(find(name), "incremental", mutant), properties=[PROPERTIES["CriticalBroker"]])
    assert found.findings["CriticalBroker"].failed


@pytest.mark.parametrize("name", ["strict3", "window3", "beside3", "apart4", "forgets3", "collects3"])
def test_no_reading_switches_off_what_is_said_of_statistics(name: str) -> None:
    asked = [PROPERTIES[id] for id in ("StatisticsExact", "FalsePositiveBound", "CriticalBroker")]
    found = explore(world(find(name), "incremental"), properties=asked).findings.values()
    assert all(finding.verdict == "holds" and finding.exercised for finding in found)


@pytest.mark.parametrize("id", ["SomeBelowCuts", "SomeBetweenCuts", "SomeBeyondCuts", "SomeShare"])
def test_every_branch_of_algorithm_1_is_declared_where_it_is_exercised(id: str) -> None:
    """An instance that declares it fails where it is not reached."""
    assert id in find("halves3").must_reach
    asked = [PROPERTIES[id]]
    assert explore(world(find("halves3"), "incremental"), properties=asked).findings[id].exercised
    one_band = with_readings(find("halves3"), (("thresholds", (100, 100)), ("cuts", (0, 0))))
    assert not explore(world(one_band, "incremental"), properties=asked).findings[id].exercised


@pytest.mark.parametrize(
    ("name", "id", "otherwise"),
    [("prune3", "Similarity", "SimilarityInTables"), ("larger3", "EquationOne", "EquationOneOfAll")],
)
def test_what_no_broker_can_break_fails_in_another_reading(name: str, id: str, otherwise: str) -> None:
    """Property 3 and equation 1 are about filters and trees: no broker is asked."""
    found = explore(world(find(name), "selective"), properties=[PROPERTIES[id], PROPERTIES[otherwise]]).findings
    assert found[id].verdict == "holds"
    assert found[id].exercised > 100
    assert found[otherwise].failed


def test_every_property_of_pruning_is_exercised() -> None:
    exercised: set[str] = set()
    for name, policy in (("prune3", "selective"), ("fork4", "selective"), ("halves3", "incremental")):
        exercised |= {f.property for f in explore(world(find(name), policy)).findings.values() if f.exercised}
    assert exercised >= {p.id for p in PROPERTIES.values() if set(p.policies) & set(PRUNING)} - {"PropagationPath"}
    assert explore(world(find("moves3"), "selective")).findings["PropagationPath"].exercised
