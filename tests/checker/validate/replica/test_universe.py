"""What a universe says of its subscriptions is what asking every filter says, whatever came, was asked, and left."""

from __future__ import annotations

import pytest
from attrs import define
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from routeproof.checker.fuzz.strategies import pick
from routeproof.checker.validate.fast import Universe
from routeproof.checker.validate.fast.universe import Register
from routeproof.model.filters import EVENTS, STRICT, Event, Filter
from routeproof.model.messages import Subscription
from tests.checker.validate.replica.speech import material, ranges_of_numbers
from tests.checker.validate.replica.thresholds import SIZES, thresholds
from tests.impl.filters import NUMBERS, single_conditions

quiet = settings(
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
)


@define(eq=False)
class Holding:
    """A holder of whatever the test says."""

    slots: int = 0
    promises: int = 0

    def slots_held(self) -> int:
        return self.slots

    def promises_held(self) -> int:
        return self.promises


def subscription(number: int, its: Filter) -> Subscription:
    return Subscription(number, f"s{number}", its)


def same_as_asking_everybody(universe: Universe, held: dict[int, Filter], events: list[Event]) -> None:
    everybody = sum(1 << slot for slot in held)
    for event in events:
        answer = universe.matching(event)
        assert answer.mask & everybody == chosen(slot for slot, f in held.items() if f.matches(event))
        if answer.few is not None:
            assert list(answer.few) == sorted(answer.few)
            assert answer.mask == chosen(answer.few)
    for slot, f in held.items():
        assert universe.filter(slot) == f
        assert universe.covering(slot) & everybody == chosen(other for other, g in held.items() if g.covers(f))
        assert universe.covered(slot) & everybody == chosen(other for other, g in held.items() if f.covers(g))
        assert universe.equal(slot) & everybody == chosen(other for other, g in held.items() if f == g)
        promise = universe.promises.number(f)
        assert universe.overlapping(promise) & everybody == chosen(o for o, g in held.items() if f.overlaps(g))
        assert universe.promised(slot) >> promise & 1


def chosen(slots: object) -> int:
    return sum(1 << slot for slot in slots)  # type: ignore[attr-defined]  # any iterable


@pytest.mark.parametrize("size", SIZES)
def test_ranges_of_numbers(size: str) -> None:
    @settings(quiet, max_examples=120)
    @given(ranges_of_numbers())
    def run(drawn: tuple[list[Filter], list[Event]]) -> None:
        filters, events = drawn
        universe = Universe()
        holding = Holding()
        universe.join(holding)
        held: dict[int, Filter] = {}
        for number, f in enumerate(filters):
            held[universe.slot(subscription(number, f))] = f
            holding.slots = chosen(held)
        same_as_asking_everybody(universe, held, events)

    with thresholds(size):
        run()


@pytest.mark.parametrize("size", SIZES)
def test_subscriptions_that_come_and_go(size: str) -> None:
    """Questions in between leave answers behind, which must not be believed longer than they are true."""

    @settings(quiet, max_examples=100)
    @given(material(), st.data())
    def run(drawn: tuple[list[Filter], list[Event]], data: st.DataObject) -> None:
        filters, events = drawn
        universe = Universe(kept=pick(data.draw, (1, 1500, 1 << 20)))
        holding = Holding()
        universe.join(holding)
        held: dict[int, Filter] = {}
        for number in range(pick(data.draw, (5, 15, 30))):
            what = pick(data.draw, ("come", "come", "come", "leave", "ask"))
            if what == "come":
                f = pick(data.draw, filters)
                slot = universe.slot(subscription(number, f))
                assert slot not in held
                held[slot] = f
            elif what == "leave" and held:
                del held[pick(data.draw, sorted(held))]
            else:
                some = {slot: held[slot] for slot in sorted(held)[: pick(data.draw, (1, 100))]}
                everybody = chosen(held)
                for event in events[:2]:
                    assert universe.matching(event).mask & everybody == chosen(
                        slot for slot, f in held.items() if f.matches(event)
                    )
                for slot, f in some.items():
                    assert universe.covering(slot) & everybody == chosen(o for o, g in held.items() if g.covers(f))
            holding.slots = chosen(held)
            holding.promises = 0
        same_as_asking_everybody(universe, held, events)

    with thresholds(size):
        run()


@pytest.mark.parametrize("size", SIZES)
def test_every_condition_finds_every_other(size: str) -> None:
    """On one attribute, all in one universe, in three orders: from the index at once, and one by one as they came."""
    filters = single_conditions()[::3]
    events: list[Event] = [STRICT.event({"x": value}) for value in (*NUMBERS, "", "a", "ab", "b", True)]
    events.append(STRICT.event({}))
    with thresholds(size):
        universe, holding = Universe(), Holding()
        universe.join(holding)
        held: dict[int, Filter] = {}
        for number, f in enumerate(filters):
            held[universe.slot(subscription(number, f))] = f
            holding.slots = chosen(held)
            for event in events[number % 5 :: 5]:
                universe.matching(event)
        holding.promises = -1
        same_as_asking_everybody(universe, held, events)


def test_numbers_are_given_again() -> None:
    """Where subscribers come and go for ever, twice as many as there are at a time is enough."""
    with thresholds("low"):
        universe, holding = Universe(), Holding()
        universe.join(holding)
        for number in range(200):
            slot = universe.slot(subscription(number, EVENTS.parse([number % 7])))
            holding.slots = 1 << slot
            assert slot < 8
            assert len(universe.subscriptions) < 8


def test_what_a_holder_holds_ends_with_it() -> None:
    with thresholds("low"):
        universe, holding = Universe(), Holding()
        universe.join(holding)
        first = universe.slot(subscription(0, EVENTS.parse([0])))
        holding.slots = 1 << first
        assert all(universe.slot(subscription(n, EVENTS.parse([1]))) != first for n in range(1, 40))
        del holding
        assert any(universe.slot(subscription(n, EVENTS.parse([1]))) == first for n in range(40, 80))


def test_answers_are_forgotten_beyond_a_limit() -> None:
    register = Register[Filter](lambda f: f, lambda: -1, kept=2000)
    for n in range(40):
        register.number(EVENTS.parse([n]))
        register.covering(EVENTS.parse([n]))
    assert len(register._covering._kept) <= 4
    assert register._covering._bytes <= 2000
    assert register.covering(EVENTS.parse([0])) == 1


def test_filters_of_two_kinds_have_nothing_in_common() -> None:
    universe = Universe()
    numbers, predicates = EVENTS.parse([0]), STRICT.parse([])
    for kind in (numbers, predicates, EVENTS.parse([0, 1]), STRICT.parse([["x", ">", 1]])):
        universe.slot(subscription(universe.subscriptions.moment, kind))
    assert universe.matching(0).mask == 0b0101
    assert universe.matching(STRICT.event({})).mask == 0b0010
    assert universe.covering(0) == 0b0101
    assert universe.covered(1) == 0b1010
    assert universe.subscriptions.overlapping(numbers) == 0b0101
    late = universe.slot(subscription(9, STRICT.parse([["x", ">", 0]])))
    assert not universe.matching(0).mask >> late & 1, "a newcomer of the other kind"
    assert universe.covered(1) == 0b11010
    assert universe.subscriptions.overlapping(numbers) == 0b0101
