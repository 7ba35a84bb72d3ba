"""Which theorems about refinement are asked for, by the names of instances and of a seeded fault."""

from __future__ import annotations

from collections.abc import Sequence

from routeproof.checker.errors import UsageError, unknown
from routeproof.checker.instances import find
from routeproof.checker.prove.examine import CodeTheorem
from routeproof.checker.prove.refine import pruning_rows, rows
from routeproof.checker.prove.refine.sample import Sample
from routeproof.model.mutants import MUTANTS

ROWS = {"routing": rows.theorems, "pruning": pruning_rows.theorems}
"""By protocol."""


def asked(names: Sequence[str], mutant: str | None = None) -> dict[str, CodeTheorem]:
    """Those about the instances that are named, or about all that ship; of a mutant, about those of its protocol."""
    if mutant is not None and mutant not in MUTANTS:
        raise unknown("mutant", mutant, MUTANTS)
    found: dict[str, CodeTheorem] = {}
    for name in names:
        _refuse(name, mutant)
    for protocol, theorems in ROWS.items():
        chosen = tuple(dict.fromkeys(name for name in names if find(name).protocol == protocol))
        if chosen:
            sample = Sample.of(chosen, mutant)
        elif not names and mutant in (None, *_mutants_of(protocol)):
            sample = Sample.everything(protocol, mutant)
        else:
            continue
        found |= {theorem.id: theorem for theorem in theorems(sample)}
    return found


def _refuse(name: str, mutant: str | None) -> None:
    instance = find(name)
    if instance.protocol not in ROWS:
        raise UsageError(f"--refinement is of {' and '.join(ROWS)}; {name} is an instance of {instance.protocol}")
    if mutant is not None and mutant not in _mutants_of(instance.protocol):
        raise UsageError(
            f"{mutant} is a mutant of {MUTANTS[mutant].protocol}; {name} is an instance of {instance.protocol}"
        )


def _mutants_of(protocol: str) -> tuple[str, ...]:
    return tuple(id for id, each in MUTANTS.items() if each.protocol == protocol)
