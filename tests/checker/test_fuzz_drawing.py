"""What the fuzzer draws: instances worth looking at, and filters that have to do with each other."""

from collections import Counter

import pytest
from attrs import fields
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from routeproof.checker.fuzz.campaign import hermetic
from routeproof.checker.fuzz.strategies import (
    CONDITIONS,
    EVENT_SETS,
    PREDICATES,
    VALUES,
    Algebra,
    Sizes,
    instances,
    worlds,
)
from routeproof.checker.pruning.fuzzing import BREAKING, READINGS, THRESHOLDS
from routeproof.model.filters import STRICT, EventSet
from routeproof.model.instance import Instance
from routeproof.model.instance_file import parse_instance, to_table
from routeproof.model.pruning.definition import again, congested, parameters
from routeproof.model.pruning.vocabulary import PRUNING, PruningParameters
from routeproof.model.world import World
from routeproof.spec.catalogues import CLAIMS

QUIET = settings(
    database=None,
    deadline=None,
    max_examples=150,
    phases=(Phase.generate,),
    suppress_health_check=(HealthCheck.too_slow,),
)
ALGEBRAS = pytest.mark.parametrize("algebra", [EVENT_SETS, PREDICATES], ids=["event-sets", "predicates"])


def sample() -> list[Instance]:
    drawn: list[Instance] = []

    @QUIET
    @seed(0)
    @given(instances(Sizes()))
    def collect(instance: Instance) -> None:
        drawn.append(instance)

    with hermetic():
        collect()
    return drawn


def test_instances_are_of_all_sizes_and_kinds() -> None:
    drawn = sample()
    assert {len(i.overlay.brokers) for i in drawn} == set(range(1, 13))
    degrees = {max(Counter(b for edge in i.overlay.edges for b in edge).values(), default=0) for i in drawn}
    assert {1, 2, 3} <= degrees
    assert max(degrees) > 6
    assert {isinstance(i.subscriptions[0].filter, EventSet) for i in drawn} == {True, False}
    assert {len(i.subscribers) for i in drawn} == set(range(1, 7))
    leaving = [s.unsubscribes for i in drawn for s in i.subscribers]
    assert 0.4 < sum(leaving) / len(leaving) < 0.9


def test_filters_are_often_nested_equal_and_overlapping_and_publications_are_often_wanted() -> None:
    kinds: Counter[str] = Counter()
    wanted = total = 0
    for instance in sample():
        subs = [s.filter for s in instance.subscriptions]
        for s in subs:
            for t in subs:
                kinds["strict"] += s.covers(t) and not t.covers(s)
                kinds["equal"] += s is not t and s == t
                kinds["overlapping"] += s.overlaps(t) and not s.covers(t) and not t.covers(s)
                kinds["disjoint"] += not s.overlaps(t)
        wanted += sum(any(s.matches(p.event) for s in subs) for p in instance.publications)
        total += len(instance.publications)
    pairs = sum(kinds.values())
    assert min(kinds[kind] / pairs for kind in ("strict", "equal", "overlapping", "disjoint")) > 0.04, kinds
    assert wanted / total > 0.8


def test_instances_are_legal_and_can_be_written_to_a_file() -> None:
    for instance in sample():
        for p in instance.publications:
            assert instance.advertiser_of(p).advertisement.filter.matches(p.event)
        assert parse_instance(to_table(instance), "here") == instance


@ALGEBRAS
def test_relatives_are_what_they_are_called(algebra: Algebra) -> None:
    @QUIET
    @seed(0)
    @given(st.data())
    def relatives(data: st.DataObject) -> None:
        base = algebra.fresh(data.draw)
        narrower, wider, equal = (
            algebra.filter(derive(data.draw, base)) for derive in (algebra.narrower, algebra.wider, algebra.equal)
        )
        assert algebra.filter(base).covers(narrower)
        assert wider.covers(algebra.filter(base))
        assert equal == algebra.filter(base)

    with hermetic():
        relatives()


@ALGEBRAS
def test_events_are_advertised_and_wanted_where_they_can_be(algebra: Algebra) -> None:
    @QUIET
    @seed(0)
    @given(st.data())
    def events(data: st.DataObject) -> None:
        advertised, wanted = algebra.fresh(data.draw), algebra.fresh(data.draw)
        event = algebra.event(data.draw, advertised, wanted)
        assert algebra.filter(advertised).matches(event)
        if isinstance(event, int) and algebra.filter(advertised).overlaps(algebra.filter(wanted)):
            assert algebra.filter(wanted).matches(event)

    with hermetic():
        events()


@pytest.mark.parametrize("attribute", CONDITIONS)
def test_values_tell_all_conditions_apart_that_differ(attribute: str) -> None:
    """Or a filter could be drawn whose events never are, or two whose difference nobody ever sees."""
    alone = [STRICT.parse([[attribute, *part] for part in condition]) for condition in CONDITIONS[attribute]]
    events = [STRICT.event({} if value is None else {attribute: value}) for value in VALUES[attribute]]
    seen = [tuple(f.matches(e) for e in events) for f in alone]
    assert all(any(row) for row in seen)
    for i, row in enumerate(seen):
        for j, other in enumerate(seen):
            assert (row == other) == (alone[i] == alone[j]), (CONDITIONS[attribute][i], CONDITIONS[attribute][j])


# -- pruning -----------------------------------------------------------------------------------------------------------


def pruned_sample(policy: str) -> list[Instance]:
    drawn: list[Instance] = []

    @QUIET
    @seed(0)
    @given(worlds(Sizes(), "pruning", (policy,), None))
    def collect(world: World) -> None:
        drawn.append(world.instance)

    with hermetic():
        collect()
    return drawn


@pytest.mark.parametrize("policy", PRUNING)
def test_under_pruning_all_that_is_sound_is_drawn(policy: str) -> None:
    drawn = pruned_sample(policy)
    assert {isinstance(i.subscriptions[0].filter, EventSet) for i in drawn} == {True, False}
    assert {len(i.advertisers) for i in drawn} == {1, 2, 3}
    assert {len(congested(i)) for i in drawn} == {0, 1, 2}
    returning = [
        (again(s), s.at, parameters(i, policy).identity) for i in drawn for s in i.subscribers if again(s) is not None
    ]
    assert {there == at for there, at, identity in returning if identity == "issue"} == {True, False}
    assert {there == at for there, at, identity in returning if identity == "id"} == {True}
    for parameter in fields(PruningParameters):
        seen = {getattr(parameters(i, policy), parameter.name) for i in drawn}
        sound = {"thresholds": THRESHOLDS[policy], **READINGS}.get(parameter.name)
        if sound is None:
            value, claim = BREAKING[parameter.name]
            assert value not in seen
            assert CLAIMS[claim].verdict == "fails"
        else:
            assert seen == set(sound), parameter.name


def test_every_reading_is_drawn_or_is_known_to_break() -> None:
    assert {"thresholds", *READINGS} | set(BREAKING) == {parameter.name for parameter in fields(PruningParameters)}
