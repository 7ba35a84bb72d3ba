"""What a claim is: what a paper says, what it was read to mean, and what came out."""

from __future__ import annotations

from typing import Literal

from attrs import frozen

Verdict = Literal["holds", "fails", "holds with hypotheses", "comes out", "comes out in part", "does not come out"]
"""Of a predicate, or of figures."""


@frozen
class Claim:
    """`property` is the claim as a predicate. `instances`: where it is asked again; all of routing where none is.

    Of figures `property` is the experiment or the benchmark that makes them again, `quantities` rows of its report.
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
