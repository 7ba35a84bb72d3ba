"""Damaged checkpoints: refused in one line, or without any effect on the result of the search."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import redirect_stdout
from functools import cache, partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from attrs import frozen

from routeproof.checker.cli import main
from tests.attack import damage
from tests.attack.case import Case, joined
from tests.attack.command import Command, Ran

SEARCHES: tuple[tuple[str, ...], ...] = (
    ("tiny", "--policy", "active"),
    ("tiny", "--policy", "lazy", "--reduction", "por"),
    ("line3", "--policy", "active", "--reduction", "symmetry"),
    ("loss2", "--policy", "none"),
    ("tiny", "--policy", "active", "--mutant", "removals-first"),
    ("prune3", "--policy", "incremental"),
)

NOT_COMPARED = ("seconds", "counterexample")


@frozen
class Saved:
    """A search that was cut short: its checkpoint, and what it finds when it is not cut short."""

    search: tuple[str, ...]
    checkpoint: bytes
    result: object


def case(rng: Random) -> Case:
    saved = _saved(rng.choice(SEARCHES), rng.choice((20, 60, 100)))
    about, data = spoil(rng, saved)
    argv = ("check", *saved.search, "--workers", "1", "--checkpoint", "c", "--json", "r.json", "--traces", "found")
    words = joined((" ".join(saved.search), about))
    return Command(words, argv, {"c": data}, ("c", "r.json", "found/*.jsonl"), judge=partial(other_result, saved=saved))


def other_result(ran: Ran, saved: Saved) -> Iterator[str]:
    """Complaints where a search that went on from the checkpoint found something else."""
    text = ran.written("r.json")
    if ran.code == 2:
        if ran.out or text is not None:
            yield "refused, and reported"
    elif text is None:
        yield f"exit code {ran.code} without a report"
    elif comparable(json.loads(text)) != saved.result:
        yield "the result is another one than that of the search that was not interrupted"


def comparable(report: object) -> object:
    """A report without what differs from run to run."""
    if isinstance(report, dict):
        return {key: comparable(each) for key, each in report.items() if key not in NOT_COMPARED}
    return [comparable(each) for each in report] if isinstance(report, list) else report


@cache
def _saved(search: tuple[str, ...], states: int) -> Saved:
    with TemporaryDirectory() as folder, redirect_stdout(io.StringIO()):
        at, report = Path(folder) / "c", Path(folder) / "r.json"
        common = ["check", *search, "--workers", "1", "--json", str(report), "--traces", f"{folder}/found"]
        main(common)
        result = comparable(json.loads(report.read_bytes()))
        main([*common, "--checkpoint", str(at), "--max-states", str(states)])
        return Saved(search, at.read_bytes(), result)


# -- damage ------------------------------------------------------------------------------------------------------------


def spoil(rng: Random, saved: Saved) -> tuple[str, bytes]:
    data = saved.checkpoint
    match rng.randrange(8):
        case 0 | 1:
            at = rng.randrange(len(data))
            return f"bit of byte {at}", data[:at] + bytes((data[at] ^ 1 << rng.randrange(8),)) + data[at + 1 :]
        case 2:
            return _digit(rng, data)
        case 3:
            return "bytes are damaged", damage.flip(data, rng)
        case 4:
            other = _saved(rng.choice(SEARCHES), rng.choice((20, 60, 100)))
            if rng.random() < 0.5:
                return f"the checkpoint of {' '.join(other.search)}", other.checkpoint
            at = rng.randrange(min(len(data), len(other.checkpoint)))
            return f"from byte {at} on that of {' '.join(other.search)}", data[:at] + other.checkpoint[at:]
        case 5:
            return rng.choice((("cut short", data[: rng.randrange(len(data))]), ("with more after it", data + data)))
        case _:
            return _member(rng, data)


def _digit(rng: Random, data: bytes) -> tuple[str, bytes]:
    """Another digit somewhere in a text, such as that of the header."""
    digits = [at for at, byte in enumerate(data) if 48 <= byte < 58]
    if not digits:
        return "bytes are damaged", damage.flip(data, rng)
    at = rng.choice(digits)
    return f"digit at byte {at}", data[:at] + bytes((48 + (data[at] - 48 + rng.randint(1, 9)) % 10,)) + data[at + 1 :]


def _member(rng: Random, data: bytes) -> tuple[str, bytes]:
    """A member of the archive damaged, and the archive put together again with sums of its own that are right."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
    except zipfile.BadZipFile:
        return "bytes are damaged", damage.flip(data, rng)
    name = rng.choice(sorted(members))
    match rng.randrange(6):
        case 0:
            del members[name]
            about = f"no {name}"
        case 1:
            other = rng.choice(sorted(members))
            members[name], members[other] = members[other], members[name]
            about = f"{name} and {other} are exchanged"
            if name == other:
                members[name] += b"\0"
        case 2:
            members[name] = _other_shape(rng, members[name])
            about = f"{name} has another shape"
        case 3:
            members[name] = bytes(64 << 20)
            about = f"{name} is a bomb"
        case _:
            members[name] = damage.flip(members[name], rng)
            about = f"{name} is damaged"
    return about, _zipped(members.items(), compressed=rng.random() < 0.3 or "bomb" in about)


def _other_shape(rng: Random, array: bytes) -> bytes:
    """A head of an array that promises more, or another type, in as many bytes."""
    end = array.find(b"\n")
    shape = rng.choice((b"(999999999999,)", b"(-1,)", b"(2,2,2)", b"(0,)", b"()"))
    kind = rng.choice((b"<i8", b"<f8", b"|O ", b"<U9", b"|u1", b"<c1"))
    head = b"{'descr': '" + kind + b"', 'fortran_order': False, 'shape': " + shape + b", }"
    return array[:10] + head.ljust(max(0, end - 10)) + array[end:]


def _zipped(members: Iterable[tuple[str, bytes]], *, compressed: bool) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return out.getvalue()
