"""Fig. 9 of 001: roots that cover from ten to fifty subscriptions."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import evolve

from routeproof.checker.reproduce.experiment import Experiment, Findings, Row, said
from routeproof.checker.reproduce.simulation import Outcome, Simulation
from routeproof.checker.reproduce.varied import measured, shown
from routeproof.checker.reproduce.words import CONGESTED, MATCHES, PRICES_001, PROBES, controlled_001, paragraphs

ALGORITHMS = ("active", "selective")
DEGREES = (10, 20, 30, 40, 50)

QUEUE = {
    ("active", 30): said(2_300, "about"),
    **{("selective", degree): said(250, "<") for degree in DEGREES},
}


def plan(scale: float, seed: int) -> list[Simulation]:
    return [
        Simulation(
            f"{algorithm}, {degree}",
            evolve(controlled_001(), covered=degree).scaled(scale),
            algorithm,
            seed,
            subscription=CONGESTED,
        )
        for degree in DEGREES
        for algorithm in ALGORITHMS
    ]


def conclude(outcomes: Mapping[str, Outcome]) -> Findings:
    rows: list[Row] = []
    for degree in DEGREES:
        for algorithm in ALGORITHMS:
            outcome = outcomes[f"{algorithm}, {degree}"]
            rows += measured(f"degree {degree}", algorithm, outcome, queue=QUEUE.get((algorithm, degree)))
    return Findings(rows, shown("covering degree", ALGORITHMS, DEGREES, outcomes))


EXPERIMENT = Experiment(
    figure="001, Fig. 9",
    about="300 roots are withdrawn, where each covers 10 to 50 subscriptions.",
    scale=0.1,
    plan=plan,
    conclude=conclude,
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
