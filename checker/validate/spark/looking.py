"""A second look (`again`) in the workers: at blocks of lines that were kept, or at row groups once more."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from routeproof.checker.validate.again import Met, likely, met
from routeproof.checker.validate.packing import name_of, packed
from routeproof.checker.validate.setting import Setting
from routeproof.checker.validate.spark import groups
from routeproof.checker.validate.spark.columns import Batch, batches, rows_of
from routeproof.checker.validate.spark.parts import numbered
from routeproof.model.filters import dialect
from routeproof.traces.parquet_reader import Rows

MET = "data binary"
"""What was found."""


def in_blocks(setting: Setting, told: Any, found: Iterator[Batch]) -> Iterator[Batch]:
    """For `mapInArrow`: blocks of lines in, `MET` out. `told`: what is looked for, broadcast."""
    yield from batches(MET, ((packed(each),) for each in _of_blocks(setting, told.value, rows_of(found))))


def _of_blocks(setting: Setting, wanted: frozenset[Any], blocks: Iterator[dict[str, Any]]) -> Iterator[Met]:
    whose, how = {(run, broker) for run, broker, _ in wanted}, dialect(setting.dialect)
    for block in blocks:
        if (name_of(block["run"]), name_of(block["broker"])) in whose:
            yield from met(numbered(block, how), setting, wanted)


def in_groups(path: str, setting: Setting, told: Any, found: Iterator[Batch]) -> Iterator[Batch]:
    """For `mapInArrow`: numbers of row groups in, `MET` out."""
    yield from batches(MET, ((packed(each),) for each in _of_groups(path, setting, told.value, rows_of(found))))


def _of_groups(path: str, setting: Setting, wanted: frozenset[Any], asked: Iterator[dict[str, Any]]) -> Iterator[Met]:
    for row in asked:
        for rows in groups.rows(Path(path), row["number"]):
            if isinstance(rows, Rows):
                yield from met(likely(rows, wanted), setting, wanted)


def decode(data: bytes) -> Met:
    return msgspec.msgpack.decode(data, type=Met)
