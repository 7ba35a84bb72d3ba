"""Counterexamples that are written down: a trace for each obligation that is refuted by a world."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from routeproof.checker.prove.outcome import Judged
from routeproof.traces import save

Traces = dict[tuple[str, str], Path]
"""By theorem and obligation."""


def write_traces(judged: Iterable[Judged], directory: Path) -> Traces:
    return {
        (each.id, settled.name): _write(f"prove-{each.id}-{settled.name}", settled.trace, directory)
        for each in judged
        for settled in each.obligations
        if settled.trace
    }


def _write(name: str, text: str, directory: Path) -> Path:
    """To a file that is called so; a different one there stays."""
    stem, number = re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-"), 1
    directory.mkdir(parents=True, exist_ok=True)
    while True:
        path = directory / f"{stem}{f'-{number}' if number > 1 else ''}.jsonl"
        if save(path, text, replace=False) or path.read_bytes() == text.encode():
            return path
        number += 1
