"""Examination of the model's code, case by case: is each answer the one that was proved right?

An examination that never sees both answers cannot tell the code from a constant. Both must come up, otherwise the
verdict is vacuous.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence

from attrs import frozen

from routeproof.checker.prove.small import GaveUp
from routeproof.checker.prove.solve import Settled, Verdict
from routeproof.model.filters import FilterError


@frozen
class Case:
    """One answer of the code, and the expected one. `about` is called only if the two differ."""

    expected: bool
    found: bool
    about: Callable[[], dict[str, str]]


@frozen
class Examination:
    name: str
    cases: Callable[[], Iterable[Case]]
    both: bool = True
    """Whether the question has two answers in these cases."""
    says: str = "the model"
    """Whose answer it is."""


@frozen
class CodeTheorem:
    """Like `Theorem`, of the model's code."""

    id: str
    rules: tuple[str, ...]
    about: str
    obligations: Callable[[], Sequence[Examination]]
    bound: str
    hypotheses: tuple[str, ...] = ()


def examine(examination: Examination) -> Settled:
    start = time.monotonic()
    seen: set[bool] = set()
    count = 0

    def settled(verdict: Verdict, why: str = "", shown: dict[str, str] | None = None) -> Settled:
        return Settled(examination.name, verdict, why, shown or {}, count, time.monotonic() - start)

    try:
        for case in examination.cases():
            count += 1
            if case.found != case.expected:
                return settled("refuted", f"{examination.says} says {_said(case.found)}", case.about())
            seen.add(case.expected)
    except FilterError as error:  # no case asks for what must be refused, but as a question
        return settled("refuted", "the model refuses what there is", {"it says": str(error)})
    except GaveUp as limit:
        return settled("unknown", f"Z3 gives up: {limit}")
    if len(seen) < (2 if examination.both else 1):
        return settled("vacuous", f"the answer is never {_said(True not in seen)}" if seen else "no case was tried")
    return settled("bounded")


def _said(answer: bool) -> str:
    return "yes" if answer else "no"
