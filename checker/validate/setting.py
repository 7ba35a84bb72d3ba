"""Settings that a trace's header fixes for its judgement: overlay, protocol, level, and what is observed.

`Setting.of` makes one from a header. The judge of any part of a trace, wherever it runs, starts from one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Literal, cast

from attrs import Factory, evolve, field, frozen

from routeproof.checker.system.errors import UsageError, unknown
from routeproof.model.filters.interface import shown
from routeproof.model.overlay import Link, Node, Overlay, OverlayError
from routeproof.model.protocols import DEFINITIONS
from routeproof.traces import Header

if TYPE_CHECKING:
    from routeproof.checker.validate.judging import Judging

Level = Literal["exact", "equivalent", "safe", "observable"]
LEVELS: dict[Level, str] = {
    "exact": "the same messages, in the same order per neighbour, at every step",
    "equivalent": "per neighbour the same set at every step, additions before removals",
    "safe": "per neighbour all that is needed and perhaps more: nothing is lost, doubled or left for ever",
    "observable": "only what clients can see: nothing owed is lost, nothing twice, nothing unmatched",
}

EVERYTHING = ("client", "receive", "send", "deliver")
"""Kinds of events that a trace is taken to observe if its header does not say."""


KEYS = ("run", "protocol", "policy", "overlay", "dialect", "observes")
MORE_KEYS = (
    "clock",
    "time_unit",
    "settles",
    "latency",
    "looks",
    "instance",
    "property",
    "mutant",
    "actions",
    "violation",
)
"""Keys of a header that are read, beyond those that every header may have."""

WRITTEN_KEYS = ("workload", "scale", "seed", "roles", "witness")
"""Keys that routeproof writes into headers for people."""

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
    skew: int = 0
    """Nanoseconds by which the clocks of two brokers may differ at most, where the header says so."""
    protocol_name: str = "routing"
    protocol: object = None
    """The protocol's handler, or what one is made of, where its judging has one."""
    channels: tuple[Link, ...] = ()
    """The channels between nodes, where there are other nodes than brokers; else they are the overlay's links."""
    odd_keys: tuple[tuple[str, str], ...] = ()
    """Keys of the header that are not read, each with the key that it resembles, if any."""
    settles: int | None = None
    """Nanoseconds after which, the header promises, an announcement is known everywhere."""
    observed: Mapping[str, frozenset[str]] = Factory(dict)
    """The kinds of events that each broker writes, where the header says so by broker. `observes` has all of them."""
    _neighbours: dict[str, dict[str, Node]] = field(init=False, eq=False, repr=False)
    _at: dict[frozenset[str], Setting] = field(init=False, eq=False, repr=False, factory=dict)

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
            odd = next((f"; is its key {shown(key)} meant?" for key, near in _odd_keys(header) if near == "policy"), "")
            raise UsageError(f"the header has {found}; expected one of {', '.join(policies)}{odd}")
        if level == "safe" and named != "routing":
            raise UsageError(f"the level safe is for the protocol routing; the header has {named}: use equivalent")
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
        observed = {broker: frozenset(kinds) for broker, kinds in header.observed.items()}
        if strangers := sorted(observed.keys() - node.keys()):
            raise UsageError(f'"observes" in the header names {", ".join(strangers[:5])}, in no link of the overlay')
        observes = frozenset(header.observes) or frozenset(() if observed else EVERYTHING)
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
            _clock(header) is not None,
            _clock(header) or 0,
            named,
            settles=_settles(header),
            observed={name: observed.get(name, frozenset()) for name in names} if observed else {},
            channels=channels,
            odd_keys=tuple(_odd_keys(header)),
        )
        return made.judging.complete(made, header)

    @property
    def judging(self) -> Judging:
        """How brokers of the protocol are judged."""
        from routeproof.checker.validate.judging import judging_of  # which rests on settings

        return judging_of(self.protocol_name)

    @property
    def replays(self) -> bool:
        """Can and should steps be replayed: each broker's or, where they observe different kinds, some broker's?"""
        if self.observed:
            return any(self.at(broker).replays for broker in self.observed)
        return self.level != "observable" and {"receive", "client"} <= self.observes

    def at(self, broker: str) -> Setting:
        """Returns the setting of one broker: what is observed there."""
        if not self.observed:
            return self
        mine = self.observed.get(broker, frozenset())
        found = self._at.get(mine)
        if found is None:
            found = self._at[mine] = evolve(self, observes=mine, observed={})
        return found

    def sees(self, *kinds: str) -> bool:
        """True if every broker writes all events of these kinds."""
        return all(each.issuperset(kinds) for each in self.observed.values()) and self.observes.issuperset(kinds)

    def compares(self, near: str, far: str) -> bool:
        """True if what one broker received from another can be held against what that one sent."""
        sender, receiver = self.at(near), self.at(far)
        return "receive" in receiver.observes and ("send" in sender.observes or sender.models_sends)

    def is_linked(self, broker: str) -> bool:
        """True if messages of one of its links are compared."""
        if not self.observed:
            return self.pairs
        return any(self.compares(*link) for far in self.neighbours(broker) for link in ((broker, far), (far, broker)))

    @property
    def unseen(self) -> tuple[str, ...]:
        """The brokers of which nothing is observed."""
        return tuple(broker for broker, kinds in self.observed.items() if not kinds)

    @property
    def matches(self) -> bool:
        """Will it be asked who matches a publication, by subscriptions alone?"""
        return self.replays and self.judging.is_core

    @property
    def pairs(self) -> bool:
        """Can what was received be held against what was sent, on every link?"""
        if self.observed:
            return all(self.compares(*link) for u, v in self._links() for link in ((u, v), (v, u)))
        return "receive" in self.observes and ("send" in self.observes or self.models_sends)

    @property
    def sees_ways(self) -> bool:
        """Can readiness be judged link by link? Other protocols than the core may hold messages back, or move
        clients."""
        sees_clients = {"client", "deliver"} <= self.observes
        return sees_clients and (self.pairs or bool(self.observed)) and self.judging.is_core and not self.channels

    @property
    def models_sends(self) -> bool:
        """True where sends are not observed, and what neighbours receive is held against the model's sends."""
        return self.replays and "send" not in self.observes and self.judging.is_core

    def _links(self) -> Iterator[tuple[str, str]]:
        return ((near, far) for near in self.names for far in self._neighbours[near] if near < far)

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


def _odd_keys(header: Header) -> Iterator[tuple[str, str]]:
    """Unknown keys, and the known ones that they resemble."""
    sections = {each.key for definition in DEFINITIONS.values() for each in definition.sections}
    for key in header.more:
        if key in (*MORE_KEYS, *DEFINITIONS, *sections):
            continue
        near = get_close_matches(key.lower(), (*KEYS, *MORE_KEYS), 1, 0.75)
        if near or key not in WRITTEN_KEYS:
            yield key, "".join(near)


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


def _clock(header: Header) -> int | None:
    """The greatest skew of the shared clock; None without one."""
    clock = header.more.get("clock")
    if clock is None or clock == "shared":
        return None if clock is None else 0
    if isinstance(clock, dict) and clock.get("shared") is True and clock.keys() <= {"shared", "skew"}:
        skew = clock.get("skew", 0)
        if type(skew) is int and 0 <= skew <= LONGEST:
            return skew
    expected = '"shared", {"shared": true, "skew": NANOSECONDS}, or nothing where each has its own'
    raise UsageError(f'the header has "clock": {shown(clock)}; expected {expected}')


def _settles(header: Header) -> int | None:
    settles = header.more.get("settles")
    if settles is not None and (type(settles) is not int or not 0 <= settles <= LONGEST):
        raise UsageError(f'the header has "settles": {shown(settles)}; expected nanoseconds, at most {LONGEST}')
    return settles
