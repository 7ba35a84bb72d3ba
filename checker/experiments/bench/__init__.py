"""Benchmarks: the source of the figures on speed and size in the documents. `bench` runs the named suites, each
measuring its subject and its yardstick in one run on one machine, so that the ratios can be trusted where the figures
cannot.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from routeproof.checker.experiments.bench.measuring import Row
from routeproof.checker.system.errors import UsageError
from routeproof.checker.system.terminal import count


def bench(names: Sequence[str], doing: Callable[[str], None] = lambda _: None) -> Iterator[tuple[str, Row]]:
    """Yields each row with its suite, as it is measured. `doing` gets what is measured next."""
    for name in names:
        if name not in SUITES:
            raise UsageError(f"no benchmark is called '{name}'; there is: {', '.join(SUITES)}")
    for name in names or SUITES:
        doing(name)
        for number, row in enumerate(SUITES[name](), 1):
            yield name, row
            doing(f"{name}, {count(number, 'row')}")


def by_suite(rows: Iterable[tuple[str, Row]]) -> dict[str, list[Row]]:
    """The rows of each suite."""
    suites: dict[str, list[Row]] = {}
    for name, row in rows:
        suites.setdefault(name, []).append(row)
    return suites


def _explore() -> Iterator[Row]:
    from routeproof.checker.experiments.bench.explorer import explorer

    return explorer()


def _validate() -> Iterator[Row]:
    from routeproof.checker.experiments.bench.validation import validation

    return validation()


def _broker() -> Iterator[Row]:
    from routeproof.checker.experiments.bench.broker import broker

    return broker()


def _simulate() -> Iterator[Row]:
    from routeproof.checker.experiments.bench.broker import simulation

    return simulation()


SUITES: dict[str, Callable[[], Iterator[Row]]] = {
    "explore": _explore,
    "validate": _validate,
    "broker": _broker,
    "simulate": _simulate,
}


def render(results: dict[str, list[Row]]) -> str:
    """Returns the rows as tables, with their summary."""
    lines: list[str] = []
    for name, rows in results.items():
        lines += [f"bench {name}", ""]
        columns = list(rows[0])
        cells = [columns, *([_shown(row[c]) for c in columns] for row in rows)]
        widths = [max(len(r[i]) for r in cells) for i in range(len(columns))]
        lines += [
            "  ".join(
                c.rjust(w) if i > 1 else c.ljust(w) for i, (c, w) in enumerate(zip(r, widths, strict=True))
            ).rstrip()
            for r in cells
        ]
        lines.append("")
    return "\n".join(lines)


def _shown(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int | float) else str(value)
