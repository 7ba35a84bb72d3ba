"""Claims of papers that fail: do the counterexamples that ship still show it?"""

from __future__ import annotations

from importlib.resources import as_file, files
from importlib.resources.abc import Traversable

from routeproof.checker.errors import UsageError
from routeproof.checker.outcome import Failure
from routeproof.checker.replay import replay_file
from routeproof.spec.claims import CLAIMS, Claim
from routeproof.spec.properties import PROPERTIES

CORPUS = files("routeproof.traces").joinpath("corpus")


def unshown(corpus: Traversable = CORPUS) -> list[Failure]:
    """A failure for each claim that is said to fail and whose trace does not show it any more."""
    broken = ((claim, _why(claim, corpus.joinpath(claim.trace))) for claim in CLAIMS.values() if claim.trace)
    return [Failure(claim.id, f"{claim.trace}: {why}") for claim, why in broken if why]


def _why(claim: Claim, trace: Traversable) -> str:
    if not trace.is_file():
        return "is not there"
    try:
        with as_file(trace) as path:
            replayed = replay_file(path)
    except UsageError as error:
        return str(error)
    if replayed.counterexample.property != PROPERTIES[claim.property]:
        return f"is a counterexample to something else than {claim.property}"
    return "" if replayed.difference is None else f"is no counterexample any more: {replayed.difference}"
