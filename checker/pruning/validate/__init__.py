"""Validation of traces of the pruning protocol: how its brokers are judged (`JUDGING`).

`model` has the handlers of `model/pruning/` with memoised relations, and reads what pruning adds to messages and
snapshots of the core; `replay` holds one broker's events against it.

Similarity concerns several brokers. A part writes accepted steps into a notebook (`replay`): copies and rows of
publications, and decisions about withdrawals. `ways` says which subscriptions stood when and brings the copies of a
publication together, `shares` the rows of a subscription with the decisions about it. This module has the stages, which
every engine runs (`SIMILARITY`), sentences of the report, and the file `similarity.parquet`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import chain

import msgspec
import pyarrow as pa
from attrs import asdict, astuple, evolve, fields, frozen

from routeproof.checker.pruning.validate import replay
from routeproof.checker.pruning.validate.model import (
    SIGNALS,
    JudgingPruning,
    PruningMeaning,
    pruning_in_trace,
    tables_of,
)
from routeproof.checker.pruning.validate.replay import PruningModel, SimilarityEmitter
from routeproof.checker.pruning.validate.shares import WHOLE, Share, Shares, ShareTally
from routeproof.checker.pruning.validate.ways import Standing, StayRows, WaysJudge, rows_of
from routeproof.checker.system.errors import UsageError
from routeproof.checker.system.files import whole
from routeproof.checker.validate.findings import SEEN_BY_CLIENTS, PartResult, Rejection
from routeproof.checker.validate.judging import (
    Block,
    Found,
    Judging,
    PassedBlock,
    Reduce,
    ReportBlock,
    RunContext,
    Stage,
    Stages,
    Summaries,
)
from routeproof.checker.validate.metrics import Measured, plain
from routeproof.checker.validate.report import Report
from routeproof.checker.validate.setting import Setting
from routeproof.checker.validate.store import packed
from routeproof.model.pruning.definition import read_readings
from routeproof.model.pruning.vocabulary import PruningParameters
from routeproof.model.reading import InstanceError, Place
from routeproof.traces import Header
from routeproof.traces.columns import parquet_writer
from routeproof.traces.messages import SHORT

FILE = "similarity.parquet"


@frozen
class JudgedShares(ShareTally):
    """`ShareTally`, for good. `left_out`: runs in which similarity was not judged, and why."""

    left_out: tuple[str, ...] = ()

    @property
    def lines(self) -> list[str]:
        most = f"{100 * self.deviation / WHOLE:.1f} percent"
        judged = f"{self.decisions:,} decisions held against it, the database of one off by {most} at most"
        found = [f"similarity of {self.pairs:,} subscriptions with an advertisement: {judged}"]
        if self.rows:
            outside = self.rows - self.exact
            found.append(f"{self.exact:,} of {self.rows:,} rows held against it; {outside:,} not judged: out of scope")
        if self.unjudged:
            found.append(f"{self.unjudged:,} decisions not judged: their withdrawal or their sends are unknown")
        return found + [f"similarity not judged: {why}" for why in self.left_out]


@frozen
class PruningReport(Report):
    """`similarity` is no part of the verdict: what is wrong with it is among the rejections."""

    similarity: JudgedShares = JudgedShares()

    @property
    def remarks(self) -> list[str]:
        return [*super().remarks, *self.similarity.lines]


def why_not_judged(
    setting: Setting, run: str, found: Iterable[PartResult], rejections: Iterable[Rejection]
) -> str | None:
    """Returns why the similarity of a run is not judged, or None if it is. `found` and `rejections` (of brokers, links
    and clients) are those of the run."""
    if not setting.replays:
        return "the brokers' steps are not replayed"
    if any(each.rule not in SEEN_BY_CLIENTS for each in rejections):
        return f"run {plain(run)}: a step or a link is wrong, so that the databases are unknown"
    if any(each.faults or each.drops for each in found):
        return f"run {plain(run)}: brokers crashed or messages were dropped"
    return None


# -- the file ---------------------------------------------------------------------------------------------------------

NUMBERS = ("hops", "came", "similar", "held", "near", "true_near", "exact")


@contextmanager
def table_of(setting: Measured) -> Iterator[Callable[[list[Share]], None]]:
    """Writes similarities next to the metrics. Rows come run by run, and within it bucket by bucket."""
    setting.target.mkdir(parents=True, exist_ok=True)
    schema = _schema()
    with whole(setting.target / FILE) as part, part.open("wb") as file, parquet_writer(file, schema) as writer:

        def write(shares: list[Share]) -> None:
            if shares:
                columns = [list(map(plain, c)) if isinstance(c[0], str) else list(c) for c in zip(*shares, strict=True)]
                arrays = [pa.array(c, kind) for c, kind in zip(columns, schema.types, strict=True)]
                writer.write_table(pa.Table.from_arrays(arrays, schema=schema))

        yield write


def _schema() -> pa.Schema:
    word = pa.dictionary(pa.int32(), pa.string())
    return pa.schema([(name, pa.int64() if name in NUMBERS else word) for name in Share._fields])


# -- stages -----------------------------------------------------------------------------------------------------------


def _standing(context: RunContext) -> Standing:
    holds = map(replay.of_signals, context.shared)
    return Standing(context.setting, chain.from_iterable(context.operations()), holds, context.traffic)


def _ways(context: RunContext) -> Reduce:
    """Brings the copies and rows of each publication together; its rows go to their subscriptions."""
    ways = WaysJudge(context.run, _standing(context))

    def reduce(blocks: Iterable[Block]) -> Iterator[Found]:
        for each in ways.judge(replay.of_publications(block) for _, block in blocks):
            if isinstance(each, Rejection):
                yield each
            else:
                yield PassedBlock(f"{replay.SUBSCRIPTIONS}/{each[0]:02}", each[1])

    return reduce


def _shares(context: RunContext) -> Reduce:
    """Holds the decisions about each subscription against its rows."""
    shares = Shares(context.run, _standing(context))

    def reduce(blocks: Iterable[Block]) -> Iterator[Found]:
        tally, found, decided = ShareTally(), list[Share](), list[replay.OfSubscriptions]()

        def rows() -> Iterator[StayRows]:
            for passed, block in blocks:
                if passed:
                    yield from rows_of(block)
                else:
                    decided.append(replay.of_subscriptions(block))

        for each in shares.judge(rows(), decided):
            if isinstance(each, Rejection):
                yield each
            elif isinstance(each, ShareTally):
                tally.add(each)
            else:
                found.append(each)
        yield ReportBlock(packed((astuple(tally), found if isinstance(context.setting, Measured) else [])))

    return reduce


def _conclude(setting: Setting, report: Report, summaries: Summaries, hindrances: set[str]) -> Report:
    tally = ShareTally()
    with ExitStack() as stack:
        write = stack.enter_context(table_of(setting)) if isinstance(setting, Measured) else None
        for _, _, block in summaries:
            counts, shares = msgspec.msgpack.decode(block, type=tuple[tuple[int, ...], list[Share]])
            tally.add(ShareTally(*counts))
            if write is not None:
                write(shares)
    judged = JudgedShares(**asdict(tally), left_out=tuple(sorted(hindrances)))
    return PruningReport(**{each.name: getattr(report, each.name) for each in fields(Report)}, similarity=judged)


SIMILARITY = Stages(
    SimilarityEmitter,
    (Stage(replay.PUBLICATIONS, _ways), Stage(replay.SUBSCRIPTIONS, _shares)),
    why_not_judged,
    _conclude,
)


# -- judging -----------------------------------------------------------------------------------------------------------


def _with_readings(setting: Setting, header: Header) -> Setting:
    """The readings that the header gives or, of a counterexample, its instance."""
    instance = header.more.get("instance")
    given = header.more.get("pruning", instance.get("pruning", {}) if isinstance(instance, dict) else {})
    try:
        readings = read_readings(Place("the header", "pruning", given), (header.policy,))
    except InstanceError as error:
        raise UsageError(str(error)) from None
    parameters = evolve(PruningParameters.of(header.policy), **dict(readings))
    if parameters.rows == "arrived":
        raise UsageError(
            'the header: pruning.rows: found "arrived"; traces under this reading are not judged, since the rows of a'
            ' snapshot do not tell of what they are: expected "updated"'
        )
    return evolve(setting, protocol=JudgingPruning(setting.overlay, header.policy, parameters))


JUDGING = Judging(
    PruningModel,
    _with_readings,
    PruningMeaning,
    pruning_in_trace,
    tables_of,
    frozenset((*SHORT, *SIGNALS)),
    at_home=True,
    stages=SIMILARITY,
)
