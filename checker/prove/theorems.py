"""All theorems, in the order in which they are proved and reported: of the theory, of runs, of the model's code."""

from __future__ import annotations

from routeproof.checker.prove import code
from routeproof.checker.prove.judge import AnyTheorem
from routeproof.checker.prove.refine.pruning_rows import theorems as refinement_of_pruning
from routeproof.checker.prove.refine.rows import theorems as refinement
from routeproof.checker.prove.refine.sample import USUAL_OF_PRUNING, Sample
from routeproof.spec.theory import theorems
from routeproof.spec.theory.bounded_theorems import BOUNDED_THEOREMS

THEOREMS: dict[str, AnyTheorem] = {
    **theorems.THEOREMS,
    **{theorem.id: theorem for theorem in BOUNDED_THEOREMS},
    **code.THEOREMS,
    **{theorem.id: theorem for theorem in refinement(Sample.usual())},
    **{theorem.id: theorem for theorem in refinement_of_pruning(Sample.usual(USUAL_OF_PRUNING))},
}
