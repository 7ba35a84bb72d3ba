"""Shrinking keeps the violation, and what it leaves is minimal: nothing can be taken away any more.

"Nothing" is spelled out here a second time, on instances instead of tables and sharing no code with the shrinker: every
single removal is made and the smaller world explored.
"""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from attrs import evolve

from routeproof.checker.counterexamples import replay_file
from routeproof.checker.counterexamples.record import replay, write_counterexample
from routeproof.checker.counterexamples.shrink import NotReproduced, shrink, shrink_file
from routeproof.checker.counterexamples.smaller import smaller
from routeproof.checker.evaluation import Finding, Monitor
from routeproof.checker.explore import explore
from routeproof.checker.system.errors import UsageError
from routeproof.model.filters import EventSet
from routeproof.model.instance import Instance
from routeproof.model.instance_file import parse_instance
from routeproof.model.overlay import Overlay
from routeproof.model.protocols import world
from routeproof.model.world import State, World
from routeproof.spec.properties import PROPERTIES, properties_for
from tests.checker.hunt import ALL, FAULTS, MUTANTS, WITNESS, Prey, hunt, search

REMOVALS_FIRST = MUTANTS[0]


@pytest.fixture(scope="module")
def shrunk() -> dict[Prey, tuple[World, Finding]]:
    return {prey: shrink(*hunt(prey)) for prey in ALL}


@pytest.mark.parametrize("prey", [*MUTANTS, *FAULTS], ids=str)
def test_keeps_the_violation(shrunk: dict[Prey, tuple[World, Finding]], prey: Prey) -> None:
    small, finding = shrunk[prey]
    assert (small.policy, small.mutant, finding.property) == (prey.policy, prey.mutant, prey.property)
    assert finding.run is not None
    assert _fails(small, finding.run, prey.property)
    large, first = hunt(prey)
    assert len(finding.run) <= len(first.run or ())
    assert len(small.nodes) <= len(large.nodes)


@pytest.mark.parametrize("prey", [*MUTANTS, *FAULTS], ids=str)
def test_no_action_can_be_left_out(shrunk: dict[Prey, tuple[World, Finding]], prey: Prey) -> None:
    small, finding = shrunk[prey]
    run = finding.run or ()
    for i in range(len(run)):
        assert not _fails(small, run[:i] + run[i + 1 :], prey.property), f"{run[i]} (step {i + 1}) is not needed"


@pytest.mark.parametrize("prey", [*MUTANTS, *FAULTS], ids=str)
def test_nothing_can_be_taken_from_the_instance(shrunk: dict[Prey, tuple[World, Finding]], prey: Prey) -> None:
    small, _ = shrunk[prey]
    removals = dict(_removals(small.instance))
    assert removals
    for what, instance in removals.items():
        if prey.property == "Agreement" and not instance.overlay.edges:
            continue  # one broker has nobody to disagree with
        found = search(world(instance, prey.policy, prey.mutant), prey.property)
        assert found.run is None, f"it still fails {what}: {found.run}"


@pytest.mark.parametrize(
    ("prey", "steps", "brokers"),
    [
        (REMOVALS_FIRST, 7, 2),
        (Prey("line3", "none", "no-settle-after-unsubscribe", "NoResidue"), 5, 2),
        (Prey("two4", "active", "delivers-unmatched", "Precise"), 4, 1),
        (Prey("unadv3", "active", "unadvertise-not-flooded", "NoResidue"), 3, 2),
        (Prey("loss2", "active", None, "NoLostDelivery"), 4, 2),
        (Prey("crash3", "none", None, "NoLostDelivery"), 4, 1),
    ],
    ids=str,
)
def test_sizes(shrunk: dict[Prey, tuple[World, Finding]], prey: Prey, steps: int, brokers: int) -> None:
    small, finding = shrunk[prey]
    assert (len(finding.run or ()), len(small.nodes)) == (steps, brokers)


@pytest.mark.parametrize("prey", [REMOVALS_FIRST, MUTANTS[-1], WITNESS], ids=str)
def test_shrinks_to_the_same_every_time_and_no_further(shrunk: dict[Prey, tuple[World, Finding]], prey: Prey) -> None:
    small, finding = shrunk[prey]
    again, same = shrink(*hunt(prey))
    assert (again.instance, same) == (small.instance, finding)
    further, last = shrink(small, finding)
    assert (further.instance, last.run) == (small.instance, finding.run)
    assert small.instance.name == f"{prey.instance}-shrunk"


def test_without_time_the_smallest_so_far_is_the_answer() -> None:
    large, finding = _stumble("removals-first", "active")
    same, run = shrink(large, finding, until=0.0)
    assert (same.instance.overlay, run.run) == (large.instance.overlay, finding.run)
    looks = itertools.count()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "routeproof.checker.counterexamples.shrink.time", SimpleNamespace(monotonic=lambda: float(next(looks)))
        )
        small, short = shrink(large, finding, until=30.0)
    assert next(looks) < 40
    assert len(short.run or ()) < len(finding.run or ())
    assert _fails(small, short.run or (), finding.property)


def test_an_interrupt_that_a_search_noted_ends_shrinking(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*args: Any, **options: Any) -> Any:
        return evolve(explore(*args, **options), limit="interrupted")

    monkeypatch.setattr("routeproof.checker.counterexamples.shrink.explore", interrupted)
    with pytest.raises(KeyboardInterrupt):
        shrink(*_stumble("removals-first", "active"))


def test_a_witness_shrinks_too(shrunk: dict[Prey, tuple[World, Finding]]) -> None:
    small, finding = shrunk[WITNESS]
    assert len(small.nodes) == 2
    assert search(small, WITNESS.property).run is not None
    assert finding.verdict == "holds"
    assert len(finding.run or ()) == 5


# -- large runs, as the fuzzer finds them ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mutant", "policy", "steps"),
    [("removals-first", "active", 7), ("unsubscribe-by-filter", "none", 6), ("delivers-or-forwards", "lazy", 6)],
)
def test_a_long_run_on_twelve_brokers_with_predicates(mutant: str, policy: str, steps: int) -> None:
    large, finding = _stumble(mutant, policy)
    assert len(finding.run or ()) > 5 * steps
    small, short = shrink(large, finding)
    assert len(small.nodes) <= 3
    assert len(short.run or ()) <= steps
    assert _fails(small, short.run or (), finding.property)
    for cut in smaller(small.instance):
        instance = cut.instance()
        if instance is not None and instance.overlay.edges:
            assert search(world(instance, policy, mutant), finding.property).run is None, cut.what


def _stumble(mutant: str, policy: str) -> tuple[World, Finding]:
    """Walk at random until something is wrong."""
    for seed in range(100):
        rng = random.Random(seed)
        large = world(_drawn(rng), policy, mutant)
        monitor = Monitor(large, [p for p in properties_for("routing", policy) if p.over != "graph"])
        state, run = large.initial(), list[str]()
        while actions := [a for a in large.actions if large.enabled(state, a)]:
            operations = [a for a in actions if a.operation is not None]
            deliveries = [a for a in actions if a.operation is None]
            eager = deliveries and (not operations or rng.random() < 0.9)
            step = large.step(state, rng.choice(deliveries if eager else operations))
            state = step.state
            run.append(step.action.label)
            for p, why in monitor.look(state):
                return large, Finding(p.id, p.kind, "fails", 1, tuple(run), why)
    raise AssertionError(f"{mutant} did no harm")


def _drawn(rng: random.Random) -> Instance:
    n = 12
    return parse_instance(
        {
            "name": "drawn",
            "protocol": "routing",
            "policy": "active",
            "overlay": [[rng.randint(1, b - 1), b] for b in range(2, n + 1)],
            "advertisement": [
                {"id": f"a{i}", "at": rng.randint(1, n), "filter": [["volume", ">=", 0]], "unadvertises": i == 0}
                for i in range(3)
            ],
            "subscription": [
                {
                    "id": f"s{i}",
                    "at": rng.randint(1, n),
                    "filter": [["class", "=", rng.choice(["STOCK", "BOND"])], ["volume", ">", rng.randint(0, 50)]],
                    "unsubscribes": rng.random() < 0.6,
                }
                for i in range(8)
            ],
            "publication": [
                {
                    "id": f"p{i}",
                    "of": f"a{i % 3}",
                    "attributes": {"class": rng.choice(["STOCK", "BOND"]), "volume": rng.randint(0, 90), "price": 0.5},
                }
                for i in range(8)
            ],
        },
        "drawn",
    )


# -- files -------------------------------------------------------------------------------------------------------------


def test_shrinks_a_file(tmp_path: Path) -> None:
    source = write_counterexample(*hunt(REMOVALS_FIRST), tmp_path)
    target = tmp_path / "small.jsonl"
    target.write_text("something else")
    line = shrink_file(source, target)
    assert line == (
        "NoLostDelivery: 10 steps, 3 brokers, 5 clients and publications"
        f" -> 7 steps, 2 brokers, 4 clients and publications: {target}"
    )
    assert replay_file(target).reproduces
    assert "already minimal, 7 steps" in shrink_file(target, target)
    assert sorted(tmp_path.iterdir()) == sorted([source, target])


def test_what_cannot_be_shrunk(tmp_path: Path) -> None:
    source = write_counterexample(*hunt(REMOVALS_FIRST), tmp_path)
    header, *events = (json.loads(line) for line in source.read_text().splitlines())
    unnamed = {key: value for key, value in header.items() if key != "violation"}
    wrong = {**header, "violation": {"property": "NoDuplicate", "why": ""}}
    cases: list[tuple[dict[str, object], type[Exception], str]] = [
        (unnamed, UsageError, "names no violation"),
        (wrong, NotReproduced, "does not reproduce: after step"),
    ]
    for changed, kind, said in cases:
        source.write_text("".join(json.dumps(row) + "\n" for row in (changed, *events)))
        with pytest.raises(kind, match=said):
            shrink_file(source, tmp_path / "out.jsonl")
        assert not (tmp_path / "out.jsonl").exists()
    source.write_text("".join(json.dumps(row) + "\n" for row in (header, *events)))
    with pytest.raises(UsageError, match="cannot be written"):
        shrink_file(source, tmp_path / "no" / "out.jsonl")


# -- every single removal ----------------------------------------------------------------------------------------------


def _fails(played: World, run: tuple[str, ...], property: str) -> bool:
    """Does playing this, leaving out what cannot happen, end in a violation?"""
    monitor = Monitor(played, [PROPERTIES[property]])
    state: State = played.initial()
    wrong = monitor.look(state)
    for label in run:
        action = played.action_named[label]
        if played.enabled(state, action):
            (step,) = [s for s in played.steps(state) if s.action == action]
            state = step.state
            wrong = monitor.look(state)
    return bool(wrong)


def test_the_runs_of_hunt_are_replayed_as_they_stand(shrunk: dict[Prey, tuple[World, Finding]]) -> None:
    for small, finding in shrunk.values():
        assert len(replay(small, finding.run or ())) == len(finding.run or ())


def _removals(instance: Instance) -> Iterator[tuple[str, Instance]]:
    for p in instance.publications:
        left = tuple(q for q in instance.publications if q != p)
        yield f"without publication {p}", _renumbered(evolve(instance, publications=left))
    for s in instance.subscribers:
        subscribers = tuple(t for t in instance.subscribers if t != s)
        yield f"without subscription {s.subscription}", _renumbered(evolve(instance, subscribers=subscribers))
        if s.unsubscribes:
            kept = tuple(evolve(t, unsubscribes=t.unsubscribes and t != s) for t in instance.subscribers)
            yield f"without unsubscribing {s.subscription}", evolve(instance, subscribers=kept)
    for a in instance.advertisers:
        advertisers = tuple(b for b in instance.advertisers if b != a)
        left = tuple(q for q in instance.publications if q.of != a.advertisement.id)
        fewer = evolve(instance, advertisers=advertisers, publications=left)
        yield f"without advertisement {a.advertisement}", _renumbered(fewer)
        if a.unadvertises:
            stays = tuple(evolve(b, unadvertises=b.unadvertises and b != a) for b in instance.advertisers)
            yield f"without unadvertising {a.advertisement}", evolve(instance, advertisers=stays)
    for u, v in instance.overlay.edges:
        yield f"with {u} and {v} in one", _contracted(instance, u, v)
    for kind in ("loss", "duplicate", "reorder", "crash"):
        count = getattr(instance.faults, kind)
        if count:
            yield f"with one {kind} fewer", evolve(instance, faults=evolve(instance.faults, **{kind: count - 1}))
    yield from _smaller_filters(instance)


def _smaller_filters(instance: Instance) -> Iterator[tuple[str, Instance]]:
    published = {p.of: set[object]() for p in instance.publications}
    for p in instance.publications:
        published[p.of].add(p.event)
    for i, s in enumerate(instance.subscribers):
        for smaller_set in _one_event_less(s.subscription.filter):
            item = evolve(s, subscription=evolve(s.subscription, filter=smaller_set))
            less = (*instance.subscribers[:i], item, *instance.subscribers[i + 1 :])
            yield f"with {s.subscription} = {smaller_set}", evolve(instance, subscribers=less)
    for i, a in enumerate(instance.advertisers):
        for smaller_set in _one_event_less(a.advertisement.filter):
            if published.get(a.advertisement.id, set()) <= set(smaller_set.events):
                other = evolve(a, advertisement=evolve(a.advertisement, filter=smaller_set))
                fewer = (*instance.advertisers[:i], other, *instance.advertisers[i + 1 :])
                yield f"with {a.advertisement} = {smaller_set}", evolve(instance, advertisers=fewer)


def _one_event_less(whole: object) -> list[EventSet]:
    assert isinstance(whole, EventSet)
    events = whole.events
    return [EventSet.of([e for e in events if e != gone]) for gone in events] if len(events) > 1 else []


def _renumbered(instance: Instance) -> Instance:
    """Ranks are places in the lists."""
    return evolve(
        instance,
        advertisers=tuple(
            evolve(a, advertisement=evolve(a.advertisement, rank=i)) for i, a in enumerate(instance.advertisers)
        ),
        subscribers=tuple(
            evolve(s, subscription=evolve(s.subscription, rank=i)) for i, s in enumerate(instance.subscribers)
        ),
        publications=tuple(evolve(p, rank=i) for i, p in enumerate(instance.publications)),
    )


def _contracted(instance: Instance, u: int, v: int) -> Instance:
    names = [b for b in instance.overlay.brokers if b != v]
    at = {b: names.index(u if b == v else b) + 1 for b in instance.overlay.brokers}
    return evolve(
        instance,
        overlay=Overlay.of((at[x], at[y]) for x, y in instance.overlay.edges if at[x] != at[y]),
        advertisers=tuple(evolve(a, at=at[a.at]) for a in instance.advertisers),
        subscribers=tuple(evolve(s, at=at[s.at]) for s in instance.subscribers),
    )
