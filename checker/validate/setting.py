"""What a trace's header fixes for the judgement of its events: overlay, protocol, level, and what is observed.

`Setting.of` makes it from a header. Whatever judges a part of a trace, wherever it runs, starts from one.
"""

from __future__ import annotations

from typing import Literal, cast

from attrs import evolve, field, frozen

from routeproof.checker.errors import UsageError, unknown
from routeproof.checker.validate.pruning.judge import JudgingPruning
from routeproof.model.filters.wording import shown
from routeproof.model.overlay import Node, Overlay, OverlayError
from routeproof.model.protocol import Protocol
from routeproof.model.protocols import POLICIES_OF, PROTOCOLS
from routeproof.model.pruning import Pruning
from routeproof.model.pruning_parameters import PruningParameters
from routeproof.model.pruning_table import read_readings
from routeproof.model.reading import InstanceError, Place
from routeproof.traces import Header

Level = Literal["exact", "equivalent", "observable"]
LEVELS: dict[Level, str] = {
    "exact": "the same messages, in the same order per neighbour, at every step",
    "equivalent": "per neighbour the same set at every step, additions before removals",
    "observable": "only what clients can see: nothing owed is lost, nothing twice, nothing unmatched",
}

EVERYTHING = ("client", "receive", "send", "deliver")
"""What a trace is taken to observe when its header does not say."""


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
    protocol: Protocol
    observes: frozenset[str]
    ranks: dict[str, int]
    dialect: str = "strict"
    shared_clock: bool = False
    """Do the brokers' times come from one clock?"""
    settles: int | None = None
    """Nanoseconds after which, the header promises, an announcement is known everywhere."""
    _neighbours: dict[str, dict[str, Node]] = field(init=False, eq=False, repr=False)

    def __attrs_post_init__(self) -> None:
        near = {name: {self.names[n - 1]: n for n in self.overlay.neighbours(node)} for name, node in self.node.items()}
        object.__setattr__(self, "_neighbours", near)

    @classmethod
    def of(cls, header: Header, level: Level, protocol: str | None = None) -> Setting:
        """The setting of a trace; a header that names what does not exist is refused."""
        named = protocol or header.protocol
        if named not in PROTOCOLS:
            raise unknown("protocol", named, PROTOCOLS)
        policies = POLICIES_OF[named]
        if header.policy not in policies:
            found = f"the policy '{header.policy}'" if header.policy else "no policy"
            raise UsageError(f"the header has {found}; expected one of {', '.join(policies)}")
        names = tuple(sorted({name for edge in header.overlay for name in edge}))
        node = {name: i for i, name in enumerate(names, 1)}
        try:
            overlay = Overlay.of((node[u], node[v]) for u, v in header.overlay)
        except OverlayError as error:
            raise UsageError(f"the header's overlay: {error} (brokers numbered by name)") from None
        observes = frozenset(header.observes) or frozenset(EVERYTHING)
        made = _protocol(named, overlay, header)
        return cls(
            header.run,
            level,
            header.policy,
            overlay,
            node,
            names,
            made,
            observes,
            _ranks(header),
            header.dialect,
            _clock(header) == "shared",
            _settles(header),
        )

    @property
    def prunes(self) -> bool:
        return isinstance(self.protocol, Pruning)

    @property
    def replays(self) -> bool:
        """Can and should each broker's steps be replayed?"""
        return self.level != "observable" and {"receive", "client"} <= self.observes

    @property
    def matches(self) -> bool:
        """Will it be asked who matches a publication, by subscriptions alone?"""
        return self.replays and not self.prunes

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


def _protocol(named: str, overlay: Overlay, header: Header) -> Protocol:
    """With the readings that the header gives or, of a counterexample, its instance."""
    if named != Pruning.name:
        return PROTOCOLS[named](overlay, header.policy)
    instance = header.more.get("instance")
    given = header.more.get("pruning", instance.get("pruning", {}) if isinstance(instance, dict) else {})
    try:
        readings = read_readings(Place("the header", "pruning", given), (header.policy,))
    except InstanceError as error:
        raise UsageError(str(error)) from None
    return JudgingPruning(overlay, header.policy, evolve(PruningParameters.of(header.policy), **dict(readings)))


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
