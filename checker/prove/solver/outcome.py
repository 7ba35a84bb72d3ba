"""Verdicts on obligations and theorems: five, from the best to the worst in this order.

proved   for everything that it speaks of
bounded  proved up to a bound, which is stated
unknown  the resource limit came first
vacuous  proved of nothing: an assumption, or a guard, is impossible
refuted  false, with a counterexample
"""

from __future__ import annotations

from typing import Literal

from attrs import Factory, field, frozen

Verdict = Literal["proved", "bounded", "unknown", "vacuous", "refuted"]
VERDICTS: tuple[Verdict, ...] = ("proved", "bounded", "unknown", "vacuous", "refuted")

WORDS: dict[Verdict, str] = {
    "proved": "proved for all sizes",
    "bounded": "proved up to a bound",
    "unknown": "unknown",
    "vacuous": "vacuous",
    "refuted": "refuted",
}


@frozen
class Settled:
    """One obligation. `why` says what is wrong, or which limit came first; `shown` is the counterexample."""

    name: str
    verdict: Verdict
    why: str = ""
    shown: dict[str, str] = Factory(dict)
    cases: int | None = None
    """How many were tried out; None where it was not tried out but solved."""
    seconds: float = field(default=0.0, eq=False)
    trace: str = field(default="", eq=False, repr=False)
    """The counterexample as a trace, where there is a world to show."""


@frozen
class Judged:
    """One theorem with its obligations, in their order."""

    id: str
    verdict: Verdict
    bound: str
    obligations: tuple[Settled, ...]
    why: str = ""
    """Where it fails for a reason of its own."""
    seconds: float = field(default=0.0, eq=False)
    given: tuple[str, ...] = ()
    """The theorems that it rests on and that were not judged."""

    def with_verdict(self, *verdicts: Verdict) -> list[Settled]:
        return [each for each in self.obligations if each.verdict in verdicts]
