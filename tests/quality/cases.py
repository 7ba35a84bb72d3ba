"""What is asked of a generated mutant: talks and runs in lockstep, replays, searches, and unit tests.

Each protocol has its own: its brokers in lockstep with its model, its small instances, its tests.
"""

from __future__ import annotations

import gc
import importlib
import json
from collections.abc import Callable, Iterator, Sequence
from cProfile import Profile
from functools import _lru_cache_wrapper, cache, partial
from pathlib import Path
from random import Random
from time import process_time
from types import CodeType
from typing import Any

import pytest
from _pytest.runner import runtestprotocol
from attrs import frozen
from hypothesis import HealthCheck, Phase, given, settings

from routeproof.checker.counterexamples import replay_file
from routeproof.checker.experiments.bench import plain_search
from routeproof.checker.explore import explore
from routeproof.checker.instances import find
from routeproof.model.instance import POLICIES, Instance
from routeproof.model.protocols import world
from routeproof.model.pruning.vocabulary import PRUNING
from tests.impl import talk as routing_talk
from tests.impl import test_lockstep
from tests.impl.wild import WILD
from tests.mesh import test_lockstep as test_mesh_lockstep
from tests.mesh.drawn import network as mesh_network
from tests.migration import test_lockstep as test_migration_lockstep
from tests.placement import test_lockstep as test_placement_lockstep
from tests.pruning import talk as pruning_talk
from tests.pruning import test_lockstep as test_pruning_lockstep
from tests.quality.made_up import MADE_UP, follow_made_up
from tests.trees import test_protocol_lockstep as test_trees_lockstep
from tests.trees.protocol_drawn import network as trees_network

ROOT = Path(__file__).resolve().parents[2]
COUNTS = json.loads((ROOT / "tests/checker/explore/counts.json").read_text(encoding="utf-8"))

FOLDERS = (
    *("impl/pruning", "impl/index", "impl/migration", "impl/placement", "impl/mesh", "impl/trees"),
    *("model", "model/filters", "model/pruning", "model/migration", "model/placement", "model/mesh", "model/trees"),
)
LEFT_OUT = ("__init__", "codec", "population")
BROKERS_OF_TREES = ("broker", "implementation")
"""The other modules of `impl/trees` compute trees and never meet a message: nothing plays them in lockstep."""


def _modules() -> Iterator[str]:
    yield from ("routeproof.impl.routing", "routeproof.impl.index")
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).glob("*.py")):
            of_a_broker = folder != "impl/trees" or path.stem in BROKERS_OF_TREES
            if of_a_broker and path.stem not in LEFT_OUT and "mutants" not in path.stem:
                yield f"routeproof.{folder.replace('/', '.')}.{path.stem}"


MODULES = tuple(_modules())
"""Modules of which mutants are made: those that say what brokers do, and those that read what they are given."""

PROTOCOLS = ("migration", "placement", "mesh", "trees")

FERRY = (
    *("test_roles_and_channels", "test_the_section_of_an_instance_is_read_and_written"),
    *("test_each_client_has_an_order_of_its_own", "test_two_ghosts_of_one_name_are_refused"),
    *("test_the_plain_search_refuses_it_too", "test_an_instance_of_another_protocol_is_refused"),
)
"""Tests of a protocol from outside that start no other process: those would run the sound code."""

FROM_OUTSIDE = (
    *(
        "test_the_section_of_an_instance_is_read_and_written",
        "test_keys_of_other_protocols_and_wrong_values_are_refused",
    ),
    *("test_policies_of_one_name_belong_to_several_protocols", "test_an_entry_point_announces_it"),
    *("test_what_cannot_be_loaded_is_refused", "test_a_policy_of_ones_own", "test_a_policy_that_cannot_be_is_refused"),
)

TESTS: dict[str, tuple[str, ...]] = {
    "model": ("tests/model/test_instance_file.py", "tests/model/test_routing.py", "tests/model/test_history.py"),
    "model.overlay": ("tests/model/test_overlay.py", "tests/model/test_routing.py"),
    "model.filters": ("tests/model/filters",),
    **dict.fromkeys(
        ("model.instance_file", "model.reading", "model.plugins", "model.protocols"),
        (
            *("tests/model/test_reading.py", "tests/model/test_definition.py"),
            "tests/model/test_instance_file.py",
            *(f"tests/kit/test_ferry.py::{name}" for name in FROM_OUTSIDE),
            *("tests/migration/test_instances.py", "tests/trees/test_protocol_instances.py"),
        ),
    ),
    **dict.fromkeys(
        ("model.messages", "model.fields"),
        (
            *(
                "tests/model/test_fields.py",
                "tests/model/test_messages.py",
                "tests/model/test_definition.py",
                "tests/impl/tcp/test_codec.py",
                "tests/traces/test_messages.py",
            ),
            *("tests/traces/test_lines.py", "tests/traces/test_writer.py", "tests/model/test_instance_file.py"),
        ),
    ),
    **dict.fromkeys(
        ("model.history", "model.world", "model.definition", "model.instance", "model.pruning.definition"),
        (
            *("tests/model/test_history.py", "tests/model/test_world.py", "tests/model/test_routing.py"),
            *(f"tests/kit/test_ferry.py::{name}" for name in FERRY),
            *(
                "tests/model/test_instance_file.py",
                "tests/model/test_definition.py",
                "tests/pruning/test_definition.py",
            ),
        ),
    ),
    "model.pruning": ("tests/pruning/test_model.py", "tests/pruning/test_similarity.py"),
    **dict.fromkeys(
        ("model.migration", "impl.migration"),
        (
            *("tests/migration/test_instances.py", "tests/migration/test_one_node.py", "tests/migration/test_paper.py"),
            *(
                "tests/migration/test_places.py",
                "tests/migration/test_lockstep.py::test_what_is_not_implemented_is_refused",
            ),
        ),
    ),
    **dict.fromkeys(
        ("model.placement", "impl.placement"),
        (
            *("tests/placement/test_definition.py", "tests/placement/test_pop.py", "tests/placement/test_grape.py"),
            "tests/placement/test_one_broker.py",
            *("tests/placement/test_place.py", "tests/placement/test_explored.py::test_amounts_are_exact"),
            "tests/placement/test_lockstep.py::test_amounts_are_those_of_the_profile",
        ),
    ),
    **dict.fromkeys(
        ("model.mesh", "impl.mesh"),
        (
            *("tests/mesh/test_links.py", "tests/mesh/test_tables.py", "tests/mesh/test_maps.py"),
            *("tests/mesh/test_forwarding.py", "tests/mesh/test_views.py"),
            "tests/mesh/test_one_broker.py",
            "tests/mesh/test_lockstep.py::test_what_is_not_implemented_is_refused",
            "tests/mesh/test_lockstep.py::test_a_broker_counts_what_it_hears",
            "tests/mesh/test_lockstep.py::test_the_coordinator_refuses_what_is_not_for_it",
        ),
    ),
    **dict.fromkeys(
        ("model.trees", "impl.trees"),
        (
            *("tests/trees/test_protocol_instances.py", "tests/trees/test_protocol_simulated.py"),
            "tests/trees/test_definition.py",
            "tests/trees/test_protocol_lockstep.py::test_what_is_not_implemented_is_refused",
            "tests/trees/test_protocol_lockstep.py::test_what_is_not_for_a_node_is_refused",
            "tests/trees/test_protocol_lockstep.py::test_a_strategy_that_was_never_computed_is_not_begun",
            "tests/trees/test_protocol_lockstep.py::test_a_broker_counts_what_it_hears",
        ),
    ),
    "impl.routing": ("tests/impl/test_broker.py", "tests/pruning/test_brokers.py", "tests/impl/test_metrics.py"),
    "impl.index": (
        *(
            "tests/impl/test_texts.py",
            "tests/impl/test_indexes.py",
            "tests/impl/test_sketch.py",
            "tests/impl/test_covering.py",
            "tests/impl/test_floats.py",
        ),
        *("tests/impl/test_broker.py", "tests/model/filters/test_typed_dialect.py"),
    ),
    "impl.pruning": ("tests/impl/test_broker.py", "tests/pruning/test_brokers.py", "tests/impl/test_metrics.py"),
}
"""Unit tests by what the names of their modules begin with; the longest counts."""

SEARCHED = (
    *("tiny", "loss2", "unadv3", "crash3", "reorder2", "duplicate3"),
    *("back2", "overtake2", "hold3", "return3", "collects3", "absent3", "forgets3", "adverts3"),
)
LARGEST = 4_000
"""States of a search that is repeated for each mutant."""

KINDS = ("lockstep", "replay", "search", "tests")


@frozen
class Case:
    """One thing that is asked of a mutant; it raises an error, or returns False, where the mutant is noticed."""

    kind: str
    play: Callable[[], object]
    reaches: frozenset[tuple[str, str]]
    """Functions that the sound code uses for it, by file and name."""
    seconds: float
    """What it takes of the sound code, measured while a profiler notes what it reaches."""


def protocol_of(module: str) -> str:
    """The protocol whose own module it is; routing has all the others, and pruning with it."""
    return next((each for each in PROTOCOLS if f".{each}." in module), "routing")


def tests_of(module: str) -> tuple[str, ...]:
    return TESTS[max((each for each in TESTS if module.startswith(f"routeproof.{each}")), key=len)]


def drawn(talks: Any, most: int) -> list[Any]:
    """Talks that Hypothesis draws, always the same ones."""
    found: list[Any] = []

    @settings(
        derandomize=True,
        database=None,
        deadline=None,
        max_examples=most,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(talks)
    def run(talk: Any) -> None:
        found.append(talk)

    run()
    return found


def lockstep_cases(protocol: str, share: float) -> Iterator[Callable[[], object]]:
    if protocol != "routing":
        yield from WALKS[protocol](share)
        return
    for policy in POLICIES:
        for talks in (routing_talk.talks((policy,)), routing_talk.talks((policy,), (WILD,))):
            yield from (partial(test_lockstep.follow, each) for each in drawn(talks, round(150 * share)))
    yield from (partial(follow_made_up, each) for each in MADE_UP)
    for policy in PRUNING:
        for prunes in (pruning_talk.talks((policy,)), pruning_talk.talks((policy,), (WILD,))):
            yield from (partial(test_pruning_lockstep.follow, each) for each in drawn(prunes, round(250 * share)))


def _migration_walks(share: float) -> Iterator[Callable[[], object]]:
    def walk(instance: Instance, policy: str, seed: int) -> None:
        test_migration_lockstep.walk(world(instance, policy), seed)

    for instance in map(find, test_migration_lockstep.NAMES):
        for policy in instance.policies:
            yield from (partial(walk, instance, policy, seed) for seed in range(round(10 * share)))


def _placement_walks(share: float) -> Iterator[Callable[[], object]]:
    def walk(instance: Instance, policy: str, seed: int) -> None:
        test_placement_lockstep.walk(world(instance, policy), seed)

    for instance in map(find, test_placement_lockstep.NAMES):
        for policy in instance.policies:
            yield from (partial(walk, instance, policy, seed) for seed in range(round(10 * share)))
    for seed in range(round(300 * share)):
        instance = test_placement_lockstep.drawn(seed)
        yield partial(walk, instance, instance.policies[0], seed)


def _mesh_walks(share: float) -> Iterator[Callable[[], object]]:
    yield partial(test_mesh_lockstep.walk, find("mover3"), 1, test_mesh_lockstep.SECOND_COPY)
    for instance in map(find, test_mesh_lockstep.NAMES):
        yield from (partial(test_mesh_lockstep.walk, instance, seed) for seed in range(round(20 * share)))
    for seed in range(round(200 * share)):
        moving = mesh_network(Random(seed), most=7, moves=2, clients=4)
        in_rounds = mesh_network(Random(seed), most=6, moves=0, operations=0, clients=5, rounds=2)
        yield from (partial(test_mesh_lockstep.walk, each, seed) for each in (moving, in_rounds))


def _trees_walks(share: float) -> Iterator[Callable[[], object]]:
    for instance in map(find, test_trees_lockstep.NAMES):
        yield from (partial(test_trees_lockstep.walk, instance, seed) for seed in range(round(20 * share)))
    for seed in range(round(300 * share)):
        yield partial(test_trees_lockstep.walk, trees_network(Random(seed)), seed)


WALKS = {"migration": _migration_walks, "placement": _placement_walks, "mesh": _mesh_walks, "trees": _trees_walks}


def searched(name: str, policy: str) -> bool:
    """Whether exploring an instance finds what is recorded of it, with columns and without."""
    asked = world(find(name), policy)
    result = explore(asked)
    failed = {f.property for f in result.findings.values() if f.failed and f.kind == "always"}
    plain = plain_search(asked, 2 * LARGEST)
    return (
        [result.states, result.transitions, result.depth] == COUNTS[name][policy]
        and [plain.states, plain.transitions, plain.depth] == COUNTS[name][policy]
        and (bool(failed) if find(name).faults.any else failed == set(find(name).must_fail))
    )


def replayed(trace: Path) -> bool:
    """Whether a counterexample of the corpus goes as it went, event by event."""
    return replay_file(trace).reproduces


def replay_cases() -> Iterator[Callable[[], object]]:
    yield from (partial(replayed, trace) for trace in sorted((ROOT / "traces" / "corpus").glob("*.jsonl")))


def search_cases(protocol: str) -> Iterator[Callable[[], object]]:
    mine = SEARCHED if protocol == "routing" else [name for name in COUNTS if find(name).protocol == protocol]
    for name in mine:
        yield from (partial(searched, name, p) for p, counts in COUNTS[name].items() if counts[0] <= LARGEST)


@cache
def prepared(protocol: str, share: float) -> tuple[Case, ...]:
    """Every case of a protocol but its unit tests."""
    for module in MODULES:
        importlib.import_module(module)
    kinds = {
        "lockstep": list(lockstep_cases(protocol, share)),
        "replay": list(replay_cases()),
        "search": list(search_cases(protocol)),
    }
    return tuple(measured(kind, each) for kind, plays in kinds.items() for each in plays)


def prepare(protocol: str, share: float = 1.0, items: Sequence[pytest.Item] = ()) -> list[Case]:
    """Every case with what it reaches, the cheapest first. The sound code passes all of them."""
    found = [measured("tests", partial(passes, item)) for item in items]
    if share:
        found += prepared(protocol, share)
    return sorted(found, key=lambda case: (KINDS.index(case.kind), case.seconds))


def measured(kind: str, play: Callable[[], object]) -> Case:
    forget()
    watch, before = Profile(), process_time()
    watch.enable()
    try:
        assert play() is not False, f"the sound code fails: {play}"
    finally:
        watch.disable()
    called = [each.code for each in watch.getstats() if isinstance(each.code, CodeType)]
    reaches = frozenset((code.co_filename, code.co_qualname) for code in called if str(ROOT) in code.co_filename)
    return Case(kind, play, reaches, process_time() - before)


def passes(item: pytest.Item) -> bool:
    """Whether a unit test passes. What modules and sessions share for their tests is made anew."""
    return not any(report.failed for report in runtestprotocol(item, log=False, nextitem=None))


@frozen
class Asking:
    """A plugin of pytest that does something else with the tests that were collected than to run them."""

    ask: Callable[[Sequence[pytest.Item]], None]

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self.ask(session.items)
        return True


def with_unit_tests(tests: Sequence[str], ask: Callable[[Sequence[pytest.Item]], None]) -> None:
    settings.register_profile(
        "mutants",
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.explicit, Phase.generate],  # an example that fails is enough; a smaller one takes long to find
        suppress_health_check=list(HealthCheck),
    )
    settings.load_profile("mutants")
    options = ["-q", "-n0", "-s", "--assert=plain", "-p", "no:cacheprovider", "-p", "no:faulthandler"]
    options += ["-k", "not over_tcp"]  # nodes over TCP are processes of their own, which run the sound code
    ended = pytest.main([*options, *(str(ROOT / each) for each in tests)], plugins=[Asking(ask)])
    assert ended in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED), ended


def forget() -> None:
    """Empties all caches: they hold answers of the sound code."""
    for each in _caches():
        each.cache_clear()


@cache
def _caches() -> tuple[Any, ...]:
    gc.unfreeze()  # what was frozen when tests began is not listed
    found = [each for each in gc.get_objects() if isinstance(each, _lru_cache_wrapper)]
    ours = tuple(each for each in found if each.__module__.startswith("routeproof.") or "wild" in each.__module__)
    return tuple(each for each in ours if ".theory." not in each.__module__)  # Z3 takes the name of a sort once
