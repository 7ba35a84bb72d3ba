"""Proofs that were found before, by the text of everything that a proof comes from.

A theorem's obligations, and what Z3 answers, come from code: the theorem and its theory, the judge, the model, and the
instances that ship. The record (`proved.json`) has the files that were loaded when the theorems were judged, and the
digest of their text, of the version of Z3 and that of Python (`tests/digests.py`). While it is what it was, nothing has
changed of which a proof could depend, and the daily tests do not ask again. A campaign asks everything, and so does a
daily run after any of that text has changed:

    .venv/bin/python -m tests.checker.prove.proved

judges all theorems that are not recorded and writes the file anew, and that of single tests (`tests/shown.py`). Nothing
of routeproof itself reads it: `routeproof prove` asks Z3 always.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from multiprocessing import get_context
from pathlib import Path

from routeproof.checker.check import cores
from tests import digests, shown

ANSWERS = "answers in "
RECORD = Path(__file__).with_name("proved.json")

Row = list[str | int]


def recorded() -> dict[str, Row]:
    """Returns what was judged when all was as it is now: by theorem its verdict and how many obligations it has, by
    instance that its answers are allowed and how many there are.
    """
    theorems, _ = read(RECORD)
    return theorems


@cache
def read(record: Path) -> tuple[dict[str, Row], frozenset[str]]:
    """Returns what is recorded, and the files that were loaded then; nothing if they have changed."""
    if record.exists():
        found = json.loads(record.read_text(encoding="utf-8"))
        if found["key"] == digests.key(found["loaded"]):
            return found["theorems"], frozenset(found["loaded"])
    return {}, frozenset()


def write(theorems: dict[str, Row], loaded: Iterable[str]) -> None:
    rows = ",\n".join(f"  {json.dumps(id)}: {json.dumps(row)}" for id, row in theorems.items())
    files = json.dumps(sorted(loaded), indent=2)
    text = f'{{"key": "{digests.key(loaded)}",\n "loaded": {files},\n "theorems": {{\n{rows}\n}}}}\n'
    RECORD.write_text(text, encoding="utf-8")


def everything_to_judge() -> list[str]:
    """Returns what the record is to have: theorems, and instances whose answers are judged."""
    from tests.checker.prove import test_refine_everywhere, test_theorems

    theorems = [id for id in test_theorems.EXPECTED if id not in test_theorems.ELSEWHERE]
    return [*theorems, *(ANSWERS + name for name in test_refine_everywhere.NAMES)]


def judged(id: str) -> tuple[str, Row, frozenset[str]]:
    """Returns the row of the record with its id, and the files that are loaded once it is judged."""
    from tests.checker.prove import test_refine_everywhere, test_theorems

    if id.startswith(ANSWERS):
        return id, [*test_refine_everywhere.judged(id.removeprefix(ANSWERS))], digests.loaded()
    return id, [*test_theorems.measured(id)], digests.loaded()


def main() -> None:
    """Judges what is not recorded, on all cores; each process ends after a few, and its memory with it."""
    known, loaded = read(RECORD)
    known, order = dict(known), everything_to_judge()
    missing = [id for id in reversed(order) if id not in known]
    with get_context("spawn").Pool(cores(), maxtasksperchild=8) as pool:
        for id, row, files in pool.imap_unordered(judged, missing):
            known[id] = row
            loaded |= files
            print(id, *row, flush=True)
            write({id: known[id] for id in order if id in known}, loaded)
    shown.renew()


if __name__ == "__main__":
    main()
