"""What is remembered of publications: the same as what was told, in bounded room, and nothing that is out of date."""

from typing import Any

import pytest

from routeproof.checker.validate.broker import messages
from routeproof.checker.validate.broker.messages import MOST, SOME, Publications
from routeproof.checker.validate.fast import Universe
from routeproof.model.filters import EventSet
from routeproof.model.messages import Subscription


class All:
    """A holder of every slot."""

    def slots_held(self) -> int:
        return -1

    def promises_held(self) -> int:
        return -1


ALL = All()


def subscribed(universe: Universe, *ids: str) -> list[int]:
    universe.join(ALL)
    return [universe.slot(Subscription(0, id, EventSet.of([0]))) for id in ids]


@pytest.mark.parametrize("widest", [1 << 16, 1])
def test_what_is_kept_is_found(widest: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With slots in two bytes or in four."""
    monkeypatch.setattr(messages, "WIDEST", widest)
    universe = Universe()
    slots = subscribed(universe, *(f"s{n}" for n in range(300)))
    known = Publications(universe)
    known.come_round = True
    told = {("p", "", 1): (-5, slots), ("q", "a", b"{}"): (1 << 62, []), ("r", "", b"x"): (0, [299, 7])}
    for written, (digest, matching) in told.items():
        known.keep(written, digest, matching)
    found = [known.find(written) for written in told]
    entries = [entry for entry in found if entry is not None]
    assert [known.digest(entry) for entry in entries] == [digest for digest, _ in told.values()]
    assert [known.answer(entry).mask for entry in entries] == [sum(1 << n for n in m) for _, m in told.values()]
    unpacked = known.unpacked(entries)
    assert unpacked.digests.tolist() == [digest for digest, _ in told.values()]
    assert unpacked.counts.tolist() == [300, 0, 2]
    for (_, matching), first, count in zip(told.values(), unpacked.firsts, unpacked.counts, strict=True):
        assert unpacked.slots[first : first + count].tolist() == matching
    assert known.find(("p", "", 2)) is None


def test_with_a_newcomer_all_is_out_of_date() -> None:
    universe = Universe()
    known = Publications(universe)
    known.come_round = True
    known.keep("p", 1, subscribed(universe, "s"))
    assert known.find("p") is not None
    subscribed(universe, "t")
    assert known.find("p") is None
    known.keep("q", 2, [0, 1])
    assert known.find("p") is None
    assert known.find("q") is not None


def test_few_are_kept_until_one_comes_up_again() -> None:
    known = Publications(Universe())
    for n in range(100 * SOME):
        known.keep(n, n, [])
    assert size(known) == 100
    assert known.find(SOME) is not None
    for n in range(100 * SOME):
        known.keep(n, n, [])
    assert size(known) == 100 * SOME


def test_there_is_a_bound_and_the_first_stay() -> None:
    known = Publications(Universe())
    known.come_round = True
    for n in range(2 * MOST):
        known.keep(n, n, [])
    assert size(known) == MOST
    stayed = sum(known.find(n) is not None for n in range(MOST))
    assert MOST * 9 // 10 < stayed < MOST


def size(known: Publications) -> int:
    entries: dict[Any, Any] = known._entries
    return len(entries)
