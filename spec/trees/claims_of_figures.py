"""Claims of 003 about its figures, each with a criterion that rows of an experiment meet or do not.

`routeproof reproduce` repeats the experiments and judges its own rows by the same criteria. `measured.json` has the
rows that `docs/explanation/experiments.md` shows.
"""

from __future__ import annotations

from routeproof.spec.figures import FigureComparison, judged, least, measured_rows, most, near
from routeproof.spec.specification import Claim

MEASURED = measured_rows("routeproof.spec.trees")
SCALE = "three draws of each setting, at the scale of the documentation; stand-ins for GT-ITM and for SemCast"
SIZES = ("500", "1,000", "2,000", "5,000")
LARGE = "mult, large sample"


def _figure(id: str, paper: str, says: str, reading: str, experiment: str, *criterion: FigureComparison) -> Claim:
    """A claim about figures; its criterion gives the verdict."""
    verdict = judged(criterion, MEASURED.get(experiment, {}))
    return Claim(id, paper, says, reading, verdict, SCALE, experiment, criterion=criterion)


def _sizes(quantity: str, dataset: str) -> list[str]:
    return [f"{quantity}, {dataset} transit-stub {size}" for size in SIZES]


TREE_FIGURE_CLAIMS: tuple[Claim, ...] = (
    _figure(
        "FIG-trees-optimum",
        "003 VI, Fig. 5",
        "MULT costs at most 10 % more than OPT.",
        "On transit-stub networks, Localized1, from the paper's sample of 3 % and from half of the documents.",
        "003-fig5",
        *(most(row, name, 1.1) for row in _sizes("cost / opt", "localized1") for name in ("mult", LARGE)),
    ),
    _figure(
        "FIG-trees-single",
        "003 VI, Fig. 5",
        "OPT costs 60 to 70 % less than SINGLE.",
        "SINGLE is at least 2.5 times OPT, Localized1.",
        "003-fig5",
        *(least(row, "single", 2.5) for row in _sizes("cost / opt", "localized1")),
    ),
    _figure(
        "FIG-trees-paths",
        "003 VI, Fig. 5",
        "A tree of shortest paths costs up to ten times as much as SINGLE, the more the larger the network.",
        "The largest network of each dataset within half of ten, with filters, and at least ten with flooding.",
        "003-fig5",
        *(
            part
            for dataset in ("localized1", "localized2", "uniform")
            for part in near(f"cost / single, {dataset} transit-stub 5,000", "spt", 10)
        ),
        *(
            least(f"cost / single, {dataset} transit-stub 5,000", "flooding", 10)
            for dataset in ("localized1", "localized2", "uniform")
        ),
    ),
    _figure(
        "FIG-trees-localized",
        "003 VI, Fig. 5",
        "Where interests are localized, many trees save nearly half of what one tree costs.",
        "MULT from half of the documents costs at most 0.6 of SINGLE, Localized1.",
        "003-fig5",
        *(most(row, LARGE, 0.6) for row in _sizes("cost / single", "localized1")),
    ),
    _figure(
        "FIG-trees-uniform",
        "003 VI, Fig. 5",
        "Where interests are spread uniformly, MULT chooses one tree and costs as much as SINGLE.",
        "MULT's cost is within 2 % of SINGLE's, from half of the documents.",
        "003-fig5",
        *(
            part
            for row in _sizes("cost / single", "uniform")
            for part in (most(row, LARGE, 1.02), least(row, LARGE, 0.98))
        ),
    ),
    _figure(
        "FIG-trees-channels",
        "003 VI, Fig. 5",
        "SemCast costs about twice as much as MULT.",
        "The stand-in, within half of twice, Localized1.",
        "003-fig5",
        *(part for row in _sizes("cost / mult", "localized1") for part in near(row, "semcast", 2)),
    ),
    _figure(
        "FIG-trees-networks",
        "003 VI",
        "(The paper has transit-stub networks only.)",
        "On networks with more paths many trees save more: MULT from half of the documents costs at most 0.9 of SINGLE "
        "on small-world and geometric networks, Localized1, with up to two keywords for each broker.",
        "003-networks",
        *(
            most(f"cost / single, localized1 {network} {size}", LARGE, 0.9)
            for network in ("small-world", "geometric")
            for size in SIZES
        ),
    ),
    _figure(
        "FIG-trees-by-cost-sizes",
        "003 VI, Fig. 5, 6",
        "MULT2 costs 3 to 5 % less than MULT.",
        "At most 0.97 of MULT's cost where both have the paper's sample of 3 %, Localized1, all documents counted.",
        "003-fig5",
        *(
            FigureComparison((row, "mult2"), "at most", 0.97, (row, "mult"))
            for row in _sizes("cost / opt", "localized1")
        ),
    ),
    _figure(
        "FIG-trees-sample",
        "003 VI, Fig. 4",
        "Samples of more than 3 % of the documents gain little.",
        "A sample of 3 % costs at most 10 % more than one of half of the documents.",
        "003-fig4",
        *(
            most("cost, sample 0.03 / sample 0.5", f"{dataset}, {words} keywords", 1.1)
            for dataset in ("localized1", "uniform")
            for words in (1, 5, 17)
        ),
    ),
    _figure(
        "FIG-trees-minimum",
        "003 VI, Fig. 6",
        "With fewer and fewer trees the cost falls, has its least value in between, and rises to that of one tree.",
        "The least cost is at most 0.98 of the cost of all clusters alone, and of one tree.",
        "003-fig6",
        *(
            most(quantity, f"{network}, {words} keywords", 0.98)
            for network in ("transit-stub", "small-world", "geometric")
            for words in (2, 5)
            for quantity in ("least cost / all alone", "least cost / one tree")
        ),
    ),
    _figure(
        "FIG-trees-by-cost",
        "003 VI, Fig. 6",
        "MULT2 costs 3 to 5 % less than MULT, and needs up to 20 % fewer trees.",
        "At most 0.97 of the cost, and 1 of the trees.",
        "003-fig6",
        *(
            part
            for network in ("transit-stub", "small-world", "geometric")
            for words in (2, 5)
            for part in (
                most("cost, mult2 / mult", f"{network}, {words} keywords", 0.97),
                most("trees, mult2 / mult", f"{network}, {words} keywords", 1),
            )
        ),
    ),
    _figure(
        "FIG-trees-time",
        "003 VI, Fig. 8",
        "MULT is orders of magnitude faster than MULT2.",
        "At least 30 times as fast, with four times the subscriptions and documents of the smallest setting; and the "
        "factor grows at least threefold from that setting.",
        "003-fig8",
        least("CPU time / mult, 500 brokers, 4 times the rest", "mult2", 30),
        FigureComparison(
            ("CPU time / mult, 500 brokers, 4 times the rest", "mult2"),
            "at least",
            3,
            ("CPU time / mult, 500 brokers", "mult2"),
        ),
    ),
)
