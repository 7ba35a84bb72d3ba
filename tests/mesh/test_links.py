"""The worth of links: the examples of the catalogue (G2-4), in the model and in the reference implementation alike."""

from fractions import Fraction
from typing import Literal

import pytest

from routeproof.impl.mesh.forwarding import MasterMap
from routeproof.impl.mesh.links import LinkProfile
from routeproof.model.mesh.links import load_factor
from routeproof.model.mesh.parameters import MeshParameters

LINE = [(1, 2), (2, 3), (3, 4)]


def gain(sent: int, loads: tuple[int, int], reading: Literal["min", "max"]) -> Fraction:
    """The gain of the link from the first to the last broker of a line of four, as both have it."""
    profile = LinkProfile(MeshParameters(radius=4, factor=reading, rounds=(1,)))
    profile.count([4] * sent)
    profile.loads = dict(zip((2, 3), loads, strict=True))
    found = Fraction(profile.gain(MasterMap(1, LINE, 4), 4), 100**4)
    assert found == sent * 2 * load_factor(loads, 50, reading)
    return found


@pytest.mark.parametrize(("reading", "factor", "worth"), [("min", "0.7", 140), ("max", "1.4", 280)])
def test_one_loaded_broker_and_one_that_is_not(reading: Literal["min", "max"], factor: str, worth: int) -> None:
    assert load_factor((90, 20), 50, reading) == Fraction(factor)
    assert gain(100, (90, 20), reading) == worth


def test_the_two_formulas_rank_links_differently() -> None:
    assert [gain(100, (90, 90), "min"), gain(150, (50, 50), "min")] == [Fraction(200), Fraction(300)]
    assert [gain(100, (90, 90), "max"), gain(150, (50, 50), "max")] == [Fraction(392), Fraction(300)]


def test_a_primary_link_has_no_gain_and_an_unknown_load_counts_as_the_threshold() -> None:
    profile = LinkProfile(MeshParameters(radius=4, rounds=(1,)))
    profile.count([2, 3, 3])
    known = MasterMap(1, LINE, 4)
    assert (profile.gain(known, 2), profile.gain(known, 3)) == (0, 2 * 100**4)


def test_a_round_chooses_by_gain_and_looks_near_busy_ends_first_where_load_is_bypassed() -> None:
    star = MasterMap(1, [(1, 2), (1, 3), (2, 4), (2, 5), (3, 6), (6, 7)], 3)
    parameters = MeshParameters(radius=3, fanout=3, maxlinks=5, rounds=(1,))
    profile = LinkProfile(parameters)
    profile.count([2, 2, 3, 4, 5, 5])
    assert profile.choose(star, {4}, {5}) == ([5], [6]), "4 is a weaker soft link, for which there is no room"
    profile.count([2, 3, 3])
    profile.loads = {2: 90}
    assert profile.choose(star, set(), set()) == ([], [4, 5])


@pytest.mark.parametrize("reading", ["traffic", "gain"])
def test_by_the_letter_a_network_without_soft_links_never_gets_one(reading: Literal["traffic", "gain"]) -> None:
    profile = LinkProfile(MeshParameters(radius=3, rounds=(1,), seeds=reading))
    profile.count([2] * 100)
    assert profile.choose(MasterMap(1, LINE, 3), set(), set()) == ([], [3] if reading == "traffic" else [])
