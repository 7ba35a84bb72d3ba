"""That each hypothesis of Properties 1 to 3 is needed: a small state where all others are met and the property fails.

Beside the hypotheses that are named, a property has conditions in its own sentence, and a policy. Where one of those is
left out, the sentence is stated without it, or the state is one of another policy, and no hypothesis is broken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import z3
from attrs import frozen

from routeproof.spec.theory.examples import Example
from routeproof.spec.theory.proof import Build
from routeproof.spec.theory.quiet import Scene
from routeproof.spec.theory.readings import Clause
from routeproof.spec.theory.theorem import Obligation


@frozen
class Needed:
    """In this example all hypotheses hold but this one, if any, and what is said does not."""

    without: str
    example: Example
    says: Callable[[Scene], Clause]
    build: Build
    hypothesis: str = ""

    def broken(self) -> set[str]:
        """The hypotheses that are not met."""
        scene = self.example.scene()
        proof = self.build(scene)
        return {
            name for clause in proof.taken for name in proof.rests_on(clause) if clause.closed(scene.logic) is not True
        }

    def fails(self) -> bool:
        scene = self.example.scene()
        return self.says(scene).closed(scene.logic) is False


def stated(build: Build, name: str) -> Callable[[Scene], Clause]:
    """What the lemma with this name says, in any scene."""

    def says(scene: Scene) -> Clause:
        (found,) = (lemma.clause for lemma in build(scene).lemmas if lemma.clause.name.startswith(name))
        return found

    return says


def needed(rows: Iterable[Needed], what: str = "") -> list[Obligation]:
    return [
        Obligation(
            f"{what}without {row.without}: {row.example.name}",
            z3.BoolVal(row.fails() and row.broken() == {row.hypothesis} - {""}),
            guards={"everything else is met": z3.BoolVal(row.broken() <= {row.hypothesis})},
        )
        for row in rows
    ]
