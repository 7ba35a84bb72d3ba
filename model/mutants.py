"""Registration of seeded faults, for the modules of mutants next to the protocols."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from routeproof.model.definition import Mutant

T = TypeVar("T")


class MutantRegistry(dict[str, Mutant]):
    """The seeded faults of a protocol by id, in the order in which they are written down."""

    def __init__(self, protocol: str, policies: tuple[str, ...]) -> None:
        super().__init__()
        self.protocol, self.policies = protocol, policies

    def mutant(self, id: str, rule: str, policies: tuple[str, ...] = ()) -> Callable[[type[T]], type[T]]:
        """Registers a handler as a seeded fault, under all policies if none is given; its docstring says what it is."""

        def register(cls: type[T]) -> type[T]:
            assert id not in self, id
            about = " ".join((cls.__doc__ or "").split())
            self[id] = Mutant(id, self.protocol, rule, policies or self.policies, about, cls)
            return cls

        return register
