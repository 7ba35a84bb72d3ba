"""A theorem, judged by its obligations: it is what the worst of them is, and up to a bound where it says so."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from routeproof.checker.prove.examine import CodeTheorem, Examination, examine
from routeproof.checker.prove.induction import settle_inductive
from routeproof.checker.prove.outcome import VERDICTS, Judged, Settled, Verdict
from routeproof.checker.prove.solve import settle
from routeproof.spec.theory.invariants_obligations import Inductive
from routeproof.spec.theory.theorem import Obligation, Theorem

AnyTheorem: TypeAlias = Theorem | CodeTheorem


def judge(
    theorem: AnyTheorem, rlimit: int | None = None, progress: Callable[[str, int, int], None] | None = None
) -> Judged:
    start = time.monotonic()
    obligations: Sequence[Obligation | Examination] = theorem.obligations()
    settled: list[Settled] = []
    for number, obligation in enumerate(obligations):
        if progress is not None:
            progress(theorem.id, number, len(obligations))
        settled.append(settle_one(obligation, rlimit))
    verdict, why = _verdict(theorem, settled)
    return Judged(theorem.id, verdict, theorem.bound, tuple(settled), why, time.monotonic() - start)


def settle_one(obligation: Obligation | Examination, rlimit: int | None) -> Settled:
    if isinstance(obligation, Examination):
        return examine(obligation)
    return settle_inductive(obligation, rlimit) if isinstance(obligation, Inductive) else settle(obligation, rlimit)


def _verdict(theorem: AnyTheorem, settled: Iterable[Settled]) -> tuple[Verdict, str]:
    verdicts = [each.verdict for each in settled]
    if not verdicts:
        return "vacuous", "it has no obligations"
    worst = max(verdicts, key=VERDICTS.index)
    if worst == "bounded" and not theorem.bound:
        raise ValueError(f"{theorem.id}: what was tried out on some cases holds up to a bound; say up to which")
    return ("bounded" if worst == "proved" and theorem.bound else worst), ""
