"""Broken brokers, each of which the naive search must catch by the properties named here and by no others."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.migration.naive import Migration, MovingStep
from tests.naive.instances import Client, Instance, load
from tests.naive.routing import LOCAL, Message, Routing, Step
from tests.naive.search import search
from tests.naive.systems import system
from tests.pruning.naive import PrunedTables, Pruning, PruningStep
from tests.shown import RECORDED

pytestmark = RECORDED


def violated(instance: str | Instance, policy: str) -> set[str]:
    instance = load(instance) if isinstance(instance, str) else instance
    return set(search(system(instance, policy)).violated)


Wrap = Callable[..., Any]


def patch(monkeypatch: pytest.MonkeyPatch, owner: type, method: str, wrap: Callable[[Wrap], Wrap]) -> None:
    monkeypatch.setattr(owner, method, wrap(getattr(owner, method)))


def replaced(monkeypatch: pytest.MonkeyPatch, change: Callable[[list[tuple[int, Message]]], Any]) -> None:
    """Has every settling send what `change` makes of what it would send."""

    def wrapped(settle: Wrap) -> Wrap:
        def changed(step: Step, *args: Any) -> None:
            before = len(step.out)
            settle(step, *args)
            step.out[before:] = change(step.out[before:])

        return changed

    patch(monkeypatch, Step, "settle", wrapped)


# -- the routing core --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["tiny", "line3", "equal3", "unadv3"])
@pytest.mark.parametrize("policy", ["active", "lazy"])
def test_removals_before_additions_lose_a_delivery(monkeypatch: pytest.MonkeyPatch, name: str, policy: str) -> None:
    replaced(monkeypatch, lambda sent: sorted(sent, key=lambda to: to[1][0] == "Sub"))
    assert violated(name, policy) == {"NoLostDelivery"}


def test_withdrawing_nothing_is_residue(monkeypatch: pytest.MonkeyPatch) -> None:
    replaced(monkeypatch, lambda sent: [to for to in sent if to[1][0] == "Sub"])
    assert violated("tiny", "none") == {"Agreement", "NoResidue"}


def test_pruning_nothing_is_not_compact(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Routing, "let_through", lambda world, pool, sent: pool)
    assert violated("tiny", "active") == {"Compact"}
    assert violated("tiny", "lazy") == set()


def test_not_settling_after_a_withdrawn_advertisement_is_stray(monkeypatch: pytest.MonkeyPatch) -> None:
    def silent(step: Step, x: int, a: int) -> None:
        if step.advs.get(a) == x:
            del step.advs[a]
            step.flood(x, ("Unadv", a))

    monkeypatch.setattr(Step, "unadv", silent)
    assert violated("unadv3", "active") == {"NoStray"}
    assert violated("unadv3", "none") == {"NoStray", "PropagationTree"}


def test_a_fork_is_no_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Routing, "let_through", lambda world, pool, sent: pool)
    both = (Client("a", 2, frozenset({0})), Client("b", 3, frozenset({0})))
    subs = (Client("S", 4, frozenset({0, 1})), Client("s", 4, frozenset({0})))
    assert "PropagationPath" in violated(Instance(((1, 2), (1, 3), (1, 4)), both, subs, ()), "active")


def test_delivering_to_everyone_is_imprecise(monkeypatch: pytest.MonkeyPatch) -> None:
    def careless(pub: Wrap) -> Wrap:
        def wrapped(step: Step, x: int, p: int, *rest: Any) -> None:
            pub(step, x, p, *rest)
            step.delivered |= {(p, s) for s, origin in step.subs.items() if origin == LOCAL}

        return wrapped

    patch(monkeypatch, Step, "pub", careless)
    assert "Precise" in violated("line3", "active")


def test_echoing_a_publication_duplicates_it_and_never_drains(monkeypatch: pytest.MonkeyPatch) -> None:
    patch(monkeypatch, Step, "pub", lambda pub: lambda step, x, p: pub(step, -1, p))
    one = frozenset({0})
    advs, subs = (Client("a", 1, one), Client("b", 2, one)), (Client("s", 1, one), Client("t", 2, one))
    assert violated(Instance(((1, 2),), advs, subs, ((0, 0),)), "active") == {"NoDuplicate", "Drains"}


# -- pruning -----------------------------------------------------------------------------------------------------------


def test_rows_that_stay_are_not_purged(monkeypatch: pytest.MonkeyPatch) -> None:
    def keeping(unsub: Wrap) -> Wrap:
        def wrapped(step: PruningStep, *args: Any) -> None:
            rows = dict(step.rows)
            unsub(step, *args)
            step.rows = rows

        return wrapped

    patch(monkeypatch, PruningStep, "unsub", keeping)
    assert violated("window3", "selective") == {"Purged"}


def test_a_window_that_is_ignored_is_not_purged(monkeypatch: pytest.MonkeyPatch) -> None:
    def wide(pub: Wrap) -> Wrap:
        def wrapped(step: PruningStep, *args: Any) -> None:
            step.world.window = 1000
            pub(step, *args)
            step.world.window = 1

        return wrapped

    patch(monkeypatch, PruningStep, "pub", wide)
    assert violated("window3", "selective") == {"Purged"}


def test_delivering_to_a_client_that_is_gone_is_astray(monkeypatch: pytest.MonkeyPatch) -> None:
    def careless(pub: Wrap) -> Wrap:
        def wrapped(step: PruningStep, *args: Any) -> None:
            held, step.held = step.held, []
            pub(step, *args)
            step.held = held

        return wrapped

    patch(monkeypatch, PruningStep, "pub", careless)
    assert violated("return3", "selective") == {"ClientExact", "Purged"}


def test_a_distance_that_is_never_reset_is_not_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    def growing(pub: Wrap) -> Wrap:
        def wrapped(step: PruningStep, x: int, p: int, distance: int = 0, count: int = 0) -> None:
            pub(step, x, p, distance, count)
            if x != LOCAL:
                step.out = [(u, (kind, p, distance + 1, *rest[2:])) for u, (kind, *rest) in step.out]
                step.rows = {
                    key: tuple((q, distance + 1 if q == p else d, n, x) for q, d, n, x in rows)
                    for key, rows in step.rows.items()
                }

        return wrapped

    patch(monkeypatch, PruningStep, "pub", growing)
    assert violated("half3", "selective") == {"StatisticsExact"}


def test_ending_every_withdrawal_at_once_keeps_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PruningStep, "critical", lambda step, distances: (0,))
    assert violated("fewest3", "selective") == {"FalsePositiveBound"}


def test_a_distance_that_does_not_fall_leads_too_far(monkeypatch: pytest.MonkeyPatch) -> None:
    def late(withdraw: Wrap) -> Wrap:
        def wrapped(step: PruningStep, x: int, s: int, cuts: Any) -> None:
            withdraw(step, x, s, cuts and tuple((a, tuple(d + 1 for d in distances)) for a, distances in cuts))

        return wrapped

    patch(monkeypatch, PruningStep, "withdraw", late)
    assert "MonotoneDistances" in violated("prune3", "selective")


def test_forgetting_all_that_is_retained_is_not_anchored(monkeypatch: pytest.MonkeyPatch) -> None:
    def forgetful(closed: Wrap) -> Wrap:
        def wrapped(step: PruningStep) -> PrunedTables:
            tables: PrunedTables = closed(step)
            return tables._replace(retained=frozenset())

        return wrapped

    patch(monkeypatch, PruningStep, "closed", forgetful)
    assert violated("collects3", "selective") == {"Anchored"}


def test_distances_of_the_papers_table() -> None:
    """Table I of 000: rows at distances 1, 5, 1, 1, 7; the one of 001 at 6, 2, 2, 6, 7 with 85 percent."""
    pruning = Pruning(load("prune3"), "incremental")
    pruning.thresholds = (60, 80, 85, 90, 100)
    step = PruningStep(pruning, 1, PrunedTables())
    assert step.critical([1, 5, 1, 1, 7]) == (1, 5, 7, 7, 7)
    pruning.thresholds = (85,)
    assert step.critical([6, 2, 2, 6, 7]) == (7,)
    pruning.inclusive = False
    assert step.critical([6, 2, 2, 6, 7]) == (8,)


# -- migration ---------------------------------------------------------------------------------------------------------


def test_completing_before_the_mark_loses(monkeypatch: pytest.MonkeyPatch) -> None:
    def hasty(end: Wrap) -> Wrap:
        def wrapped(step: MovingStep, a: int) -> None:
            step.flushed.add(a)
            end(step, a)

        return wrapped

    patch(monkeypatch, MovingStep, "end", hasty)
    assert violated("present2", "active") == {"NoLostDelivery"}


def test_a_buffer_that_is_reversed_is_out_of_order(monkeypatch: pytest.MonkeyPatch) -> None:
    def reversing(at_client: Wrap) -> Wrap:
        def wrapped(world: Migration, client: Any, x: int, message: Message) -> Any:
            return at_client(world, client._replace(held=client.held[::-1]), x, message)

        return wrapped

    patch(monkeypatch, Migration, "at_client", reversing)
    assert "InOrder" in violated("refused2", "active")


def test_a_target_that_forgets_its_refusal_leaves_the_publisher_paused(monkeypatch: pytest.MonkeyPatch) -> None:
    def silent(take_in: Wrap) -> Wrap:
        def wrapped(step: MovingStep, *args: Any) -> None:
            take_in(step, *args)
            step.out = [to for to in step.out if to[1][0] != "Refuse"]

        return wrapped

    patch(monkeypatch, MovingStep, "take_in", silent)
    assert "Released" in violated("refused2", "active")


def test_staying_connected_is_two_places(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MovingStep, "leave", lambda step, x, a: None)
    assert "OnePlace" in violated("quit2", "active")


def test_never_withdrawing_is_not_fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    def keeping(complete: Wrap) -> Wrap:
        def wrapped(step: MovingStep, x: int, a: int) -> None:
            sent = set(step.sent[x])
            complete(step, x, a)
            step.sent[x] = sent
            step.out = [to for to in step.out if to[1][0] != "Unsubs"]

        return wrapped

    patch(monkeypatch, MovingStep, "complete", keeping)
    assert violated("present2", "none") == {"NoStray", "FreshTables"}


def test_an_update_that_is_sent_twice_is_off_its_path(monkeypatch: pytest.MonkeyPatch) -> None:
    def twice(update: Wrap) -> Wrap:
        def wrapped(step: MovingStep, *args: Any) -> None:
            update(step, *args)
            step.out += [to for to in step.out if to[1][0] == "Update"]

        return wrapped

    patch(monkeypatch, MovingStep, "update", twice)
    assert "OnPath" in violated("present2", "active")


def test_not_draining_loses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MovingStep, "draws", Step.draws)
    assert "NoLostDelivery" in violated("present2", "active")
