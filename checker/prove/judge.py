"""A theorem, judged by its obligations: it is what the worst of them is, and up to a bound where it says so."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from attrs import evolve

from routeproof.checker.prove.bounded import settle_bounded
from routeproof.checker.prove.examine import CodeTheorem, Examination, examine
from routeproof.checker.prove.induction import settle_inductive
from routeproof.checker.prove.outcome import VERDICTS, Judged, Settled, Verdict
from routeproof.checker.prove.solve import settle
from routeproof.spec.theory.bounded import Bounded, BoundedTheorem
from routeproof.spec.theory.invariants_obligations import Inductive
from routeproof.spec.theory.theorem import Obligation, Theorem

AnyTheorem: TypeAlias = Theorem | CodeTheorem | BoundedTheorem
Asked: TypeAlias = Obligation | Examination | Bounded


def judge(
    theorem: AnyTheorem, rlimit: int | None = None, progress: Callable[[str, int, int], None] | None = None
) -> Judged:
    start = time.monotonic()
    judged = judge_by(theorem, theorem.obligations(), rlimit, progress)
    return evolve(judged, seconds=time.monotonic() - start)


def judge_by(
    theorem: AnyTheorem,
    obligations: Sequence[Asked],
    rlimit: int | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> Judged:
    """By its obligations, where they are made already: to make them can take longer than to decide them."""
    start = time.monotonic()
    settled: list[Settled] = []
    for number, obligation in enumerate(obligations):
        if progress is not None:
            progress(theorem.id, number, len(obligations))
        settled.append(settle_one(obligation, rlimit))
    verdict, why = _verdict(theorem, settled)
    return Judged(theorem.id, verdict, theorem.bound, tuple(settled), why, time.monotonic() - start)


def settle_one(asked: Asked, rlimit: int | None) -> Settled:
    match asked:
        case Examination():
            return examine(asked)
        case Bounded():
            return settle_bounded(asked, rlimit)
        case Inductive():
            return settle_inductive(asked, rlimit)
    return settle(asked, rlimit)


def _verdict(theorem: AnyTheorem, settled: Iterable[Settled]) -> tuple[Verdict, str]:
    verdicts = [each.verdict for each in settled]
    if not verdicts:
        return "vacuous", "it has no obligations"
    worst = max(verdicts, key=VERDICTS.index)
    if worst == "bounded" and not theorem.bound:
        raise ValueError(f"{theorem.id}: what was tried out on some cases holds up to a bound; say up to which")
    return ("bounded" if worst == "proved" and theorem.bound else worst), ""
