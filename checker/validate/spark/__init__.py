"""Validation as a job on Spark: the same judgement as `local`, spread over cores or machines.

`groups` plans which part of a trace is judged where, `parts` reads and replays parts in the workers, and `joins` brings
together what parts set aside: both ends of a link, a publication and its deliveries. `job` is the whole of it. The
verdict and every rejection are those of the local engine, however the work is divided.

This module has the rows between the stages of the job. They are few and large: a block of lines, a block of a link's
rows. Names are bytes, since JSON can write names that a column of text cannot hold. Before its parts are judged,
workers together look for what clients will subscribe to and for the entries of publications (`find_out`): brokers stand
one after the other in a part's task, and each meets all publications.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from io import BufferedReader
from pathlib import Path
from typing import Any

import msgspec
from attrs import frozen

from routeproof.checker.spark.rows import Batch, batches, rows_of
from routeproof.checker.validate.broker.judge import Announced, Judge
from routeproof.checker.validate.broker.publications import SharedEntries, Written
from routeproof.checker.validate.setting import Setting
from routeproof.checker.validate.store import packed
from routeproof.traces import TraceError

CODEC = "lz4_raw"
"""The cheapest there is; zstd shrinks lines further, and takes longer than what that saves."""

BLOCKS = (
    "run binary, broker binary, place long, kind int, events long, "
    "starts boolean, bare boolean, lines binary, data binary"
)
"""Lines of one broker, from one place of the file. `lines` are their numbers; `starts`: a part may begin with the first
of them; `bare`: they have a delivery that does not say for which subscription it is. `BAD`: how many lines there were,
and which of these are bad. `AHEAD`: no lines, but the subscriptions that clients make in them; `PUBLISHED`: what they
publish, in so many `events`."""
LINES, BAD, AHEAD, PUBLISHED = range(4)

RESULTS = "kind int, run binary, near binary, far binary, end string, part long, first long, data binary"
"""Schema of a part's results. `near` is the broker of `FOUND` and of `CLIENT`."""
FOUND, UNREADABLE, LINK, CLIENT, REJECTION, CONTROL, PUBLICATIONS, ON_THE_WAY = range(8)
PASSED, EMITTED, SUMMARY = range(8, 11)
"""Rows of stages under the `end` of their key: blocks that a stage passed on or a part emitted, and summaries."""
SURE_CONTROL, SURE_PUBLICATIONS, WRONG, EXTENT, PASSAGES = range(12, 17)
"""`SURE_...`: spans whose times are believed, where others are not; `WRONG`: a link over
which came what was not sent; `EXTENT`: how much was judged; `PASSAGES`: when messages passed a link."""


def squeezed(data: bytes) -> bytes:
    """Lines, for their way through Spark, which costs by the byte: they shrink to a tenth or so."""
    import pyarrow as pa

    return len(data).to_bytes(8, "little") + bytes(pa.Codec(CODEC).compress(data, asbytes=True))


def unsqueezed(data: bytes) -> bytes:
    import pyarrow as pa

    size = int.from_bytes(data[:8], "little")
    return bytes(pa.Codec(CODEC).decompress(memoryview(data)[8:], size, asbytes=True))


# -- the trace ---------------------------------------------------------------------------------------------------------


def opened(path: Path) -> BufferedReader:
    try:
        return path.open("rb")
    except OSError as error:
        why = error.strerror or error
        raise TraceError(f"{path}: a worker cannot read it: {why}; workers read a trace by the same name") from None


# -- known in advance --------------------------------------------------------------------------------------------------

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
