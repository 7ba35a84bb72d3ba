"""Every reading of pruning is exercised: each value of each parameter by an instance that ships, or by a named test.

And each makes a difference: `TOLD_BY` names, for each value that is not the default, what comes out otherwise with it.
A parameter or value that is added without either fails here.
"""

from __future__ import annotations

from typing import Any, get_args, get_type_hints

import pytest
from attrs import fields

from routeproof.checker.explore import explore
from routeproof.checker.instances import find, shipped
from routeproof.model.instance import Instance
from routeproof.model.protocols import world
from routeproof.model.pruning.definition import parameters, readings, with_readings
from routeproof.model.pruning.vocabulary import PRUNING, PruningParameters
from routeproof.spec.catalogues import RULES
from routeproof.spec.properties import PROPERTIES
from tests.pruning import test_model

SHIPPED = [i for i in shipped() if i.protocol == "pruning"]

NUMBERS: dict[str, tuple[Any, ...]] = {
    "thresholds": ((90,), (60, 90), (50,), (50, 100)),
    "cuts": ((10, 5012), (0, 1)),
    "window": (1000, 1),
    "fewest": (1, 0, 2),
}
"""Parameters whose values cannot be listed: the defaults, and some that make a difference."""

TESTED = {
    ("cuts", (10, 5012)): "test_gt7_which_distance_counts",
    ("rows", "arrived"): "test_rows_follow_the_brokers_own_table",
    ("fewest", 2): "test_selective_prunes_only_what_is_worth_it",
}
"""What no shipped instance has: who exercises it, in `test_pruning`."""

TOLD_BY = {
    ("cuts", (0, 1)): ("zero3", "incremental", "SomePruning"),
    ("thresholds", (50,)): ("half3", "selective", "SomeShare"),
    ("thresholds", (50, 100)): ("halves3", "incremental", "SomeBeyondCuts"),
    ("triggered", "neighbour"): ("apart4", "incremental", "often SomePruning"),
    ("inclusive", False): ("back2", "incremental", "SomePruning"),
    ("without_history", "zero"): ("zero3", "incremental", "often SomePruning"),
    ("without_history", "absent"): ("absent3", "incremental", "often SomePruning"),
    ("counts", "all"): ("counts3", "selective", "StatisticsOfAllEntries"),
    ("rows", "arrived"): ("prune3", "selective", "STA-9"),
    ("window", 1): ("window3", "selective", "often SomePruning"),
    ("fewest", 0): ("fewest3", "selective", "STA-8"),
    ("fewest", 2): ("prune3", "selective", "often SomePruning"),
    ("sends", "listed"): ("whole3", "incremental", "NoLostDelivery"),
    ("base", "lazy"): ("lazy3", "selective", "COV-6"),
    ("remembers", False): ("forgets3", "selective", "Agreement"),
    ("collects", True): ("collects3", "selective", "FalsePositivesAlways"),
    ("newcomers", "withdraw"): ("newcomer3", "selective", "FalsePositivesOfNew"),
    ("overtakes", True): ("overtake2", "selective", "NoLostDelivery"),
    ("identity", "id"): ("moves3id", "selective", "NoLostDelivery"),
}
"""The instance and policy in which something depends on the value: a property's verdict, how often it has something to
say, or whether a rule fires.
"""


def values(parameter: str) -> tuple[Any, ...]:
    """The default first."""
    if parameter in NUMBERS:
        return NUMBERS[parameter]
    hint = get_type_hints(PruningParameters)[parameter]
    default = getattr(PruningParameters.of("incremental"), parameter)
    listed = (True, False) if hint is bool else get_args(hint)
    return tuple(sorted(listed, key=lambda value: value != default))


READINGS = [(field.name, value) for field in fields(PruningParameters) for value in values(field.name)]


def used_by_what_ships() -> set[tuple[str, Any]]:
    return {
        (field.name, getattr(parameters(instance, policy), field.name))
        for instance in SHIPPED
        for policy in instance.policies
        for field in fields(PruningParameters)
    }


@pytest.mark.parametrize(("parameter", "value"), READINGS)
def test_each_value_is_exercised(parameter: str, value: object) -> None:
    named = TESTED.get((parameter, value))
    assert (parameter, value) in used_by_what_ships() or (named and hasattr(test_model, named))


def said(instance: Instance, policy: str, what: str) -> object:
    id = what.removeprefix("often ")
    if id in RULES:
        return bool(explore(world(instance, policy)).rules.get(id))
    finding = explore(world(instance, policy), properties=[PROPERTIES[id]]).findings[id]
    return finding.verdict if what == id else finding.exercised


@pytest.mark.parametrize(("parameter", "value"), list(TOLD_BY))
def test_each_value_makes_a_difference(parameter: str, value: object) -> None:
    name, policy, what = TOLD_BY[parameter, value]
    instance = find(name)
    default = getattr(PruningParameters.of(policy), parameter)
    outcomes = [
        said(with_readings(instance, {**dict(readings(instance)), parameter: v}.items()), policy, what)
        for v in (value, default)
    ]
    assert outcomes[0] != outcomes[1]


def test_of_each_value_that_is_no_default_it_is_said_what_difference_it_makes() -> None:
    defaults = {(f.name, getattr(PruningParameters.of(p), f.name)) for p in PRUNING for f in fields(PruningParameters)}
    assert set(TOLD_BY) == set(READINGS) - defaults


def test_what_nobody_exercises_is_found() -> None:
    used = used_by_what_ships()
    assert ("collects", True) in used
    assert ("fewest", 7) not in used
    without = {r for i in SHIPPED if i.name != "collects3" for r in readings(i)}
    assert ("collects", True) not in without, "one instance alone exercises it"


def test_every_policy_is_exercised_by_what_ships() -> None:
    assert {policy for instance in SHIPPED for policy in instance.policies} == set(PRUNING)
