"""The judging of a protocol (`Judging`): the part of validation that a protocol's wing may replace.

The routing core is replayed on bit sets. A protocol whose wing says nothing is replayed by its own handler. `Stages`
are judgements of what no broker shows alone, which a protocol adds to those of links and clients; the local engine and
Spark run the same list of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import NamedTuple, Protocol, TypeAlias, TypeVar

from attrs import frozen

from routeproof.checker.validate.broker.canonical import CanonicalMessage, canonical_in_trace
from routeproof.checker.validate.broker.comparison import tables_of
from routeproof.checker.validate.broker.handler import HandlerModel, OwnMeaning, completed, own_in_trace
from routeproof.checker.validate.broker.messages import MessageMeaning
from routeproof.checker.validate.broker.model import AcceptedStep, BrokerModel, CoreModel
from routeproof.checker.validate.broker.safe import SafeModel
from routeproof.checker.validate.clients import ClientOperation
from routeproof.checker.validate.clients.judge import operations_said
from routeproof.checker.validate.clock import Doubts
from routeproof.checker.validate.fast import Replica
from routeproof.checker.validate.findings import PartResult, Rejection, foremost
from routeproof.checker.validate.report import Report
from routeproof.checker.validate.setting import Setting
from routeproof.checker.validate.store import Store
from routeproof.checker.validate.traffic import Traffic
from routeproof.checker.wings import Due, wing_named
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
    due: Due | None = None
    """Why its handler sends a copy of a publication, where local states are not the core's tables (`Wing.due`)."""
    at_home: bool = False
    """True if an advertisement only counts for publications at the broker where it was made."""
    keeps: bool = False
    """True if its handler may hold messages back (`kept`)."""
    stages: Stages | None = None
    """Judgements about several brokers at once, in addition to those of links and clients."""
    is_core: bool = False
    """True where publications change no table, so that many can be judged at once."""


def _core_model(setting: Setting, replica: Replica, broker: str, tables: Tables | None) -> BrokerModel:
    return (SafeModel if setting.level == "safe" else CoreModel)(setting, replica, broker, tables)


CORE = Judging(model=_core_model, tables=tables_of, at_home=True, is_core=True)


@cache
def _handled(name: str) -> Judging:
    kinds = {each.kind: each for each in DEFINITIONS[name].messages}
    meaning = partial(OwnMeaning, kinds)
    return Judging(
        HandlerModel,
        completed,
        meaning,
        own_in_trace,
        client_kinds=frozenset(kinds),
        due=wing_named(name).due,
        keeps=True,
    )


def judging_of(protocol: str) -> Judging:
    """The judging of a protocol that the registry has."""
    judging = wing_named(protocol).judging
    own = None if judging is None else judging()
    if isinstance(own, Judging):
        return own
    return CORE if protocol == "routing" else _handled(protocol)


# -- stages ------------------------------------------------------------------------------------------------------------
#
# A part hands each accepted step to an `Emitter`, whose rows are set aside in blocks by a key (`NAME/key`, or
# `SHARED`). When all parts have been read, `reduce` judges the blocks of one key after the other, or many keys in as
# many workers. What it passes on is a later stage's.

STAGES = "stages"
"""In a store's key, after the run: what comes of emitters, and of stages for later ones."""

SHARED = "shared"
"""Key of the blocks that every reduction of a run is shown."""


class Emitter(Protocol):
    """Rows about the steps of one part."""

    @property
    def is_full(self) -> bool:
        """True when it is time to ask for `blocks`."""
        ...

    def emit(self, step: AcceptedStep, model: BrokerModel) -> None:
        """Takes a step that was accepted."""
        ...

    def blocks(self, *, all_of_them: bool = False) -> Iterator[tuple[str, bytes]]:
        """Blocks of the waiting rows, by key: if there are many, or all."""
        ...


@frozen
class RunContext:
    """Premises of a run's stages. `traffic`: None if the times of messages on links are unknown."""

    setting: Setting
    run: str
    operations: Callable[[], Iterable[Iterator[ClientOperation]]]
    traffic: Traffic | None
    shared: Sequence[bytes]


class PassedBlock(NamedTuple):
    """A block for a later stage, by its key."""

    key: str
    block: bytes


class ReportBlock(NamedTuple):
    """A block for the report."""

    block: bytes


Block: TypeAlias = tuple[bool, bytes]
"""True if a stage passed it on, false if a part emitted it; and the block."""

Found: TypeAlias = Rejection | PassedBlock | ReportBlock
Reduce: TypeAlias = Callable[[Iterable[Block]], Iterator[Found]]

Summaries: TypeAlias = Iterable[tuple[str, str, bytes]]
"""Summaries by run and key, in order."""


@frozen
class Stage:
    """`reducing`: (context of a run) -> the reduction of the blocks of one key."""

    name: str
    reducing: Callable[[RunContext], Reduce]

    def owns(self, key: str) -> bool:
        return key.startswith(f"{self.name}/")


@frozen
class Stages:
    """The stages of a protocol. `hindrance`: (setting, run, parts, rejections so far) -> why they are not run, or None.
    `conclude`: (setting, report, summaries, hindrances) -> the report with what the stages say."""

    emitter: Callable[[str, int], Emitter]
    """(broker, number that is added to a count of events) -> what takes the steps of a part."""
    stages: tuple[Stage, ...]
    hindrance: Callable[[Setting, str, Iterable[PartResult], Iterable[Rejection]], str | None]
    conclude: Callable[[Setting, Report, Summaries, set[str]], Report]


Judgement = TypeVar("Judgement", PartResult, Rejection)


def by_run(judged: Iterable[Judgement]) -> dict[str, list[Judgement]]:
    """Returns the parts, or the rejections, of each run, so that no run looks at those of the others."""
    found: dict[str, list[Judgement]] = {}
    for each in judged:
        found.setdefault(each.run, []).append(each)
    return found


def hindrances(
    stages: Stages, setting: Setting, parts: Iterable[PartResult], rejections: Iterable[Rejection]
) -> dict[str, str | None]:
    """By run, why its stages are not run; None where they are."""
    mine, wrong = by_run(parts), by_run(rejections)
    return {run: stages.hindrance(setting, run, mine[run], wrong.get(run, ())) for run in sorted(mine)}


def reduced(stage: Stage, reduce: Reduce, blocks: Iterable[Block]) -> Iterator[Found]:
    """Returns what a reduction makes of the blocks of one key; of rejections the first of each kind."""
    wrong: list[Rejection] = []
    for each in reduce(blocks):
        if isinstance(each, Rejection):
            wrong.append(each)
        else:
            yield each
    yield from foremost(wrong)


def run_locally(
    stages: Stages,
    setting: Setting,
    store: Store,
    runs: Iterable[str],
    traffic: Mapping[str, Traffic | None],
    doubts: Mapping[str, Mapping[str, Doubts]],
) -> Iterator[Rejection]:
    """Runs all stages over the blocks in a store. Summaries stay there (`summaries`)."""
    for run in runs:
        context = RunContext(
            setting,
            run,
            lambda run=run: operations_said(store, run, doubts.get(run, {})),  # type: ignore[misc]
            traffic.get(run),
            list(store.blocks((run, STAGES, SHARED, ""))),
        )
        wrong: list[Rejection] = []
        for stage in stages.stages:
            reduce = stage.reducing(context)
            for key in sorted({each[2] for each in store.under(run, STAGES) if stage.owns(each[2])}):
                emitted = ((False, block) for block in store.blocks((run, STAGES, key, "")))
                passed = ((True, block) for block in store.blocks((run, STAGES, key, "passed")))
                for each in reduced(stage, reduce, (block for some in (passed, emitted) for block in some)):
                    if isinstance(each, Rejection):
                        wrong.append(each)
                    elif isinstance(each, PassedBlock):
                        store.put((run, STAGES, each.key, "passed"), each.block)
                    else:
                        store.put((run, "summaries", key), each.block)
        yield from foremost(wrong)


def summaries(store: Store, runs: Iterable[str]) -> Iterator[tuple[str, str, bytes]]:
    """Returns the summaries that `run_locally` left for the report."""
    for run in sorted(runs):
        for key in store.under(run, "summaries"):
            yield from ((run, key[2], block) for block in store.blocks(key))
