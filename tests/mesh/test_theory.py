"""The theorems of the mesh: proved, refuted where a part is left out, and about the same choices as the model's."""

from collections.abc import Callable
from itertools import combinations, product

import pytest
import z3

from routeproof.model.mesh.forwarding import STRATEGIES, WorkingMap
from routeproof.model.mesh.state import MasterMap
from routeproof.model.overlay import Node, Overlay
from routeproof.spec.mesh import theory
from routeproof.spec.mesh.theory import Choice, DecisionScene, ForwardingDecision, MoverScene
from routeproof.spec.theory import BROKER, Grounded, Truth
from routeproof.spec.theory.proof import Obligation, Theorem, obligations
from routeproof.spec.theory.relation import of_overlay, tree_holds
from tests.mesh.attack import TREES, moves

ALL = [Overlay.of(tree) for size in (3, 4, 5) for tree in TREES[size]]


def refuted(obligation: Obligation) -> bool:
    solver = z3.Solver()
    solver.set("timeout", 20_000)
    solver.add(*obligation.formulas, z3.Not(obligation.goal))
    return bool(solver.check() == z3.sat)


@pytest.mark.parametrize("theorem", theory.THEOREMS[:2], ids=lambda theorem: theorem.id)
def test_the_static_lemma_is_proved(theorem: Theorem) -> None:
    for each in theorem.obligations():
        solver = z3.Solver()
        solver.add(*each.formulas, z3.Not(each.goal))
        assert solver.check() == z3.unsat, each.name
        assert all(z3.is_true(guard) for guard in each.guards.values()), each.name


def test_without_the_choice_a_home_is_beyond_several() -> None:
    """A copy for every wanted end."""
    proof = theory.decided(theory.any_decision(), DecisionScene.wanted)
    [wrong] = [lemma for lemma in proof.lemmas if lemma.clause.name == "and beyond no other one"]
    assert refuted(proof.obligation(wrong, can_be=True))


def test_every_lemma_says_something_of_the_example() -> None:
    for theorem in theory.THEOREMS:
        assert all(z3.is_true(each) for o in theorem.obligations() for each in o.guards.values())
    wrong = obligations(theory.choosing(lambda s, x: False), theory.any_decision(), [theory.example()])
    assert not all(z3.is_true(guard) for each in wrong for guard in each.guards.values())


CHOICES: dict[str, Choice] = {"S2": DecisionScene.nearest, "S1": DecisionScene.farthest}


@pytest.mark.parametrize("strategy", ["S1", "S2"])
def test_the_theorems_are_about_the_printed_algorithms(strategy: str) -> None:
    """In all trees of up to five brokers, with all sets of links and of homes, from the first and the last broker."""
    choose: Callable[..., object] = STRATEGIES[strategy]  # type: ignore[index]  # one of them
    for overlay in ALL:
        for centre in (overlay.brokers[0], overlay.brokers[-1]):
            master = MasterMap.of(overlay, centre, 4)
            others = [b for b in overlay.brokers if b != centre]
            far = [b for b in others if b not in overlay.neighbours(centre)]
            for links, homes in product(_subsets(far), _subsets(others)):
                view = WorkingMap.of(master, links)
                scene = _scene(overlay, centre, view, set(homes))
                wanted = frozenset(view.representative[home] for home in homes)
                chosen = frozenset(b for b in others if CHOICES[strategy](scene, b))
                assert chosen == choose(view, wanted), (overlay.edges, centre, links, homes)


def _subsets(of: list[Node]) -> list[tuple[Node, ...]]:
    return [some for many in range(len(of) + 1) for some in combinations(of, many)]


def _scene(overlay: Overlay, centre: Node, view: WorkingMap, homes: set[Node]) -> DecisionScene:
    decision = ForwardingDecision(
        upto=lambda x, y: x in overlay.path(centre, y),
        branch=lambda x: overlay.toward(centre, x),
        end=lambda x: x in view.array,
        home=lambda x: x in homes,
        anchor=lambda x: x,
        stands=lambda x: view.representative[x],
        upstream=lambda x: False,
    )
    return DecisionScene(Grounded({BROKER: [b for b in overlay.brokers if b != centre]}), decision)


def _after(overlay: Overlay, mover: Node, to: Node) -> tuple[MoverScene, list[Truth]]:
    scene = MoverScene(Grounded({BROKER: overlay.brokers}), of_overlay(overlay), mover, overlay.toward(mover, to), to)
    return scene, [axiom.closed(scene.logic) for axiom in tree_holds(scene.logic, scene.after)]


def test_the_network_after_a_move_is_the_models() -> None:
    for overlay in ALL:
        for (mover, to), _ in moves(overlay.edges):
            scene, axioms = _after(overlay, mover, to)
            assert all(each is True for each in axioms)
            links = {(u, v) for u, v in product(overlay.brokers, repeat=2) if u < v and scene.after.link(u, v)}
            old, new = (min(mover, scene.away), max(mover, scene.away)), (min(mover, to), max(mover, to))
            assert links == set(overlay.edges) - {old} | {new}


def test_a_move_within_the_movers_side_leaves_no_tree() -> None:
    overlay = Overlay.line(4)
    scene = MoverScene(Grounded({BROKER: overlay.brokers}), of_overlay(overlay), 2, 1, 4)
    assert not all(each.closed(scene.logic) is True for each in tree_holds(scene.logic, scene.after))
