"""Answers of engines: a `Result` with one `Finding` for each property.

Three values: holds, fails, unknown. A limit that was reached is never "holds", and the verdict comes with its bounds.
"""

from __future__ import annotations

import builtins
from pathlib import Path
from typing import Literal

from attrs import Factory, frozen

Verdict = Literal["holds", "fails", "unknown"]


@frozen
class Finding:
    """The verdict on one property. `run` is a shortest run to a violation (or, of a `sometimes`, to a witness)."""

    property: str
    kind: Literal["always", "sometimes"]
    verdict: Verdict
    exercised: int = 0
    run: tuple[str, ...] | None = None
    """Labels of the actions from the initial state: a replay token."""
    why: str = ""
    """Description of the violation at the end of the run."""
    trace: Path | None = None
    """Where the run is written. Only the fuzzer says so: only it knows the instance that it drew."""
    unwritten: str = ""
    """Why the fuzzer could not write the run."""

    @builtins.property  # `property` is a field here
    def failed(self) -> bool:
        return self.verdict == "fails"


@frozen
class Result:
    """One instance under one policy, by one engine."""

    instance: str
    protocol: str
    policy: str
    mutant: str | None
    engine: str
    states: int
    transitions: int
    depth: int
    complete: bool
    seconds: float
    findings: dict[str, Finding]
    rules: dict[str, int] = Factory(dict)
    """How often each rule fired, by transitions (explorer) or steps (fuzzer)."""
    stored: int = 0
    """States kept; fewer than `states` under a symmetry reduction."""
    reduction: tuple[str, ...] = ()
    examples: int = 0
    """How many runs the fuzzer drew."""
    limit: str = ""
    """Which limit was reached first; empty when complete."""
    unsaved: str = ""
    """The reason for which the requested checkpoint could not be written, if any."""
