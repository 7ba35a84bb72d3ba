"""All theorems, in the order in which they are proved and reported: of the theory first, then of the model's code."""

from __future__ import annotations

from routeproof.checker.prove import code
from routeproof.checker.prove.judge import AnyTheorem
from routeproof.checker.prove.refine.rows import theorems as refinement
from routeproof.checker.prove.refine.sample import Sample
from routeproof.spec.theory import theorems

THEOREMS: dict[str, AnyTheorem] = {
    **theorems.THEOREMS,
    **code.THEOREMS,
    **{theorem.id: theorem for theorem in refinement(Sample.usual())},
}
