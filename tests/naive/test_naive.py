"""The naive search against its recorded numbers, the verdicts that instance files declare, and a count by hand."""

import json
from functools import cache
from pathlib import Path

import pytest

from tests.campaigns import daily
from tests.naive.filters import as_event_sets
from tests.naive.instances import Client, Instance, load, shipped
from tests.naive.search import Result, search
from tests.naive.systems import system
from tests.shown import recorded

COUNTS: dict[str, dict[str, list[int]]] = json.loads((Path(__file__).parent / "counts.json").read_text())
"""name -> policy -> [states, transitions, depth]."""
SMALL, LARGE = 20_000, 450_000
"""The most states that are searched daily, and in campaigns (at 25,000 to 40,000 states per CPU second)."""
SMALLER = {"migration": 4_000, "trees": 9_000}
"""By protocol, where fewer are searched daily."""
CASES = [(name, policy) for name in shipped() for policy in load(name).policies]
ONLY_RECORDED = [(name, policy) for name, policy in CASES if COUNTS[name][policy][0] > LARGE]


def is_small(name: str, policy: str) -> bool:
    return COUNTS[name][policy][0] <= SMALLER.get(load(name).protocol, SMALL)


@cache
def found(name: str, policy: str) -> Result:
    return search(system(load(name), policy))


def test_every_shipped_instance_is_recorded() -> None:
    assert {(name, policy) for name, row in COUNTS.items() for policy in row} == set(CASES)


def test_what_is_only_recorded_is_of_the_largest_instances() -> None:
    assert {name for name, _ in ONLY_RECORDED} == {
        "two4",
        "leave5",
        "star5",
        "pair3",
        "across4",
        "crowd3",
        "returns3",
        "turns3",
        "leaves4",
        "busy4",
    }


@recorded
@pytest.mark.parametrize(
    ("name", "policy"),
    daily([c for c in CASES if c not in ONLY_RECORDED], lambda case: is_small(*case)),
)
def test_numbers_and_verdicts(name: str, policy: str) -> None:
    instance, result = load(name), found(name, policy)
    assert result.numbers == COUNTS[name][policy]
    if instance.faults:
        assert set(result.violated) <= instance.must_fail
    else:
        assert set(result.violated) == instance.must_fail


@recorded
@pytest.mark.parametrize(
    "name", daily([name for name in shipped() if load(name).faults], lambda name: name != "crashed3")
)
def test_faults_break_what_the_instance_declares(name: str) -> None:
    """Under one policy or another: PropagationTree is only of `none`, Compact of `active` and `packing`."""
    violated = {prop for policy in load(name).policies for prop in found(name, policy).violated}
    assert violated == load(name).must_fail


@pytest.mark.parametrize("policy", ["none", "active", "lazy", "packing"])
def test_counted_by_hand(policy: str) -> None:
    """Adv is to come, flying or there; s is off or on; with both, Sub is flying or there: 3 * 2 + 1 = 7 states.

    With a publication, possible once Adv is sent, there are 5 more in which it reached nobody and is owed to nobody
    (published in one of the 4 states before the last), and 2 in which it was published in the last: flying, delivered.
    """
    one = frozenset({0})
    silent = Instance(((1, 2),), (Client("a", 2, one),), (Client("s", 1, one),), ())
    assert search(system(silent, policy)).numbers == [7, 8, 4]
    assert search(system(silent._replace(pubs=((0, 0),)), policy)).numbers == [14, 19, 6]


def test_predicates_become_sets_of_samples() -> None:
    (large, large_i, ibm, present), (trade, odd) = as_event_sets(
        [
            [["symbol", "present"], ["volume", ">", 1000]],
            [["symbol", "prefix", "I"], ["volume", ">=", 1001]],
            [["symbol", "=", "IBM"]],
            [["symbol", "present"]],
        ],
        [{"symbol": "IBM", "volume": 2000}, {"symbol": "INTC", "volume": 1000.5}],
    )
    assert large_i < large < present
    assert ibm < present
    assert ibm & large_i
    assert not ibm <= large
    assert trade in large & large_i & ibm
    assert odd in large
    assert odd not in large_i | ibm
