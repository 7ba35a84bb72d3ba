"""Claims: the statement of a paper, our reading of it, the outcome, and the repair where it breaks."""

from __future__ import annotations

from typing import Literal

from attrs import Factory, frozen

Verdict = Literal["holds", "fails", "holds with hypotheses", "comes out", "comes out in part", "does not come out"]
"""Outcome of a claim about a predicate, or about figures."""


@frozen
class Repair:
    """A statement that holds where a claim fails; `about` says why, or why nothing is specified that would.

    `readings` of `[pruning]`, or a `policy`, are the variant of the protocol under which the counterexample's clients
    keep the property. `holds` is the claim that says so, of instances that ship; where the protocol stays as it is, it
    asks for less than the one that fails.
    """

    about: str
    holds: str | None = None
    readings: dict[str, object] = Factory(dict)
    policy: str | None = None


@frozen
class Claim:
    """`property` is the claim as a predicate. `instances`: where it is evaluated again; all instances of routing if
    empty.

    Of figures `property` is the experiment or the benchmark that makes them again, `quantities` rows of its report.
    Exactly what fails has a `trace` and a `repair`.
    """

    id: str
    paper: str
    says: str
    reading: str
    verdict: Verdict
    scope: str
    property: str
    trace: str | None = None
    instances: tuple[str, ...] = ()
    quantities: tuple[str, ...] = ()
    repair: Repair | None = None
