"""Full disks: files may grow to some size and no further, targets are devices that are full, directories are gone.

A failure is told even where its trace, its report or its checkpoint cannot be written. A file is there as a whole, is
the older one or is not there.
"""

from __future__ import annotations

import contextlib
import resource
from collections.abc import Iterator
from functools import partial
from random import Random

from attrs import frozen

from tests.attack import damage, sources
from tests.attack.case import Case, joined
from tests.attack.command import Command, Ran
from tests.checker.validate.walks import Row

OLD = b'{"old": true}\n'
"""What stands in a target before."""


@frozen
class Work:
    """A command that writes. `finds` is its exit code where the disk has room."""

    argv: tuple[str, ...]
    targets: tuple[str, ...]
    leaves: tuple[str, ...]
    finds: int


CHECK = ("check", "tiny", "--policy", "active", "--workers", "1")
WORKS = (
    Work((*CHECK, "--json", "r.json", "--junit", "r.xml"), ("r.json", "r.xml"), ("r.json", "r.xml"), 0),
    Work(
        (*CHECK, "--mutant", "removals-first", "--traces", "found", "--json", "r.json"),
        ("r.json",),
        ("found/*.jsonl", "r.json"),
        1,
    ),
    Work((*CHECK, "--max-states", "60", "--checkpoint", "c"), (), ("c",), 3),
    Work(
        (*CHECK, "--mutant", "removals-first", "--max-states", "130", "--checkpoint", "c"),
        (),
        ("c", "traces/found/*.jsonl"),
        1,
    ),
    Work(("validate", "t.jsonl", "--json", "r.json", "--metrics", "m"), ("r.json",), ("r.json", "m/*.parquet"), 0),
    Work(("validate", "bad.jsonl", "--json", "r.json"), ("r.json",), ("r.json",), 1),
    Work(("show", "t.jsonl", "-o", "s.txt"), ("s.txt",), ("s.txt",), 0),
    Work(("show", "t.jsonl", "--format", "mermaid", "-o", "d.mmd"), ("d.mmd",), ("d.mmd",), 0),
    Work(("shrink", "found.jsonl", "-o", "small.jsonl"), ("small.jsonl",), ("small.jsonl",), 0),
    Work(
        ("run", "stock", "--scale", "0.0001", "--out", "out", "--trace"),
        (),
        ("out/*.parquet", "out/*.svg", "out/summary.json", "out/trace.jsonl"),
        0,
    ),
)


def case(rng: Random) -> Case:
    work = rng.choice(WORKS)
    room = rng.choice((0, 0, 1, 100, 511, 4096, int(2 ** rng.uniform(0, 17))))
    files = {name: b"".join(map(damage.line, rows)) for name, rows in _traces().items()}
    if rng.random() < 0.4:
        files |= dict.fromkeys(work.targets, OLD)
    argv = work.argv
    if work.targets and rng.random() < 0.15:
        target = rng.choice(work.targets)
        argv = tuple("full" if word == target else word for word in argv)
        room = -1
    words = joined((" ".join(argv), f"room for {room} bytes" if room >= 0 else ""))
    return Command(words, argv, files, work.leaves, judge=partial(_lost, work=work), within=partial(_room, room))


def _traces() -> dict[str, list[Row]]:
    run = sources.good(Random(1))
    spoilt = sources.spoilt(Random(1), ("a delivery missing",))
    return {"t.jsonl": run.rows, "bad.jsonl": spoilt.rows, "found.jsonl": sources.counterexample(Random(1)).rows}


@contextlib.contextmanager
def _room(size: int) -> Iterator[None]:
    """Files of this process may have `size` bytes and no more; -1 is no limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size if size >= 0 else soft, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def _lost(ran: Ran, work: Work) -> Iterator[str]:
    """Complaints where what was found is not told, or what could not be written is half there."""
    if ran.code not in (work.finds, 2):
        yield f"exit code {ran.code}; expected {work.finds}, or 2 where something could not be written"
    if work.finds == 1 and ran.code == 2 and not ran.out and work.argv[0] == "check":  # others need room for their work
        yield "a failure was found, and nothing tells it"
    if ran.code == 2:
        return
    for name in work.targets:
        data = ran.written(name)
        if name in ran.argv and data in (None, OLD) and not ran.err:
            yield f"{name} was not written, and nothing tells it"
