"""The theorems about propagation: Properties 1 to 3 and equation 3 of papers 000 and 001, and what each needs."""

from __future__ import annotations

from collections.abc import Sequence

from routeproof.spec.theory.distance import HOPS, STATISTIC
from routeproof.spec.theory.equation_3 import equation_3
from routeproof.spec.theory.examples import beside, grafted
from routeproof.spec.theory.grafting import property_2
from routeproof.spec.theory.needed import needed
from routeproof.spec.theory.needed_distances import EQUATION_3
from routeproof.spec.theory.needed_endless import endless_line, endless_on_the_way, ever_wider
from routeproof.spec.theory.needed_endless_distances import from_afar, none_is_sent
from routeproof.spec.theory.needed_paths import EXACTLY, PATH, PROPERTY_1
from routeproof.spec.theory.needed_similarity import IN_TABLES, PROPERTY_3
from routeproof.spec.theory.proof import Build, obligations
from routeproof.spec.theory.propagation import property_1
from routeproof.spec.theory.quiet import AGREEMENT, FLOODED, NO_STALE_ADVERTISEMENT, QUIET, SETTLED, any_scene
from routeproof.spec.theory.routing import POLICIES
from routeproof.spec.theory.settling import COVERING, DRAWN, FINITELY_MANY, IDS, MATCHING
from routeproof.spec.theory.shares import MATCHED, SAMPLE, shares
from routeproof.spec.theory.similarity import NESTED, property_3, property_3_in_tables
from routeproof.spec.theory.theorem import Obligation, Theorem
from routeproof.spec.theory.trees import FINITE, TREE
from routeproof.spec.theory.ways import tree_ways

LASTING = tuple(name for name in QUIET if name != NO_STALE_ADVERTISEMENT)
"""Who has what depends on no stale advertisement; only how far it goes does."""


def _proved(build: Build, policy: str, prefix: str = "") -> Sequence[Obligation]:
    examples = [beside(policy)] if policy == "none" else [beside(policy), grafted(policy)]
    return obligations(build, any_scene(policy), [each.scene() for each in examples], prefix)


PROPAGATION_THEOREMS = (
    Theorem(
        "TreeWays",
        ("RTE-1",),
        "What proofs need of a tree follows from its axioms, and induction along a path from finiteness.",
        lambda: _proved(tree_ways, "none"),
        (TREE, FINITE),
    ),
    Theorem(
        "PropagationTree",
        ("RTE-1", "RTE-2", "RTE-3"),
        "Property 1, without covering: s is on exactly the paths to the advertisements that it intersects.",
        lambda: _proved(property_1, "none"),
        (TREE, *QUIET, FINITE),
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
        lambda: _proved(property_2, "active"),
        (TREE, *QUIET, COVERING, IDS, FINITELY_MANY, FINITE),
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
    Theorem(
        "SimilarityGrows",
        ("SIM-3", "SIM-4", "SIM-5", "SIM-6"),
        "Property 3: the share of what S matches that others' paths bring past a broker grows toward the publisher.",
        lambda: [*_proved(property_3, "none"), *shares()],
        (NESTED, SAMPLE, MATCHED),
    ),
    Theorem(
        "SimilarityInTables",
        ("SIM-3", "RTE-3"),
        "Property 3 read of tables holds without covering.",
        lambda: _proved(property_3_in_tables, "none"),
        (TREE, AGREEMENT, SETTLED, FLOODED, DRAWN, FINITE),
    ),
    Theorem(
        "SimilarityNeeds",
        ("SIM-3", "SIM-5", "SIM-6"),
        "Without any one of its hypotheses, Property 3 fails, on paths or in tables: a counterexample each.",
        lambda: [*needed(PROPERTY_3), *needed(IN_TABLES, "in tables, "), *endless_on_the_way()],
    ),
    Theorem(
        "DistanceTells",
        ("STA-1", "STA-2", "STA-5", "SIM-6"),
        "Equation 3, under any policy: short of the publisher, what distances tell is the share of Property 3.",
        lambda: [each for policy in POLICIES for each in _proved(equation_3, policy, f"{policy} / ")],
        (TREE, *LASTING, COVERING, IDS, DRAWN, MATCHING, FINITELY_MANY, FINITE, STATISTIC, HOPS),
    ),
    Theorem(
        "DistanceNeeds",
        ("STA-1", "STA-2", "STA-5", "COV-3"),
        "Without any one of its hypotheses, equation 3 fails: a counterexample each.",
        lambda: [*needed(EQUATION_3), *from_afar(), *none_is_sent()],
    ),
)
