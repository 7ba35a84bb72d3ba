"""Fig. 8 of 001: from a hundred to three hundred roots are withdrawn within 150 s."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import evolve

from routeproof.checker.reproduce.experiment import Experiment, Findings, Row, said
from routeproof.checker.reproduce.simulation import Outcome, Simulation
from routeproof.checker.reproduce.varied import measured, shown
from routeproof.checker.reproduce.words import CONGESTED, MATCHES, PRICES_001, PROBES, controlled_001, paragraphs

ALGORITHMS = ("active", "selective")
WITHDRAWALS = (100, 200, 300)
WITHIN_MS = 150_000

DELAY = {
    ("active", 100): said(0.02, "about"),
    ("active", 200): said(1_200, ">"),
    ("active", 300): said(2_000),
    **{("selective", withdrawals): said(0.02, "about") for withdrawals in WITHDRAWALS},
}


def plan(scale: float, seed: int) -> list[Simulation]:
    return [
        Simulation(
            f"{algorithm}, {withdrawals}",
            evolve(controlled_001(), withdrawals=withdrawals, withdrawal_interval_ms=WITHIN_MS // withdrawals).scaled(
                scale
            ),
            algorithm,
            seed,
            subscription=CONGESTED,
        )
        for withdrawals in WITHDRAWALS
        for algorithm in ALGORITHMS
    ]


def conclude(outcomes: Mapping[str, Outcome]) -> Findings:
    rows: list[Row] = []
    for withdrawals in WITHDRAWALS:
        for algorithm in ALGORITHMS:
            outcome = outcomes[f"{algorithm}, {withdrawals}"]
            rows += measured(f"{withdrawals} withdrawals", algorithm, outcome, DELAY.get((algorithm, withdrawals)))
    return Findings(rows, shown("withdrawals", ALGORITHMS, WITHDRAWALS, outcomes))


EXPERIMENT = Experiment(
    figure="001, Fig. 8",
    about="100, 200 and 300 roots are withdrawn within 150 s.",
    scale=0.1,
    plan=plan,
    conclude=conclude,
    assumptions=(PRICES_001, MATCHES, PROBES),
    conflicts=paragraphs("""
The text has "100 and 300" withdrawals for 1,200 s and 2,000 s, just after 20 ms at 100: the first must be 200.

300 withdrawals give a mean delay of 2,000 s here and of 4,400 s in Fig. 7.
"""),
)
