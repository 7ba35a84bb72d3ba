"""The judging of a protocol (`Judging`): the part of validation that a protocol's wing may replace.

The routing core is replayed on bit sets. A protocol whose wing says nothing is replayed by its own handler.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial

from attrs import frozen

from routeproof.checker.validate.broker.canonical import CanonicalMessage, canonical_in_trace
from routeproof.checker.validate.broker.comparison import tables_of
from routeproof.checker.validate.broker.handler import HandlerModel, OwnMeaning, completed, own_in_trace
from routeproof.checker.validate.broker.messages import MessageMeaning
from routeproof.checker.validate.broker.model import BrokerModel, CoreModel
from routeproof.checker.validate.fast import Replica
from routeproof.checker.validate.setting import Setting
from routeproof.checker.validate.stages import Stages
from routeproof.checker.wings import wings
from routeproof.model.overlay import Node
from routeproof.model.protocols import DEFINITIONS
from routeproof.model.tables import Tables
from routeproof.traces import Header, TraceMessage, TraceTables
from routeproof.traces.messages import SHORT

Loaded = Callable[[TraceTables, Mapping[str, Node], Mapping[str, int]], Tables | None]


def _as_it_is(setting: Setting, header: Header) -> Setting:
    return setting


def _no_tables(told: TraceTables, neighbours: Mapping[str, Node], ranks: Mapping[str, int]) -> Tables | None:
    return None


@frozen
class Judging:
    """How brokers of a protocol are judged."""

    model: Callable[[Setting, Replica, str, Tables | None], BrokerModel]
    """(setting, relations of filters, broker, tables to begin with) -> the broker's model."""
    complete: Callable[[Setting, Header], Setting] = _as_it_is
    """Adds to a setting what the protocol reads in a header; `UsageError` where that cannot be used."""
    meaning: Callable[[MessageMeaning, TraceMessage], MessageMeaning] | None = None
    """Adds to a message's meaning what the protocol adds to messages; None where that is nothing."""
    canonical: Callable[[TraceMessage], CanonicalMessage] = canonical_in_trace
    tables: Loaded = _no_tables
    """The tables that a snapshot tells, for a part to begin with; None where no part can begin there."""
    client_kinds: frozenset[str] = frozenset(SHORT)
    """Kinds of messages that a client may give to its broker."""
    keeps: bool = False
    """True if its handler may hold messages back (`kept`)."""
    stages: Stages | None = None
    """Judgements about several brokers at once, in addition to those of links and clients."""
    is_core: bool = False
    """True where publications change no table, so that many can be judged at once."""


CORE = Judging(model=CoreModel, tables=tables_of, is_core=True)


@cache
def _handled(name: str) -> Judging:
    kinds = {each.kind: each for each in DEFINITIONS[name].messages}
    meaning = partial(OwnMeaning, kinds)
    return Judging(HandlerModel, completed, meaning, own_in_trace, client_kinds=frozenset(kinds), keeps=True)


def judging_of(protocol: str) -> Judging:
    """The judging of a protocol that the registry has."""
    wing = wings().get(protocol)
    own = None if wing is None or wing.judging is None else wing.judging()
    if isinstance(own, Judging):
        return own
    return CORE if protocol == "routing" else _handled(protocol)
