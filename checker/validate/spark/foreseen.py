"""Advance knowledge of a trace before its parts are judged: future subscriptions, and the entries of publications.

Brokers stand one after the other in a part's task, and each meets all publications. Their entries are found
once, by all workers together, and given to all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from attrs import frozen

from routeproof.checker.validate.broker.part import Judge
from routeproof.checker.validate.clients.foreseen import Announced
from routeproof.checker.validate.fast.publications import SharedEntries, Written
from routeproof.checker.validate.names import packed
from routeproof.checker.validate.setting import Setting
from routeproof.checker.validate.spark.columns import Batch, batches, rows_of

TOLD = "data binary"

AT_A_TIME = 512
"""Publications in a row: so few that tasks get about as many."""


@frozen
class Foreseen:
    announced: Sequence[Announced] = ()
    told: Sequence[bytes] = ()


def judge_that_knows(setting: Setting, foreseen: Foreseen) -> Judge:
    judge = Judge(setting)
    judge.look_ahead(foreseen.announced)
    for data in foreseen.told:
        judge.dictionary.publications.believe(msgspec.msgpack.decode(data, type=SharedEntries))
    return judge


def in_rows(publications: Sequence[Written]) -> Iterator[tuple[int, bytes]]:
    """How many, and they."""
    for begin in range(0, len(publications), AT_A_TIME):
        some = publications[begin : begin + AT_A_TIME]
        yield len(some), packed(some)


def find_out(setting: Setting, announced: Any, found: Iterator[Batch]) -> Iterator[Batch]:
    """For `mapInArrow`: rows of publications in, as `data`, `TOLD` out. `announced`: broadcast."""
    judge = judge_that_knows(setting, Foreseen(announced.value))
    for row in rows_of(found):
        judge.dictionary.entries(msgspec.msgpack.decode(row["data"], type=list[Written]), judge.meanings)
    yield from batches(TOLD, [(msgspec.msgpack.encode(judge.dictionary.publications.told()),)])
