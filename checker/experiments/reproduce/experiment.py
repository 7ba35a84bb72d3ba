"""Experiments: runs to be made, and how their outcomes become rows next to the paper's figures, and charts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Generic, Protocol, TypeVar

from attrs import frozen

from routeproof.checker.experiments.plots import Chart
from routeproof.impl.workloads import Recipe

Result = TypeVar("Result")
Result_co = TypeVar("Result_co", covariant=True)


class Job(Protocol[Result_co]):
    """One run. It can be handed to another process, and so can what it gives."""

    @property
    def name(self) -> str:
        """Unlike that of any other run of the experiment."""

    @property
    def recipe(self) -> Recipe: ...

    def run(self) -> Result_co: ...


@frozen
class Said:
    """A figure of a paper, as a number and as it stands there."""

    value: float
    text: str


def said(value: float, how: str = "") -> Said:
    return Said(value, f"{how} {value:,}".strip())


@frozen
class Row:
    """`ours` is nothing where a run gave none: no publication was delivered, say."""

    quantity: str
    algorithm: str
    paper: Said | None
    ours: float | None
    unit: str = ""
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """Ours to the paper's."""
        if self.paper is None or not self.paper.value or self.ours is None:
            return None
        return self.ours / self.paper.value


@frozen
class Findings:
    rows: Sequence[Row]
    charts: Mapping[str, Chart]
    """By the name of the file."""


@frozen
class Experiment(Generic[Result]):
    figure: str
    """The paper's."""
    about: str
    """One line."""
    scale: float
    """Scale at which a run takes a minute or two."""
    plan: Callable[[float, int], Sequence[Job[Result]]]
    """Scale and seed to runs."""
    conclude: Callable[[Mapping[str, Result]], Findings]
    """From what each run gave, by its name."""
    assumptions: Sequence[str]
    """Beyond those of the workload."""
    conflicts: Sequence[str] = ()
    """Points that the paper leaves open, or states in two different ways, about these figures."""
