"""The proofs about moves: the relation in small worlds, faults that are noticed, and the model held to the relation."""

from collections.abc import Callable

import pytest
from attrs import evolve

from routeproof.checker.migration.refinement import judged, views
from routeproof.checker.prove.solve import settle
from routeproof.checker.prove.theorems import judge
from routeproof.model.instance_file import parse_instance
from routeproof.model.migration.mutants import MIGRATION_MUTANTS
from routeproof.model.protocols import world
from routeproof.spec.migration import theory
from routeproof.spec.migration.theory import THEOREMS, MoveScene, worlds
from routeproof.spec.migration.theory.move import EVENTS, MoveEvent, MoveSetting, MoveState
from routeproof.spec.migration.theory.publications import BOOK
from routeproof.spec.migration.theory.worlds import WORLDS, SmallWorld, explored, states, violated
from routeproof.spec.theory import Term
from tests.campaigns import daily

PAIR, LINE = theory.PAIR, SmallWorld(worlds.LINE, 1, 3, 3, 1)


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)
def test_every_invariant_is_true_in_every_state_of_a_small_world(world: SmallWorld) -> None:
    q = world.setting()
    assert not {name for values in states(world) for name in violated(q, values)}


# -- faults of the relation: each is noticed by Z3, or by a small world that names what is false -----------------------


def changed(name: str, effect: Callable[..., MoveState]) -> tuple[MoveEvent, ...]:
    (old,) = (event.effect for event in EVENTS if event.name == name)
    return worlds.without(name, effect=lambda *terms: effect(old, *terms))


def _lost_buffer(old: Callable[..., MoveState], q: MoveSetting, m: MoveState) -> MoveState:
    return evolve(old(q, m), new=m.new)


def _copied(old: Callable[..., MoveState], q: MoveSetting, m: MoveState, p: Term) -> MoveState:
    return evolve(old(q, m, p), old=m.old)


def _nothing_sent(old: Callable[..., MoveState], q: MoveSetting, m: MoveState, b: Term) -> MoveState:
    return evolve(old(q, m, b), sent=m.sent, addition=m.addition)


def _not_withdrawn(old: Callable[..., MoveState], q: MoveSetting, m: MoveState, b: Term) -> MoveState:
    return evolve(old(q, m, b), sent=m.sent, withdrawal=m.withdrawal)


def _stops_halfway(old: Callable[..., MoveState], q: MoveSetting, m: MoveState, b: Term) -> MoveState:
    return evolve(old(q, m, b), update=lambda c: False)


FAULTS: dict[str, tuple[SmallWorld, tuple[MoveEvent, ...], str]] = {
    "the buffer is lost": (PAIR, changed("resume", _lost_buffer), "nothing is lost"),
    "the source handles a publication twice": (
        SmallWorld(worlds.LINE, 1, 3, 1, 1),
        changed("publication at the source", _copied),
        "in one place",
    ),
    "op 3 is left out": (
        SmallWorld(worlds.LINE, 1, 3, 1, 1),
        changed("update", _nothing_sent),
        "the new way passes it on",
    ),
    "nothing is withdrawn": (LINE, changed("completion", _not_withdrawn), "the old way is withdrawn from"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_the_relation_makes_a_sentence_false(fault: str) -> None:
    world, events, sentence = FAULTS[fault]
    q = world.setting()
    found = [violated(q, values) for values in explored(q, events)]
    assert any(sentence in false for false in found)


def test_an_update_that_stops_halfway_never_ends() -> None:
    q = LINE.setting()
    events = changed("update", _stops_halfway)
    ends = [v for v in explored(q, events) if not list(worlds.successors(q, v, events))]
    assert ends
    assert not any(worlds.is_over(q, values) for values in ends)


@pytest.mark.parametrize(
    ("event", "sentence"),
    [
        ("completion", "the new way has it before the completion"),
        ("completion", "the completion is behind"),
        ("mark at the source", "flushed after the pause"),
    ],
)
def test_without_the_order_of_channels_z3_proves_nothing(event: str, sentence: str) -> None:
    scene, (asked,) = MoveScene(), (each for each in EVENTS if each.name == event)
    assert settle(scene.after(asked, sentence)).verdict == "proved"
    loose = evolve(asked, guard=lambda q, m, *b: m.completion(*b) if b else m.paused())
    assert settle(scene.after(loose, sentence), rlimit=400_000).verdict in ("refuted", "unknown")


@pytest.mark.parametrize("id", [each.id for each in THEOREMS if each.id in ("MoveEnds", "MoveHappens", "MoveNeeds")])
def test_the_quick_theorems_are_proved(id: str) -> None:
    (theorem,) = (each for each in THEOREMS if each.id == id)
    assert judge(theorem).verdict == ("bounded" if theorem.bound else "proved")


def test_the_printed_move_loses_in_five_events() -> None:
    world, _, sentence = theory.NEEDS["the update removes at once, as printed"]
    run = worlds.shortest(world, sentence)
    assert run is not None
    assert [name for name, _ in run] == [
        "publish",
        "pause",
        "publisher at the target",
        "update",
        "publication at the source",
    ]


def test_every_sentence_is_proved_by_one_theorem() -> None:
    assert set(theory.PROVED_BY) == {*BOOK.conjuncts, *BOOK.lemmas}


# -- the model ---------------------------------------------------------------------------------------------------------

TWO = {
    "name": "two",
    "protocol": "migration",
    "policy": "none",
    "overlay": [[1, 2]],
    "migration": {"moves": [{"publisher": "a", "to": 2}]},
    "advertisement": [{"id": "a", "at": 1, "events": [0]}],
    "subscription": [{"id": "s", "at": 2, "events": [0]}],
    "publication": [{"id": "p", "of": "a", "event": 0}, {"id": "q", "of": "a", "event": 0}],
}
THREE = {
    **TWO,
    "overlay": [[1, 2], [2, 3]],
    "migration": {"moves": [{"publisher": "a", "to": 3}]},
    "subscription": [{"id": "s", "at": 3, "events": [0]}],
    "publication": [{"id": "p", "of": "a", "event": 0}],
}
BACK = {**TWO, "subscription": [{"id": "s", "at": 1, "events": [0]}], "publication": THREE["publication"]}
SPEAKS_OF = {
    "speaks-while-paused": "publish",
    "buffer-lost": "resume",
    "buffer-to-both": "resume",
    "buffer-reversed": "publication at the target",
    "last-hop-kept": "update",
    "nothing-forwarded": "update",
    "updates-twice": "update",
    "removes-on-the-way": "update",
    "mark-ignored": "update",
    "speaks-on-arrival": "resume",
    "completes-first": "completion",
    "never-withdrawn": "completion",
    "drains-for-ever": "update",
}
"""By seeded fault of the model: the event at which the relation first says something else."""

SPEAKS_NOT_OF = {
    "withdraws-while-paused",  # the advertisement stays
    "goes-nowhere-silently",  # the target does not refuse
    "stays-connected",  # who is connected is no part of the relation
    "does-not-wait",  # the advertisement is known everywhere
    "second-request",  # one move at a time
}


def test_the_model_takes_the_steps_of_the_relation() -> None:
    happened = set()
    for table in (TWO, BACK, THREE):
        (view,) = views(world(parse_instance(table, "two"), "none"))
        seen = list(judged(view))
        assert [each for each in seen if not each.allowed] == []
        happened |= {each.what for each in seen}
    assert happened == {"state", "other", *(event.name for event in EVENTS)}


@pytest.mark.parametrize("mutant", SPEAKS_OF)
def test_a_fault_of_the_model_is_refused(mutant: str) -> None:
    for table in (TWO, BACK, THREE):
        (view,) = views(world(parse_instance(table, "two"), "none", mutant))
        if any(seen.what == SPEAKS_OF[mutant] for seen in judged(view) if not seen.allowed):
            return
    pytest.fail("the relation allows everything")


def test_every_fault_of_the_model_is_in_one_of_the_tables() -> None:
    assert {*SPEAKS_OF, *SPEAKS_NOT_OF} == {*MIGRATION_MUTANTS}


@pytest.mark.parametrize(
    "name", daily(["quit2", "joins3", "move3", "branch4", "stays3", "arrives3"], lambda name: name == "quit2")
)
def test_the_model_takes_the_steps_of_the_relation_in_shipped_instances(name: str) -> None:
    from routeproof.checker.migration.refinement import theorem

    assert judge(theorem((name,))).verdict == "bounded"
