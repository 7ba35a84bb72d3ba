"""What is said of similarity in the end: a report that tells what was judged, and `similarity.parquet`."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType

import pyarrow as pa
import pyarrow.parquet as pq
from attrs import asdict, field, fields, frozen

from routeproof.checker.validate.metrics.asked import Measured, plain
from routeproof.checker.validate.order import SEEN_BY_CLIENTS
from routeproof.checker.validate.part import Found
from routeproof.checker.validate.pruning.shares import WHOLE, Share, Tally
from routeproof.checker.validate.rejection import Rejection
from routeproof.checker.validate.report import Report
from routeproof.checker.validate.setting import Setting

FILE = "similarity.parquet"


@frozen
class Judged:
    """`Tally`, for good. `left_out`: runs in which similarity was not judged, and why."""

    pairs: int = 0
    rows: int = 0
    exact: int = 0
    decisions: int = 0
    unjudged: int = 0
    deviation: int = 0
    left_out: tuple[str, ...] = ()

    @classmethod
    def of(cls, tally: Tally, left_out: Iterable[str]) -> Judged:
        return cls(**asdict(tally), left_out=tuple(sorted(left_out)))

    @property
    def lines(self) -> list[str]:
        """For people."""
        most = f"{100 * self.deviation / WHOLE:.1f} percent"
        judged = f"{self.decisions:,} decisions held against it, the database of one off by {most} at most"
        found = [f"similarity of {self.pairs:,} subscriptions with an advertisement: {judged}"]
        if self.rows:
            outside = self.rows - self.exact
            found.append(f"{self.exact:,} of {self.rows:,} rows held against it; {outside:,} not judged: out of scope")
        if self.unjudged:
            found.append(
                f"{self.unjudged:,} decisions not judged: nobody can say of which withdrawal, or what was sent"
            )
        return found + [f"similarity not judged: {why}" for why in self.left_out]


@frozen
class PruningReport(Report):
    """`similarity` is no part of the verdict: what is wrong with it is among the rejections."""

    similarity: Judged = Judged()

    @property
    def remarks(self) -> list[str]:
        """For people."""
        return self.similarity.lines


def with_similarity(report: Report, judged: Judged) -> PruningReport:
    return PruningReport(**{each.name: getattr(report, each.name) for each in fields(Report)}, similarity=judged)


def why_not_judged(setting: Setting, run: str, found: Iterable[Found], rejections: Iterable[Rejection]) -> str | None:
    """Why nothing is said of a run's similarity; None where it is judged. `rejections`: of brokers, links, clients."""
    if not setting.replays:
        return "the brokers' steps are not replayed"
    if any(each.run == run and each.rule not in SEEN_BY_CLIENTS for each in rejections):
        return f"run {plain(run)}: a step or a link is wrong, so that nobody knows what databases held"
    if any(each.run == run and each.faults for each in found):
        return f"run {plain(run)}: brokers crashed or messages were dropped"
    return None


# -- the file ----------------------------------------------------------------------------------------------------------

NUMBERS = ("hops", "came", "similar", "held", "near", "true_near", "exact")


@frozen
class Table:
    """Rows come run by run, and within it bucket by bucket. The file appears whole."""

    target: Path
    _part: Path = field(init=False)
    _writer: pq.ParquetWriter = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.target.mkdir(parents=True, exist_ok=True)
        object.__setattr__(self, "_part", self.target / f".{FILE}.{os.getpid()}.part")
        object.__setattr__(self, "_writer", pq.ParquetWriter(self._part, _schema(), compression="zstd"))

    def write(self, shares: list[Share]) -> None:
        if shares:
            columns = [list(map(plain, c)) if isinstance(c[0], str) else list(c) for c in zip(*shares, strict=True)]
            arrays = [pa.array(c, kind) for c, kind in zip(columns, _schema().types, strict=True)]
            self._writer.write_table(pa.Table.from_arrays(arrays, schema=_schema()))

    def __enter__(self) -> Table:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._writer.close()
        if kind is None:
            self._part.replace(self.target / FILE)
        else:
            self._part.unlink(missing_ok=True)


def table_of(setting: Setting) -> Table | None:
    """Where metrics are asked for, similarities are written beside them."""
    return Table(setting.target) if isinstance(setting, Measured) else None


def _schema() -> pa.Schema:
    word = pa.dictionary(pa.int32(), pa.string())
    return pa.schema([(name, pa.int64() if name in NUMBERS else word) for name in Share._fields])
