"""What a property is: a pure function of a small part of a state, with the part that it reads.

The catalogue is `properties`; engines read `scope` to ask once for each distinct part instead of once for each state.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from attrs import frozen

OK = ""
Answer = str | None
"""None where a property says nothing (not exercised), `OK`, or a sentence that says what is wrong."""

Scope = Literal["history", "flight", "queue", "node", "record", "link", "graph", "settled"]
"""What a property reads. *Quiet*: no queue holds a control message, and no broker holds one back.

history  f(ledger, history)                          in every state
flight   f(ledger, history, tags of all queues)      in every state
queue    f(ledger, link, queue)                      in every state
node     f(ledger, node, tables, done)               where it is quiet
record   f(ledger, node, tables, history)            where it is quiet
link     f(ledger, link, tables, tables)             where it is quiet
graph    nothing: the engine knows (Drains)
settled  nothing: whoever looks at a whole run knows (TriggeredAtMostActive)
"""

Kind = Literal["always", "sometimes"]


@frozen
class Property:
    """`always` must hold in every state; `sometimes` must hold in one, and is a warning where it does not."""

    id: str
    kind: Kind
    scope: Scope
    policies: tuple[str, ...]
    about: str
    evaluate: Callable[..., Answer]

    @classmethod
    def of(
        cls, id: str, kind: Kind, scope: Scope, policies: tuple[str, ...], evaluate: Callable[..., Answer]
    ) -> Property:
        """What it is about is what its function says of itself."""
        return cls(id, kind, scope, policies, " ".join((evaluate.__doc__ or "").split()), evaluate)
