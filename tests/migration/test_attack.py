"""The attack on moves under covering, a small part of it daily: nothing is lost, doubled or left behind."""

import pytest

from tests.campaigns import daily
from tests.migration.attack import COVERING, attacks, broken

COUNTS = {
    (2, 1, 1, False): 12,
    (2, 1, 2, False): 12,
    (2, 2, 1, False): 12,
    (2, 2, 2, False): 12,
    (2, 1, 1, True): 24,
    (3, 1, 1, False): 81,
    (3, 2, 1, False): 162,
    (3, 1, 1, True): 243,
    (4, 1, 1, False): 396,
}
"""Combinations that are searched, by brokers, moves, publications, and whether a second publisher comes and goes."""

PARTS = {(2, 1, 1, False): 4, (3, 1, 1, False): 27}
"""Of these a daily part: every so many-th combination, under one policy after the other."""

SETTING = ("size", "moves", "publications", "beside")


@pytest.mark.parametrize(SETTING, PARTS)
def test_a_part_of_all_combinations(size: int, moves: int, publications: int, beside: bool) -> None:
    every = list(attacks(size, moves, publications, beside=beside))
    for number, attack in enumerate(every[:: PARTS[size, moves, publications, beside]]):
        assert broken(attack, COVERING[number % len(COVERING)]) == [], attack


@pytest.mark.campaign
@pytest.mark.parametrize("policy", COVERING)
@pytest.mark.parametrize(SETTING, COUNTS)
def test_all_combinations(size: int, moves: int, publications: int, beside: bool, policy: str) -> None:
    every = attacks(size, moves, publications, beside=beside)
    assert [each for each in every if broken(each, policy)] == []


@pytest.mark.parametrize(SETTING, daily(COUNTS, lambda setting: setting[0] < 4))
def test_the_combinations_are_counted(size: int, moves: int, publications: int, beside: bool) -> None:
    every = list(attacks(size, moves, publications, beside=beside))
    assert len(every) == len(set(every)) == COUNTS[size, moves, publications, beside]


@pytest.mark.parametrize(
    ("mutant", "property"),
    [
        ("mark-ignored", "NoLostDelivery"),
        ("never-withdrawn", "NoStray"),
        ("nothing-forwarded", "NoLostDelivery"),
        ("removes-on-the-way", "NoLostDelivery"),
    ],
)
def test_the_attack_succeeds_where_the_model_has_a_fault(mutant: str, property: str) -> None:
    assert any(property in broken(each, "active", mutant) for each in attacks(2))
