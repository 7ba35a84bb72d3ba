"""Ghosts: what a protocol's properties have to remember of a run, declared by its definition.

The history (`model/history.py`) is kept for every protocol: what clients have done, what was delivered, what is owed. A
`Ghost` is one thing more, as a value that changes with the steps of the world. Nodes never see it. In the explorer it
is a column of its own, so a ghost that few steps change costs little.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from types import SimpleNamespace
from typing import Any

from attrs import fields, frozen

from routeproof.model.history import History, Ledger, Operation
from routeproof.model.instance import Instance
from routeproof.model.messages import Deliver
from routeproof.model.protocol import ProtocolError

RESERVED = ("local", "locals", "queue", "queues", "flight")
"""Names of the parts that properties read in addition to ghosts (`spec.property`)."""

PARTS = tuple(part.name for part in fields(History))
"""Parts of the history, by name: they are read as ghosts are."""


@frozen
class Event:
    """A step of the world as ghosts see it."""

    operation: Operation | None
    """The operation of a client, if the step is one."""
    fault: str
    """Kind of the fault, if the step is one."""
    deliveries: tuple[Deliver, ...]
    """Deliveries to local clients, in order."""
    quiet: bool
    """True if no control message is queued or held back once the step is done."""


class Ghost:
    """One thing that properties remember. `reads` names the parts of the history and the ghosts that it needs.

    A ghost that there is once for each client, or node, answers `each` with one ghost for each, `of` that client. Who
    reads its name sees all of them, as a mapping from `of` to the value.
    """

    name: str
    of: str = ""
    reads: tuple[str, ...] = ()

    def each(self, instance: Instance) -> Sequence[Ghost]:
        """The ghosts of this name in an instance."""
        return (self,)

    def initial(self, ledger: Ledger) -> Hashable:
        """Its value before anything happened."""
        raise NotImplementedError

    def sees(self, ledger: Ledger, event: Event) -> Hashable | None:
        """The part of an event that it needs; None where the event leaves it as it is."""
        raise NotImplementedError

    def after(self, ledger: Ledger, value: Any, seen: Any, others: Any) -> Hashable:
        """Its value after an event of which it sees this. `others`: what it reads, as it was before the step."""
        raise NotImplementedError


@frozen
class Reading:
    """Names that a property or a ghost reads, as found among the parts of the history and the ghosts of a world."""

    parts: tuple[str, ...]
    ghosts: tuple[tuple[str, str, int], ...]
    """Name, `of`, and position among the world's ghosts."""
    empty: tuple[str, ...]
    """Ghosts that the definition declares, and of which the instance has none."""

    @classmethod
    def of(cls, reads: Sequence[str], names: Sequence[str], ghosts: Sequence[Ghost], reader: str) -> Reading:
        """The reading of these names; `names` are those of all ghosts. `ProtocolError` for a name that is none."""
        for name in reads:
            if name not in PARTS and name not in names:
                known = ", ".join((*PARTS, *names))
                raise ProtocolError(
                    f"{reader} reads {name}, which is no ghost of the protocol; expected one of {known}"
                )
        return cls(
            tuple(name for name in reads if name in PARTS),
            tuple((ghost.name, ghost.of, i) for i, ghost in enumerate(ghosts) if ghost.name in reads),
            tuple(name for name in names if name in reads and not any(ghost.name == name for ghost in ghosts)),
        )

    def __bool__(self) -> bool:
        return bool(self.parts or self.ghosts or self.empty)

    def page_of(self, history: History) -> tuple[object, ...]:
        """Values of the parts of the history."""
        return tuple(getattr(history, name) for name in self.parts)

    def values_of(self, values: Sequence[Hashable]) -> tuple[Hashable, ...]:
        """Values of the ghosts, among those of the world."""
        return tuple(values[i] for _, _, i in self.ghosts)

    def shown(self, page: Sequence[object], values: Sequence[Hashable]) -> Any:
        """The parts that a reader is shown, by name. Reading any other part is an error."""
        shown: dict[str, Any] = {**{name: {} for name in self.empty}, **dict(zip(self.parts, page, strict=True))}
        for (name, of, _), value in zip(self.ghosts, values, strict=True):
            if of:
                shown.setdefault(name, {})[of] = value
            else:
                shown[name] = value
        return SimpleNamespace(**shown)


def checked(ghosts: Sequence[Ghost]) -> tuple[Ghost, ...]:
    """The ghosts, if no two of them are the same and none has a name that means something else."""
    taken: set[tuple[str, str]] = set()
    for ghost in ghosts:
        key = (ghost.name, ghost.of)
        if ghost.name in (*PARTS, *RESERVED) or key in taken or (ghost.name, "") in taken:
            raise ProtocolError(f"ghost {ghost.name}: the name is taken; give each ghost of a protocol its own")
        taken.add(key)
    return tuple(ghosts)
