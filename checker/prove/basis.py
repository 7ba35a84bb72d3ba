"""What theorems rest on each other makes of their verdicts: what rests on what is not proved is not proved.

A proof is given sentences that other theorems prove. Where one of those came out otherwise, what rests on it is
unknown; where one was not asked, what rests on it is proved, given that. Theorems that rest on each other are one
induction: each is given what the others say of the moment before a step, which is no circle.
"""

from __future__ import annotations

from collections.abc import Sequence

from attrs import evolve

from routeproof.checker.prove.judge import AnyTheorem
from routeproof.checker.prove.outcome import Judged
from routeproof.spec.theory.theorem import Theorem

PROVED = ("proved", "bounded")


def rests_on(theorem: AnyTheorem) -> tuple[str, ...]:
    return theorem.rests_on if isinstance(theorem, Theorem) else ()


def with_their_basis(theorems: Sequence[AnyTheorem], judged: Sequence[Judged]) -> list[Judged]:
    """Each of the theorems, by what became of it alone and of those behind it."""
    below = {theorem.id: rests_on(theorem) for theorem in theorems}
    alone = {each.id: each for each in judged}
    return [_by_its_basis(each, _behind(each.id, below), alone) for each in judged]


def _behind(id: str, below: dict[str, tuple[str, ...]]) -> list[str]:
    """All that it rests on, and what that rests on, as far as it was asked."""
    found: dict[str, None] = {}
    waiting = [id]
    while waiting:
        more = [each for each in below.get(waiting.pop(0), ()) if each not in found and each != id]
        found |= dict.fromkeys(more)
        waiting += more
    return list(found)


def _by_its_basis(judged: Judged, behind: Sequence[str], alone: dict[str, Judged]) -> Judged:
    if judged.verdict not in PROVED:
        return judged
    fallen = [id for id in behind if id in alone and alone[id].verdict not in PROVED]
    if fallen:
        return evolve(judged, verdict="unknown", why=f"it rests on what is not proved: {', '.join(fallen)}")
    return evolve(judged, given=tuple(id for id in behind if id not in alone))
