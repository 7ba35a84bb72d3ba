"""POP and GRAPE as a protocol, explored: what holds, what fails as printed, and which property catches which fault."""

import re
import tomllib
from pathlib import Path

import pytest

from routeproof.checker.evaluation import Result, violations
from routeproof.checker.experiments.bench import plain_search
from routeproof.checker.explore import explore
from routeproof.checker.instances import load
from routeproof.model.instance_file import parse_instance
from routeproof.model.overlay import LOCAL
from routeproof.model.placement.mutants import PLACEMENT_MUTANTS
from routeproof.model.placement.vocabulary import Amount, PlacementTables
from routeproof.model.protocols import world
from routeproof.spec.placement import SPECIFICATION
from tests.campaigns import daily
from tests.kit.faults import documented

ROOT = Path(__file__).resolve().parents[2]
INSTANCES = ROOT / "model/placement/instances"
FILES = sorted(INSTANCES.glob("*.toml"))
LARGE = {"order4", "unnamed4", "grape3", "carried3"}

CAUGHT = {
    "reports-early": ("ways4", "ProfilesTrue", 21),
    "forgets-its-own": ("tie2", "TargetIsMedian", 8),
    "newest-heavy": ("tie2", "ProfilesTrue", 5),
    "asks-too-early": ("tie2", "TargetIsMedian", 7),
    "as-many-is-more": ("tie2", "RequestsGoOn", 10),
    "leaves-nothing-behind": ("carried3", "TargetIsMedian", 23),
    "answer-ends-early": ("pop3", "TracesEnd", 15),
    "bit-shifted": ("sessions2", "TracesTrue", 8),
    "keeps-sessions": ("sessions2", "TracesTrue", 9),
    "passes-answers-on": ("own3", "TracesTrue", 10),
    "asks-nobody": ("grape3", "SessionsForgotten", 11),
    "adds-ones": ("own3", "ChoiceIsBest", 16),
    "greatest-wins": ("grape3", "ChoiceIsBest", 19),
}
"""By fault: an instance, the property that catches it there, and the length of the shortest run."""

OVERTAKEN = (
    *("advertise(a)", "subscribe(deep)", "subscribe(near)", "subscribe(near2)", "subscribe(side)", "tag(a)"),
    *("deliver 1>2", "deliver 1>4", "deliver 2>1", "deliver 2>1", "deliver 2>3", "deliver 3>2", "deliver 2>1"),
    *("deliver 4>1", "publish(p)", "tag(a, 2)", "publish(q)", "deliver 1>2", "deliver 1>2", "deliver 1>4"),
    *("deliver 2>1", "deliver 2>3", "deliver 3>2", "deliver 2>1", "deliver 4>1", "deliver 1>2", "deliver 2>1"),
)
"""A shortest run in which the result of the later publication overtakes that of the earlier one."""


def search(name: str, policy: str, mutant: str | None = None) -> Result:
    asked = world(load(INSTANCES / f"{name}.toml"), policy, mutant)
    if mutant is None:
        return explore(asked)
    property = next(p for p in SPECIFICATION.properties if p.id == CAUGHT[mutant][1])
    return explore(asked, properties=[property], stop_at_first=True)


@pytest.mark.parametrize(
    ("name", "policy"),
    daily(
        [(path.stem, policy) for path in FILES for policy in tomllib.loads(path.read_text(encoding="utf-8"))["policy"]],
        lambda case: case[0] not in LARGE,
    ),
)
def test_an_instance_ends_as_it_declares(name: str, policy: str) -> None:
    result = search(name, policy)
    instance = load(INSTANCES / f"{name}.toml")
    always = {p for p in result.findings if not p.startswith("Some")}
    assert {p for p in always if result.findings[p].verdict == "fails"} == set(instance.must_fail)
    assert {result.findings[p].verdict for p in always} <= {"holds", "fails"}
    for wanted in instance.must_reach:
        assert result.rules.get(wanted) or result.findings[wanted].exercised, wanted


def test_a_plain_search_counts_the_same() -> None:
    asked = world(load(INSTANCES / "ways4.toml"), "active")
    fast, plain = explore(asked), plain_search(asked)
    assert (fast.states, fast.transitions, fast.depth) == (plain.states, plain.transitions, plain.depth)
    assert fast.states == 610


@pytest.mark.parametrize("mutant", CAUGHT)
def test_a_fault_is_caught(mutant: str) -> None:
    name, property, steps = CAUGHT[mutant]
    policy = load(INSTANCES / f"{name}.toml").policies[-1]
    finding = search(name, "active" if policy == "packing" else policy, mutant).findings[property]
    assert finding.verdict == "fails"
    assert finding.run is not None
    assert len(finding.run) == steps


def test_every_fault_is_in_the_table_and_every_property_catches_one() -> None:
    assert list(CAUGHT) == list(PLACEMENT_MUTANTS)
    table = documented()
    assert {fault: table[fault][:3] for fault in CAUGHT} == CAUGHT
    own = {p.id for p in SPECIFICATION.properties if p.kind == "always"}
    assert own <= {property for _, property, _ in CAUGHT.values()}


@pytest.mark.parametrize(("name", "fails"), [("unnamed4", True), ("order4", False)])
def test_results_that_do_not_name_their_publication_are_taken_for_others(name: str, fails: bool) -> None:
    asked = world(load(INSTANCES / f"{name}.toml"), "none")
    actions, state = {action.label: action for action in asked.actions}, asked.initial()
    for label in OVERTAKEN:
        assert asked.enabled(state, actions[label]), label
        state = asked.step(state, actions[label]).state
    found = violations(asked, state, SPECIFICATION.properties)
    assert [p.id for p, _ in found] == ["ProfilesTrue"] * fails


GONE = (
    *("advertise(a)", "deliver 1>2", "subscribe(s)", "deliver 2>1", "subscribe(t)", "tag(a)", "publish(p)"),
    *("deliver 1>2", "deliver 2>1", "unsubscribe(s)", "deliver 2>1", "tag(a, 2)", "publish(q)"),
)
"""A run in which the second traced publication goes to no neighbour any more."""


@pytest.mark.parametrize(("absent", "average"), [("skipped", Amount(1)), ("zero", Amount(3, 1))])
def test_a_neighbour_that_gets_nothing_is_skipped_or_counts_as_zero(absent: str, average: Amount) -> None:
    table = tomllib.loads((INSTANCES / "skipped2.toml").read_text(encoding="utf-8"))
    table["placement"]["absent"] = absent
    asked = world(parse_instance(table, "skipped2"), "active")
    actions, state = {action.label: action for action in asked.actions}, asked.initial()
    for label in GONE:
        assert asked.enabled(state, actions[label]), label
        state = asked.step(state, actions[label]).state
    first = state.locals[0]
    assert isinstance(first, PlacementTables)
    assert dict(first.profiles[0][1].averages) == {LOCAL: Amount(1), 2: average}
    assert not violations(asked, state, SPECIFICATION.properties)


def test_every_rule_is_in_the_prose_and_fires_or_is_shown_to_matter() -> None:
    prose = (ROOT / "spec/placement.md").read_text(encoding="utf-8")
    begins = re.findall(r"^\*\*((?:POP|GRP)-\d+)\*\*", prose, re.MULTILINE)
    assert begins == [rule.id for rule in SPECIFICATION.rules]
    asked = {id for path in FILES for id in load(path).must_reach}
    assert {rule.id for rule in SPECIFICATION.rules if rule.fires} <= asked
    assert all(f"**{p.id}**" in prose for p in SPECIFICATION.properties if p.kind == "always")


def test_amounts_are_exact() -> None:
    assert Amount(8).averaged(4) == Amount(7)
    assert Amount(7).averaged(0) == Amount(21, 1)  # 5.25
    assert Amount(21, 1) + Amount(3, 1) == Amount(6)
    assert Amount(21, 1) > Amount(5)
    assert Amount(5) >= Amount(20, 1).shortest()
    assert not Amount(5) > Amount(20, 1)
