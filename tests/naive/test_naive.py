"""The naive search against its recorded numbers, and against broken brokers that it must catch."""

import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
_SPEC = importlib.util.spec_from_file_location("naive_search", HERE / "naive_search.py")
assert _SPEC is not None
assert _SPEC.loader is not None
naive: Any = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(naive)

COUNTS: dict[str, dict[str, list[int]]] = json.loads((HERE / "counts.json").read_text())
SMALL = ("tiny", "line3", "equal3", "unadv3", "star4")  # at most about 3 s each; the others are only recorded


def test_every_instance_is_recorded() -> None:
    assert {name: set(row) for name, row in COUNTS.items()} == {name: set(naive.POLICIES) for name in naive.INSTANCES}


@pytest.mark.parametrize("policy", naive.POLICIES)
@pytest.mark.parametrize("name", SMALL)
def test_numbers(name: str, policy: str) -> None:
    assert list(naive.search(naive.INSTANCES[name], policy)) == COUNTS[name][policy]


@pytest.mark.parametrize("policy", naive.POLICIES)
def test_counted_by_hand(policy: str) -> None:
    """Adv is to come, flying or there; s is off or on; with both, Sub is flying or there: 3 * 2 + 1 = 7 states.

    With a publication, possible once Adv is sent, there are 5 more in which it reached nobody and is owed to nobody
    (published in one of the 4 states before the last), and 2 in which it was published in the last: flying, delivered.
    """
    advs, subs = (("a", 2, (0,), False),), (("s", 1, (0,), False),)
    assert naive.search((2, ((1, 2),), advs, subs, ()), policy) == (7, 8, 4)
    assert naive.search((2, ((1, 2),), advs, subs, (("p", "a", 0),)), policy) == (14, 19, 6)


def broken(name: str, policy: str) -> set[str]:
    _, bad = naive.explore(naive.INSTANCES[name], policy)
    return {prop for prop, count in bad.items() if count}


Wrap = Callable[..., Any]


def patch(monkeypatch: pytest.MonkeyPatch, method: str, wrap: Callable[[Wrap], Wrap]) -> None:
    monkeypatch.setattr(naive.World, method, wrap(getattr(naive.World, method)))


@pytest.mark.parametrize("name", ["tiny", "line3", "equal3", "unadv3"])
@pytest.mark.parametrize("policy", ["active", "lazy"])
def test_removals_before_additions_lose_a_delivery(monkeypatch: pytest.MonkeyPatch, name: str, policy: str) -> None:
    patch(monkeypatch, "settle", lambda old: lambda *args: sorted(old(*args), key=lambda sent: sent[1] == "Sub"))
    assert broken(name, policy) == {"NoLostDelivery"}


def test_withdrawing_nothing_is_residue(monkeypatch: pytest.MonkeyPatch) -> None:
    patch(monkeypatch, "settle", lambda old: lambda *args: [sent for sent in old(*args) if sent[1] == "Sub"])
    assert broken("tiny", "none") == {"Agreement", "NoResidue"}


def test_pruning_nothing_is_not_compact(monkeypatch: pytest.MonkeyPatch) -> None:
    def unpruned(old: Wrap) -> Wrap:
        def wanted(world: Any, *args: Any) -> Any:
            world.policy, policy = "none", world.policy
            result = old(world, *args)
            world.policy = policy
            return result

        return wanted

    patch(monkeypatch, "wanted", unpruned)
    assert broken("tiny", "active") == {"Compact"}
    assert broken("tiny", "lazy") == set()


def test_delivering_to_everyone_is_imprecise(monkeypatch: pytest.MonkeyPatch) -> None:
    def careless(old: Wrap) -> Wrap:
        def handle(world: Any, b: int, x: int, message: Any, broker: Any) -> Any:
            new, out, delivered = old(world, b, x, message, broker)
            if message[0] == "Pub":
                delivered |= {(p, s) for p in message[1] for s, origin in broker[1] if origin == naive.LOCAL}
            return new, out, delivered

        return handle

    patch(monkeypatch, "handle", careless)
    assert "Precise" in broken("line3", "active")


def test_echoing_a_publication_duplicates_it_and_never_drains(monkeypatch: pytest.MonkeyPatch) -> None:
    def echoing(old: Wrap) -> Wrap:
        def handle(world: Any, b: int, x: int, message: Any, broker: Any) -> Any:
            return old(world, b, -1 if message[0] == "Pub" else x, message, broker)

        return handle

    patch(monkeypatch, "handle", echoing)
    advs, subs = (("a", 1, (0,), False), ("b", 2, (0,), False)), (("s", 1, (0,), False), ("t", 2, (0,), False))
    _, bad = naive.explore((2, ((1, 2),), advs, subs, (("p", "a", 0),)), "active")
    assert {prop for prop, count in bad.items() if count} == {"NoDuplicate", "Acyclic"}
