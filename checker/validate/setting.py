"""Settings that a trace's header fixes for its judgement: overlay, protocol, level, and what is observed.

`Setting.of` makes one from a header. The judge of any part of a trace, wherever it runs, starts from one.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal, cast

from attrs import evolve, field, frozen

from routeproof.checker.system.errors import UsageError, unknown
from routeproof.model.filters.interface import shown
from routeproof.model.overlay import Link, Node, Overlay, OverlayError
from routeproof.model.protocols import DEFINITIONS
from routeproof.traces import Header

if TYPE_CHECKING:
    from routeproof.checker.validate.judging import Judging

Level = Literal["exact", "equivalent", "observable"]
LEVELS: dict[Level, str] = {
    "exact": "the same messages, in the same order per neighbour, at every step",
    "equivalent": "per neighbour the same set at every step, additions before removals",
    "observable": "only what clients can see: nothing owed is lost, nothing twice, nothing unmatched",
}

EVERYTHING = ("client", "receive", "send", "deliver")
"""Kinds of events that a trace is taken to observe if its header does not say."""


LONGEST = 1 << 60
"""Nanoseconds: some 36 years."""


@frozen
class Setting:
    """`node` numbers the brokers by name; `ranks` orders the ids that an instance lists, others go by their text."""

    run: str
    level: Level
    policy: str
    overlay: Overlay
    node: dict[str, Node]
    names: tuple[str, ...]
    observes: frozenset[str]
    ranks: dict[str, int]
    dialect: str = "strict"
    shared_clock: bool = False
    """Do the brokers' times come from one clock?"""
    protocol_name: str = "routing"
    protocol: object = None
    """The protocol's handler, or what one is made of, where its judging has one."""
    channels: tuple[Link, ...] = ()
    """The channels between nodes, where there are other nodes than brokers; else they are the overlay's links."""
    settles: int | None = None
    """Nanoseconds after which, the header promises, an announcement is known everywhere."""
    _neighbours: dict[str, dict[str, Node]] = field(init=False, eq=False, repr=False)

    def __attrs_post_init__(self) -> None:
        near = {name: {self.names[n - 1]: n for n in self._neighbours_of(node)} for name, node in self.node.items()}
        object.__setattr__(self, "_neighbours", near)

    def _neighbours_of(self, node: Node) -> Iterable[Node]:
        if not self.channels:
            return self.overlay.neighbours(node)
        return [far for near, far in self.channels if near == node]

    @classmethod
    def of(cls, header: Header, level: Level, protocol: str | None = None) -> Setting:
        """The setting of a trace; a header that names what does not exist is refused."""
        named = protocol or header.protocol
        if named not in DEFINITIONS:
            raise unknown("protocol", named, DEFINITIONS)
        policies = DEFINITIONS[named].policies
        if level == "observable" and not header.policy:
            header = evolve(header, policy=policies[0])  # no step is replayed: any policy will do
        if header.policy not in policies:
            found = f"the policy '{header.policy}'" if header.policy else "no policy"
            raise UsageError(f"the header has {found}; expected one of {', '.join(policies)}")
        names = tuple(sorted({name for edge in header.overlay for name in edge}))
        node = {name: i for i, name in enumerate(names, 1)}
        edges, channels = [(node[u], node[v]) for u, v in header.overlay], tuple[Link, ...]()
        if level == "observable" and len(tree := spanning_tree(edges)) < len(edges):
            channels = tuple(sorted({*edges, *((v, u) for u, v in edges)}))
            edges = tree
        try:
            overlay = Overlay.of(edges)
        except OverlayError as error:
            raise UsageError(f"the header's overlay: {error} (brokers numbered by name)") from None
        observes = frozenset(header.observes) or frozenset(EVERYTHING)
        made = cls(
            header.run,
            level,
            header.policy,
            overlay,
            node,
            names,
            observes,
            _ranks(header),
            header.dialect,
            _clock(header) == "shared",
            named,
            settles=_settles(header),
            channels=channels,
        )
        return made.judging.complete(made, header)

    @property
    def judging(self) -> Judging:
        """How brokers of the protocol are judged."""
        from routeproof.checker.validate.judging import judging_of  # which rests on settings

        return judging_of(self.protocol_name)

    @property
    def replays(self) -> bool:
        """Can and should each broker's steps be replayed?"""
        return self.level != "observable" and {"receive", "client"} <= self.observes

    @property
    def matches(self) -> bool:
        """Will it be asked who matches a publication, by subscriptions alone?"""
        return self.replays and self.judging.is_core

    @property
    def pairs(self) -> bool:
        """Can what was received be held against what was sent?"""
        return {"receive", "send"} <= self.observes

    def neighbours(self, broker: str) -> dict[str, Node]:
        """A broker's neighbours, by name and in their order; none of one that is not in the overlay."""
        return self._neighbours.get(broker, {})

    def name_of(self, node: Node) -> str:
        """A broker's name in the trace."""
        return self.names[node - 1]


def spanning_tree(edges: Iterable[tuple[Node, Node]]) -> list[tuple[Node, Node]]:
    """Edges that connect what all of them connect, without a cycle. An edge from a broker to itself is left to stand,
    so that it is refused.
    """
    part: dict[Node, Node] = {}

    def find(node: Node) -> Node:
        while part.setdefault(node, node) != node:
            node = part[node]
        return node

    chosen = []
    for u, v in edges:
        if u == v or find(u) != find(v):
            chosen.append((u, v))
            part[find(u)] = find(v)
    return chosen


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


def _clock(header: Header) -> str | None:
    clock = header.more.get("clock")
    if clock not in (None, "shared"):
        raise UsageError(
            f'the header has "clock": {shown(clock)}; expected "shared", or nothing where each has its own'
        )
    return clock


def _settles(header: Header) -> int | None:
    settles = header.more.get("settles")
    if settles is not None and (type(settles) is not int or not 0 <= settles <= LONGEST):
        raise UsageError(f'the header has "settles": {shown(settles)}; expected nanoseconds, at most {LONGEST}')
    return settles
