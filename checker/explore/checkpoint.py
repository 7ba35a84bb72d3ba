"""Checkpoints: a search written down between two chunks, to be taken up later with an identical result.

A checkpoint holds arrays of integers and a JSON header, never an object: the questions that were put to the model are
asked again in the order of the log, which gives every component its old id, and tells at once whether the model still
answers as it did. A file that does not fit the search is refused.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from routeproof.checker.errors import UsageError
from routeproof.checker.explore.columns import Columns
from routeproof.checker.explore.keyindex import KeyIndex
from routeproof.checker.explore.search import Search
from routeproof.model.instance_file import to_table

FORMAT = 1

_UNREADABLE = (OSError, ValueError, LookupError, TypeError, AttributeError, zipfile.BadZipFile, EOFError)


def save(search: Search, path: Path) -> None:
    """Write atomically: a search that is interrupted while it saves keeps its older checkpoint."""
    header = {
        "format": FORMAT,
        "question": question(search),
        "sizes": list(search.questions.sizes),
        "widths": list(search.columns.widths),
        "levels": search.levels,
        "next": search.next,
        "transitions": search.transitions,
        "terminals": search.terminals,
        "stuck": search.stuck,
        "full": getattr(search, "full", None),
        "spent": search.spent,
        "tallies": {id: [t.exercised, t.violation, t.witness] for id, t in search.judge.tallies.items()},
    }
    arrays: dict[str, Any] = {
        "header": np.frombuffer(json.dumps(header).encode(), np.uint8),
        "log": np.array(search.questions.log, np.int32).reshape(-1, 4),
        "keys": search.visited.keys,
    }
    for r, round_ in enumerate(search.columns.pairs):
        for i, index in enumerate(round_):
            arrays[f"pair_{r}_{i}"] = index.keys
    for name in ("parent", "action", "degree", "target"):
        arrays[name] = getattr(search.graph, name).all
    for i, fired in enumerate(search.expander.fired):
        arrays[f"fired_{i}"] = fired
    partial = path.with_name(path.name + ".partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with partial.open("wb") as file:
            np.savez(file, **arrays)
        partial.replace(path)
    except OSError as error:
        raise UsageError(f"{path}: the checkpoint cannot be written: {error.strerror}") from None


def load(search: Search, path: Path) -> None:
    """Take up a saved search; `search` must be new and ask the same question."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            header = json.loads(bytes(arrays["header"]))
            if header["format"] != FORMAT:
                raise UsageError(f"{path}: a checkpoint of format {header['format']}; expected {FORMAT}")
            if header["question"] != question(search):
                raise UsageError(
                    f"{path}: the checkpoint is of another instance, policy, mutant, reduction or set of properties; "
                    "remove it or name another file"
                )
            _restore(search, header, arrays)
            if list(search.questions.sizes) != header["sizes"]:
                raise UsageError(f"{path}: the model answers differently from when this was saved; remove the file")
    except UsageError:
        raise
    except _UNREADABLE as error:
        raise UsageError(f"{path}: not a checkpoint of routeproof ({type(error).__name__})") from None


def question(search: Search) -> str:
    """A digest of what is asked: two searches with the same one take the same steps."""
    world = search.world
    asked = [
        to_table(world.instance),
        world.policy,
        world.mutant,
        type(search).__name__,
        [p.id for p in search.properties],
    ]
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()


def _restore(search: Search, header: dict[str, Any], arrays: Any) -> None:
    search.questions.replay(arrays["log"])
    search.columns = Columns(header["widths"])
    for r, round_ in enumerate(search.columns.pairs):
        for i, index in enumerate(round_):
            _fill(index, arrays[f"pair_{r}_{i}"])
    _fill(search.visited, arrays["keys"])
    for name in ("parent", "action", "degree", "target"):
        getattr(search.graph, name).extend(arrays[name])
    search.expander.fired = [arrays[f"fired_{i}"] for i in range(len(search.expander.fired))]
    search.levels, search.next = header["levels"], header["next"]
    search.transitions, search.terminals = header["transitions"], header["terminals"]
    search.stuck, search.spent = header["stuck"], header["spent"]
    if header["full"] is not None:
        search.full = header["full"]  # type: ignore[attr-defined]  # only a symmetric search counts orbits
    for id, (exercised, violation, witness) in header["tallies"].items():
        tally = search.judge.tallies[id]
        tally.exercised, tally.violation, tally.witness = exercised, violation, witness


def _fill(index: KeyIndex, keys: Any) -> None:
    """Keys arrive in id order, so they get their old ids."""
    for first in range(0, len(keys), 1 << 16):
        index.intern(keys[first : first + (1 << 16)])
