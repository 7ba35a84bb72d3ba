"""What a trace's header fixes for the judgement of its events: overlay, protocol, level, and what is observed.

`Setting.of` makes it from a header. Whatever judges a part of a trace, wherever it runs, starts from one.
"""

from __future__ import annotations

from typing import Literal, cast

from attrs import frozen

from routeproof.checker.errors import UsageError, unknown
from routeproof.model.instance import POLICIES
from routeproof.model.overlay import Node, Overlay, OverlayError
from routeproof.model.protocol import Protocol
from routeproof.model.protocols import PROTOCOLS
from routeproof.traces import Header

Level = Literal["exact", "equivalent"]
LEVELS: dict[Level, str] = {
    "exact": "the same messages, in the same order per neighbour, at every step",
    "equivalent": "per neighbour the same set at every step, additions before removals",
}

EVERYTHING = ("client", "receive", "send", "deliver")
"""What a trace is taken to observe when its header does not say."""


@frozen
class Setting:
    """`node` numbers the brokers by name; `ranks` orders the ids that an instance lists, others go by their text."""

    run: str
    level: Level
    policy: str
    overlay: Overlay
    node: dict[str, Node]
    names: tuple[str, ...]
    protocol: Protocol
    observes: frozenset[str]
    ranks: dict[str, int]

    @classmethod
    def of(cls, header: Header, level: Level, protocol: str | None = None) -> Setting:
        """The setting of a trace; a header that names what does not exist is refused."""
        named = protocol or header.protocol
        if named not in PROTOCOLS:
            raise unknown("protocol", named, PROTOCOLS)
        if header.policy not in POLICIES:
            found = f"the policy '{header.policy}'" if header.policy else "no policy"
            raise UsageError(f"the header has {found}; expected one of {', '.join(POLICIES)}")
        names = tuple(sorted({name for edge in header.overlay for name in edge}))
        node = {name: i for i, name in enumerate(names, 1)}
        try:
            overlay = Overlay.of((node[u], node[v]) for u, v in header.overlay)
        except OverlayError as error:
            raise UsageError(f"the header's overlay: {error} (brokers numbered by name)") from None
        observes = frozenset(header.observes) or frozenset(EVERYTHING)
        made = PROTOCOLS[named](overlay, header.policy)
        return cls(header.run, level, header.policy, overlay, node, names, made, observes, _ranks(header))

    def name_of(self, node: Node) -> str:
        """A broker's name in the trace."""
        return self.names[node - 1]


def _ranks(header: Header) -> dict[str, int]:
    """A counterexample brings its instance, and with it the order of ids."""
    instance = header.more.get("instance")
    ranks: dict[str, int] = {}
    for kind in ("advertisement", "subscription"):
        listed = instance.get(kind) if isinstance(instance, dict) else None
        for rank, row in enumerate(listed if isinstance(listed, list) else []):
            if isinstance(row, dict) and isinstance(row.get("id"), str):
                ranks[cast(str, row["id"])] = rank
    return ranks
