"""The theorems about propagation: Properties 1 and 2 of papers 000 and 001, and what each needs."""

from __future__ import annotations

from collections.abc import Sequence

from routeproof.spec.theory.logic.proof import Build, Obligation, Theorem, obligations
from routeproof.spec.theory.propagation.grafting import property_2
from routeproof.spec.theory.propagation.infinite import endless_line, ever_wider
from routeproof.spec.theory.propagation.necessity import EXACTLY, PATH, PROPERTY_1, needed
from routeproof.spec.theory.propagation.paths import property_1
from routeproof.spec.theory.propagation.settling import FINITELY_MANY
from routeproof.spec.theory.relation.examples import beside, grafted
from routeproof.spec.theory.relation.quiet_states import QUIET, Scene, any_scene
from routeproof.spec.theory.relation.signature import COVERING, IDS
from routeproof.spec.theory.relation.trees import FINITE, TREE
from routeproof.spec.theory.relation.ways import WAYS, tree_ways


def proved(build: Build[Scene], policy: str, prefix: str = "") -> Sequence[Obligation]:
    """Returns the obligations of a proof about any scene of a policy, with examples that can be met."""
    examples = [beside(policy)] if policy == "none" else [beside(policy), grafted(policy)]
    return obligations(build, any_scene(policy), [each.scene() for each in examples], prefix)


PROPAGATION_THEOREMS = (
    Theorem(
        WAYS,
        ("RTE-1",),
        "What proofs need of a tree follows from its axioms, and induction along a path from finiteness.",
        lambda: proved(tree_ways, "none"),
        (TREE, FINITE),
        beside=("OverlaysAreTrees",),
    ),
    Theorem(
        "PropagationTree",
        ("RTE-1", "RTE-2", "RTE-3"),
        "Property 1, without covering: s is on exactly the paths to the advertisements that it intersects.",
        lambda: proved(property_1, "none"),
        (TREE, *QUIET, FINITE),
        rests_on=(WAYS,),
    ),
    Theorem(
        "PropagationTreeNeeds",
        ("RTE-1", "RTE-2", "RTE-3", "COV-2"),
        "Without any one of its hypotheses, Property 1 fails: a counterexample each.",
        lambda: [*needed(PROPERTY_1), *endless_line("none", property_1, "Property 1")],
    ),
    Theorem(
        "PropagationPath",
        ("RTE-1", "RTE-3", "COV-2", "COV-3", "COV-4", "COV-10"),
        "Property 2, active: what is strictly covered spans a path, up to where it meets its coverers.",
        lambda: proved(property_2, "active"),
        (TREE, *QUIET, COVERING, IDS, FINITELY_MANY, FINITE),
        rests_on=(WAYS,),
    ),
    Theorem(
        "PropagationPathNeeds",
        ("RTE-1", "RTE-3", "COV-1", "COV-3", "COV-4", "COV-10"),
        "Without any one of its hypotheses, Property 2 fails: a counterexample each.",
        lambda: [
            *needed(PATH, "a path, "),
            *ever_wider(),
            *needed(EXACTLY, "exactly, "),
            *endless_line("active", property_2, "Property 2, exactly", "exactly, "),
        ],
    ),
)
