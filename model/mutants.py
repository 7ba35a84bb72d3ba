"""Seeded faults: every bug that we know of, as a switch.

A mutant is a protocol with one of its small methods replaced; they are beside their protocols (`routing_mutants`,
`pruning_mutants`). `MUTANTS` has all of them.
"""

from __future__ import annotations

from routeproof.model.pruning_mutants import PRUNING_MUTANTS
from routeproof.model.routing_mutants import MUTANTS as ROUTING_MUTANTS
from routeproof.model.routing_mutants import Mutant

MUTANTS: dict[str, Mutant] = ROUTING_MUTANTS | PRUNING_MUTANTS
