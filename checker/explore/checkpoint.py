"""Checkpoints: a search written down where nothing of it is torn, to be taken up later with an identical result.

A checkpoint holds arrays of integers and a JSON header, never an object. On resuming, the questions are put to the
model again in the order of the log, which gives every component its old id and shows whether the model still answers as
it did. The file ends with a checksum of all that is before it, and nothing is read before that is right; sizes are held
to the size of the file. What can be computed from the transitions is computed and not believed. A file that does not
fit the search is refused.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from routeproof.checker.explore.columns import KeyIndex, RowKeys
from routeproof.checker.explore.interned import Interned
from routeproof.checker.explore.search import Search
from routeproof.checker.system import interrupts
from routeproof.checker.system.errors import UsageError
from routeproof.checker.system.files import whole
from routeproof.model.instance_file import to_table

MAGIC = b"routeproof checkpoint 2\n"
LENGTH = 8
"""Bytes of the number that says how long the header is."""
BLOCK = 1 << 20
"""Bytes, or rows, that are read at a time."""
WIDEST = 40
"""Bits of the widest column."""
REMOVE = "remove it to begin anew, or name another file"
KINDS = ("uint64", "int64", "int32", "uint16")

_BROKEN = (ValueError, LookupError, TypeError, AttributeError, AssertionError, OverflowError, RecursionError)
"""Whatever reading a header that is none may raise."""


class _Damaged(ValueError):
    """A part of the checkpoint contradicts another."""


def save(search: Search, path: Path) -> None:
    """Writes the checkpoint whole or not at all, and returns when the system has it on disk. Raises OSError."""
    arrays = _arrays(search)
    header = {
        "version": version("routeproof"),
        "question": question(search),
        "arrays": [[name, str(array.dtype), len(array)] for name, array in arrays.items()],
        "sizes": list(search.questions.sizes),
        "values": _values(search),
        "widths": list(search.columns.widths),
        "pairs": [len(round_) for round_ in search.columns.pairs],
        "judged": search.judged,
        "extra": search.extra(),
        "spent": search.spent,
        "tallies": {id: [t.exercised, t.violation, t.witness] for id, t in search.judge.tallies.items()},
    }
    with whole(path) as part, part.open("wb") as file:
        _write(file, json.dumps(header).encode(), arrays)
        file.flush()
        os.fsync(file.fileno())
    with suppress(OSError, AttributeError):  # a system that cannot sync directories
        directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)


def load(search: Search, path: Path) -> None:
    """Takes up a saved search; `search` must be new and ask the same question."""
    if not path.is_file():
        raise UsageError(f"{path}: is no regular file; expected a checkpoint of routeproof, or no file")
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        _refuse_wrong_checksum(file, size, path)
        try:
            file.seek(len(MAGIC))
            length = int.from_bytes(file.read(LENGTH), "little")
            header = json.loads(file.read(length))
            if header["version"] != version("routeproof"):
                raise UsageError(
                    f"{path}: a checkpoint of routeproof {header['version']}; this is {version('routeproof')}; {REMOVE}"
                )
            if header["question"] != question(search):
                raise UsageError(
                    f"{path}: the checkpoint is of another instance, policy, mutant, reduction or set of properties; "
                    f"{REMOVE}"
                )
            arrays = _read(file, header["arrays"], size - len(MAGIC) - LENGTH - length - hashlib.sha256().digest_size)
            _restore(search, header, arrays, path)
        except (UsageError, *_BROKEN) as error:
            if interrupts.came():  # what a signal tears looks like damage
                raise interrupts.Interrupted from None
            if isinstance(error, UsageError):
                raise
            why = str(error) if isinstance(error, _Damaged) else "its parts do not fit together"
            raise UsageError(f"{path}: the checkpoint contradicts itself ({why}); {REMOVE}") from None


def question(search: Search) -> str:
    """Returns a digest of the request: two searches with the same digest take the same steps."""
    world = search.world
    ids = [p.id for p in search.properties]
    asked = [to_table(world.instance), world.policy, world.mutant, type(search).__name__, ids]
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()


# -- bytes -------------------------------------------------------------------------------------------------------------


def _arrays(search: Search) -> dict[str, NDArray[Any]]:
    arrays: dict[str, NDArray[Any]] = {
        "log": np.array(search.questions.log, np.int32).reshape(-1),
        "keys": search.visited.keys,
    }
    for r, round_ in enumerate(search.columns.pairs):
        for i, index in enumerate(round_):
            arrays[f"pair {r} {i}"] = index.keys
    for name in ("action", "degree", "target"):
        arrays[name] = getattr(search.graph, name).all
    for i, fired in enumerate(search.expander.fired):
        arrays[f"fired {i}"] = fired
    return arrays


def _write(file: BinaryIO, header: bytes, arrays: dict[str, NDArray[Any]]) -> None:
    digest = hashlib.sha256()

    def put(part: Any) -> None:
        digest.update(part)
        file.write(part)

    put(MAGIC)
    put(len(header).to_bytes(LENGTH, "little"))
    put(header)
    for array in arrays.values():
        for first in range(0, len(array), BLOCK):
            put(np.ascontiguousarray(array[first : first + BLOCK]).data.cast("B"))
    file.write(digest.digest())


def _refuse_wrong_checksum(file: BinaryIO, size: int, path: Path) -> None:
    digest = hashlib.sha256()
    left = size - digest.digest_size
    begins = file.read(len(MAGIC))
    if begins[:2] == b"PK":
        raise UsageError(f"{path}: a checkpoint of an older routeproof, or another kind of file; {REMOVE}")
    if begins != MAGIC or left < len(MAGIC) + LENGTH:
        raise UsageError(f"{path}: not a checkpoint of routeproof; {REMOVE}")
    digest.update(begins)
    left -= len(begins)
    while left > 0 and (block := file.read(min(BLOCK, left))):
        digest.update(block)
        left -= len(block)
    if left or file.read() != digest.digest():
        raise UsageError(f"{path}: the checkpoint is damaged: its checksum differs; {REMOVE}")


def _read(file: BinaryIO, table: list[Any], size: int) -> dict[str, NDArray[Any]]:
    """The arrays that a header lists; they fill the file exactly."""
    kinds = [(name, np.dtype(kind), count) for name, kind, count in table if kind in KINDS and _is_count(count)]
    _hold(len(kinds) == len(table) == len({name for name, _, _ in kinds}), "its table of arrays")
    _hold(sum(kind.itemsize * count for _, kind, count in kinds) == size, "the sizes of its arrays")
    return {name: np.fromfile(file, kind, count) for name, kind, count in kinds}


def _is_count(number: Any, most: int = 1 << 62) -> bool:
    return type(number) is int and 0 <= number <= most


def _hold(fits: Any, what: str) -> None:
    if not fits:
        raise _Damaged(what)


def _values(search: Search) -> str:
    """A digest of what the model answered: every component's values in the order of their ids."""
    q, digest = search.questions, hashlib.sha256()
    components: list[Interned[Any]] = [*q.locals, *q.queues, q.histories, *(ghost.values for ghost in q.ghosts)]
    for component in components:
        for value in component.values:
            digest.update(repr(value).encode())
    return digest.hexdigest()


# -- a search from its arrays ------------------------------------------------------------------------------------------


def _restore(search: Search, header: dict[str, Any], arrays: dict[str, NDArray[Any]], path: Path) -> None:
    search.take_up(header["extra"])
    log = arrays["log"]
    _hold(log.dtype == np.int32 and len(log) % 4 == 0, "its log")
    _hold(search.questions.replay(log.reshape(-1, 4)), "its log")
    if list(search.questions.sizes) != header["sizes"] or _values(search) != header["values"]:
        raise UsageError(f"{path}: the model answers differently from when this was saved; {REMOVE}")
    _restore_states(search, header, arrays)
    _restore_graph(search, arrays)
    _restore_tallies(search, header)
    for i, known in enumerate(search.expander.fired):
        fired = arrays[f"fired {i}"]
        _hold(fired.dtype == known.dtype and len(fired) <= len(search.questions.outcomes[i]), "what fired")
        _hold((fired >= 0).all() and fired.sum() <= search.transitions, "what fired")
        search.expander.fired[i] = fired
    spent = header["spent"]
    _hold(type(spent) is float and 0 <= spent < 1e12, "its time")
    search.spent = spent


def _restore_states(search: Search, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
    widths, sizes = header["widths"], search.questions.sizes
    _hold(len(widths) == len(sizes) and all(_is_count(w, WIDEST) and w for w in widths), "its widths")
    search.columns = RowKeys(widths)
    _hold([len(round_) for round_ in search.columns.pairs] == header["pairs"], "its pairs")
    for r, round_ in enumerate(search.columns.pairs):
        for i, index in enumerate(round_):
            _fill(index, arrays[f"pair {r} {i}"])
    _fill(search.visited, arrays["keys"])
    _hold(search.states, "it has no states")
    for first, last in _blocks(search.states):
        columns, words = search.columns_of(first, last)
        again = zip(search.columns.pack(columns), words, strict=True)
        _hold(all((a == b).all() for a, b in again), "a state that is wider than its columns")
        _hold(all((c < size).all() for c, size in zip(columns, sizes, strict=True)), "a state of unknown parts")
        _hold(first or not any(c[0] for c in columns), "its initial state")


def _fill(index: KeyIndex, keys: NDArray[Any]) -> None:
    """Keys arrive in id order, so they get their old ids."""
    _hold(keys.dtype == np.uint64, "its keys")
    for first, last in _blocks(len(keys)):
        index.intern(keys[first:last])
    _hold(index.size == len(keys), "a state that occurs twice")


def _restore_graph(search: Search, arrays: dict[str, NDArray[Any]]) -> None:
    """Parents, levels, terminal states: all from the transitions, in which each state is met in the order of ids."""
    action, degree, target = (arrays[name] for name in ("action", "degree", "target"))
    graph = search.graph
    kinds = [grown.all.dtype for grown in (graph.action, graph.degree, graph.target)]
    _hold([action.dtype, degree.dtype, target.dtype] == kinds, "its graph")
    _hold(len(action) == search.states and (action < len(search.world.actions)).all(), "its actions")
    _hold(len(degree) <= search.states and int(degree.sum(dtype=np.int64)) == len(target), "its transitions")
    known = np.maximum.accumulate(np.concatenate([np.zeros(1, np.int32), target]))
    fresh = np.flatnonzero(np.diff(known))
    _hold((target >= 0).all() and (np.diff(known) <= 1).all() and known[-1] == search.states - 1, "its targets")
    ends = np.cumsum(degree, dtype=np.int64)
    parents = np.concatenate([np.zeros(1, np.int32), np.searchsorted(ends, fresh, "right").astype(np.int32)])
    _hold((parents[1:] < np.arange(1, search.states)).all(), "a state that is reached from a later one")
    graph.parent.extend(parents)
    graph.action.extend(action)
    graph.degree.extend(degree)
    graph.target.extend(target)
    search.transitions = len(target)
    search.levels = [0]
    while search.levels[-1] < len(degree):
        first = search.levels[-1]
        search.levels.append(int(known[ends[first - 1]]) + 1 if first else 1)
        _hold(search.levels[-1] > first, "its levels")
    for first, last in _blocks(len(degree)):
        search.next = first
        columns, _ = search.columns_of(first, last)
        search.note_terminals(columns, degree[first:last])
    search.next = len(degree)


def _restore_tallies(search: Search, header: dict[str, Any]) -> None:
    judged = header["judged"]
    _hold(_is_count(judged, search.states), "what was judged")
    search.judged = judged
    _hold(header["tallies"].keys() == search.judge.tallies.keys(), "its properties")
    for id, (exercised, violation, witness) in header["tallies"].items():
        tally = search.judge.tallies[id]
        _hold(_is_count(exercised, judged), f"the tally of {id}")
        _hold(all(end is None or _is_count(end, judged - 1) for end in (violation, witness)), f"the tally of {id}")
        _hold((exercised > 0) == (witness is not None), f"the tally of {id}")
        _hold(violation is None or (witness is not None and witness <= violation), f"the tally of {id}")
        tally.exercised, tally.violation, tally.witness = exercised, violation, witness


def _blocks(size: int) -> Iterator[tuple[int, int]]:
    for first in range(0, size, 1 << 16):
        yield first, min(first + (1 << 16), size)
