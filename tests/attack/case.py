"""Attacks on routeproof, as cases: each says what is hostile about it, can be played, and answers with complaints.

Every kind of attack is a module with `case(rng) -> Case`. A case is drawn from its kind, seed and number alone, so that
`python -m tests.attack KIND SEED NUMBER` plays any one of them again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Protocol

from attrs import frozen


class Case(Protocol):
    """One attack."""

    @property
    def about(self) -> str:
        """What is hostile, in words."""
        ...

    def play(self, here: Path) -> Played:
        """Plays it in `here`, an empty directory of the case's own."""
        ...


@frozen
class Played:
    """What came of a case: in a word (an exit code, say), and what there is to complain of."""

    outcome: str
    complaints: list[str]


@frozen
class Kind:
    """A kind of attack. `daily` cases are played every day, `campaign` cases in a campaign."""

    name: str
    daily: int
    campaign: int
    seconds: float = 300.0
    """Time limit of the daily cases together, in seconds; exceeding it is a failure."""

    def case(self, seed: int, number: int) -> Case:
        drawn: Case = _drawer(self.name)(Random(f"{self.name} {seed} {number}"))
        return drawn


KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind("instances", daily=60, campaign=10_000),
        Kind("options", daily=60, campaign=10_000),
        Kind("traces", daily=60, campaign=10_000),
        Kind("containers", daily=25, campaign=10_000),
        Kind("checkpoints", daily=60, campaign=10_000),
        Kind("frames", daily=4, campaign=334),
        Kind("disks", daily=20, campaign=10_000),
        Kind("interrupts", daily=15, campaign=10_000),
        Kind("signals", daily=20, campaign=10_000),
        Kind("starts", daily=3, campaign=300),
    )
}
"""A case of `frames` is a run of brokers with thirty hostile connections, so that 334 of them are ten thousand.
`interrupts` raises signals within this process, `signals` sends them to processes that were forked, and `starts` to
those that are started as users start them, at three seconds a case."""


def _drawer(name: str) -> Callable[[Random], Case]:
    drawer: Callable[[Random], Case] = import_module(f"tests.attack.{name}").case
    return drawer


def joined(parts: Iterable[str]) -> str:
    return "; ".join(part for part in parts if part)
