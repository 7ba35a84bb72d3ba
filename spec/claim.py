"""What a claim is: what a paper says, what it was read to mean, and what came out."""

from __future__ import annotations

from typing import Literal

from attrs import frozen


@frozen
class Claim:
    """`property` is the claim as a predicate. `instances`: where it is asked again; all of routing where none is."""

    id: str
    paper: str
    says: str
    reading: str
    verdict: Literal["holds", "fails", "holds with hypotheses"]
    scope: str
    property: str
    trace: str | None = None
    instances: tuple[str, ...] = ()
