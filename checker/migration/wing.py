"""The wing of migration: how it is fuzzed, what `show` has about its instances, and the experiments of its paper."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from routeproof.checker.wings import Wing
from routeproof.model.migration.definition import parameters_to_table
from routeproof.model.migration.vocabulary import parameters_of
from routeproof.model.world import World

if TYPE_CHECKING:
    from routeproof.checker.fuzz.strategies import Fuzzing
    from routeproof.checker.prove.solve import CodeTheorem


def fuzzing() -> Fuzzing:
    """The moves that the fuzzer draws."""
    from routeproof.checker.migration.fuzzing import FUZZING

    return FUZZING


def about(world: World) -> Iterator[tuple[str, str]]:
    """The moves, and the readings that do not have their default."""
    parameters = parameters_of(world.instance)
    yield "moves", ", ".join(f"{move.publisher} to {world.name(move.to)}" for move in parameters.moves)
    if given := {key: value for key, value in parameters_to_table(parameters).items() if key != "moves"}:
        yield "readings", ", ".join(f"{key} = {json.dumps(value)}" for key, value in given.items())


def experiments() -> Mapping[str, Any]:
    """The experiments of paper 004, whose publishers move to where placement wants them."""
    from routeproof.checker.placement.figures import EXPERIMENTS

    return EXPERIMENTS


def code_theorems() -> Sequence[CodeTheorem]:
    """The comparison of the model's moves with the relation of their proofs."""
    from routeproof.checker.migration.refinement import theorem

    return [theorem()]


WING = Wing(about=about, fuzzing=fuzzing, experiments=experiments, code_theorems=code_theorems)
