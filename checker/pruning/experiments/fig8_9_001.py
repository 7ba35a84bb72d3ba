"""Figs. 8 and 9 of 001: from a hundred to three hundred withdrawals, and roots that cover from ten to fifty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import evolve

from routeproof.checker.experiments.reproduce.experiment import Experiment, Findings, Row, Said, said
from routeproof.checker.pruning.experiments.simulation import Outcome, Simulation
from routeproof.checker.pruning.experiments.words import (
    CONGESTED,
    MATCHES,
    PRICES_001,
    PROBES,
    controlled_001,
    measured,
    paragraphs,
    shown,
)
from routeproof.impl.workloads.controlled import Controlled001

ALGORITHMS = ("active", "selective")
WITHDRAWALS = (100, 200, 300)
WITHIN_MS = 150_000
DEGREES = (10, 20, 30, 40, 50)

DELAY = {
    ("active", 100): said(0.02, "about"),
    ("active", 200): said(1_200, ">"),
    ("active", 300): said(2_000),
    **{("selective", withdrawals): said(0.02, "about") for withdrawals in WITHDRAWALS},
}
QUEUE = {
    ("active", 30): said(2_300, "about"),
    **{("selective", degree): said(250, "<") for degree in DEGREES},
}


def _runs(recipes: Mapping[int, Controlled001], scale: float, seed: int) -> list[Simulation]:
    """Each algorithm at each value of what is varied."""
    return [
        Simulation(f"{algorithm}, {value}", recipe.scaled(scale), algorithm, seed, subscription=CONGESTED)
        for value, recipe in recipes.items()
        for algorithm in ALGORITHMS
    ]


def _plan_8(scale: float, seed: int) -> list[Simulation]:
    return _runs(
        {n: evolve(controlled_001(), withdrawals=n, withdrawal_interval_ms=WITHIN_MS // n) for n in WITHDRAWALS},
        scale,
        seed,
    )


def _plan_9(scale: float, seed: int) -> list[Simulation]:
    return _runs({degree: evolve(controlled_001(), covered=degree) for degree in DEGREES}, scale, seed)


def _findings(
    what: str,
    across: str,
    values: Sequence[int],
    outcomes: Mapping[str, Outcome],
    delays: Mapping[tuple[str, int], Said],
    queues: Mapping[tuple[str, int], Said],
) -> Findings:
    """The measures at each value, named by `what` with `{}` for the value."""
    rows: list[Row] = []
    for value in values:
        for algorithm in ALGORITHMS:
            key, outcome = (algorithm, value), outcomes[f"{algorithm}, {value}"]
            rows += measured(what.format(value), algorithm, outcome, delays.get(key), queues.get(key))
    return Findings(rows, shown(across, ALGORITHMS, values, outcomes))


FIG_8 = Experiment(
    figure="001, Fig. 8",
    about="100, 200 and 300 roots are withdrawn within 150 s.",
    scale=0.1,
    plan=_plan_8,
    conclude=lambda outcomes: _findings("{} withdrawals", "withdrawals", WITHDRAWALS, outcomes, DELAY, {}),
    assumptions=(PRICES_001, MATCHES, PROBES),
    conflicts=paragraphs("""
The text has "100 and 300" withdrawals for 1,200 s and 2,000 s, just after 20 ms at 100: the first must be 200.

300 withdrawals give a mean delay of 2,000 s here and of 4,400 s in Fig. 7.
"""),
)

FIG_9 = Experiment(
    figure="001, Fig. 9",
    about="300 roots are withdrawn, where each covers 10 to 50 subscriptions.",
    scale=0.1,
    plan=_plan_9,
    conclude=lambda outcomes: _findings("degree {}", "covering degree", DEGREES, outcomes, {}, QUEUE),
    assumptions=(
        *(PRICES_001, MATCHES, PROBES),
        *paragraphs("""
**varying** the covering degree leaves the number of subscriptions as it is: there are fewer families, and larger ones.
"""),
    ),
    conflicts=paragraphs("""
At a degree of 50 queues "continue to increase an hour into the experiment and remain even after 9 hours"; with a
publication every 400 ms these are 81,000 publications, of "slightly over 21,000" in all.
"""),
)
