"""Seeded faults: every known bug as a switch. `MUTANTS` has the mutants of all protocols by id.

A mutant is a protocol with one of its small methods replaced; it is in a module next to its protocol
(`routing_mutants`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from routeproof.model.definition import Mutant
from routeproof.model.protocols import mutants

__all__ = ["MUTANTS", "Mutant"]


class _Mutants(Mapping[str, Mutant]):
    """Mutants of the protocols that are registered at the moment."""

    def __getitem__(self, id: str) -> Mutant:
        return mutants()[id]

    def __iter__(self) -> Iterator[str]:
        return iter(mutants())

    def __len__(self) -> int:
        return len(mutants())


MUTANTS: Mapping[str, Mutant] = _Mutants()
