"""Policies from outside, classes of messages, and what is passed to processes that are started."""

from __future__ import annotations

import os

import pytest
from attrs import evolve, frozen

from routeproof.model.definition import CORE_DEFINITION, Policy
from routeproof.model.messages import Message, MessageHeader, describe
from routeproof.model.plugins import VARIABLE, Composed, load, plugins


def test_a_policy_from_outside_is_like_one_of_the_protocols_own() -> None:
    outside = [Policy(name, "routing", like, None) for name, like in (("mine", "lazy"), ("yours", "active"))]
    varied = evolve(CORE_DEFINITION, varied=tuple(outside))
    assert [varied.variation(name) for name in ("mine", "yours", "active")] == [*outside, None]
    assert [varied.base(name) for name in ("mine", "yours", "active")] == ["lazy", "active", "active"]


def test_a_message_keeps_what_its_first_line_says() -> None:
    @frozen
    class Odd(Message, kind="even", control=False, by="driver"):
        numbers: tuple[int, ...]
        header: MessageHeader | None = None

    assert (Odd.kind, Odd.control, Odd.by) == ("even", False, "driver")
    assert describe(Odd((1, 2))) == "even([1, 2])"


def test_what_was_loaded_is_loaded_by_processes_that_are_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "")
    for name in ("math:pi", "math:e", "math:pi"):
        load(name)
    assert os.environ[VARIABLE] == "math:pi,math:e"


def test_a_catalogue_follows_the_values_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where one of them takes the place of another, so that there are as many as before."""
    catalogue = Composed(lambda: {f"{value:.2f}": value for value in plugins() if isinstance(value, float)})
    shown = {"": set(), "math:pi": {"3.14"}, "math:e": {"2.72"}, "math:e,math:pi": {"2.72", "3.14"}}
    for names, found in {**shown, "math:e,math:tau": {"2.72", "6.28"}}.items():
        monkeypatch.setenv(VARIABLE, names)
        assert set(catalogue) == found
        assert set(catalogue) == found, "composed before"
