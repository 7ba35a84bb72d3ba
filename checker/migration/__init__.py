"""The wing of migration: how it is fuzzed, what `show` has about its instances, and the experiments of its paper."""

from __future__ import annotations

from collections.abc import Iterator

from routeproof.checker.wings import Row, Wing, assigned, imported
from routeproof.model.migration.definition import parameters_to_table
from routeproof.model.migration.vocabulary import parameters_of
from routeproof.model.world import World


def about(world: World) -> Iterator[Row]:
    """The moves, and the readings that do not have their default."""
    parameters = parameters_of(world.instance)
    yield "moves", ", ".join(f"{move.publisher} to {world.name(move.to)}" for move in parameters.moves)
    if given := {key: value for key, value in parameters_to_table(parameters).items() if key != "moves"}:
        yield "readings", assigned(given)


WING = Wing(
    about=about,
    fuzzing=imported("migration.fuzzing", "FUZZING"),
    experiments=imported("placement.figures", "EXPERIMENTS"),  # publishers move to where placement wants them
    code_theorems=imported("migration.refinement", "CODE_THEOREMS"),
)
