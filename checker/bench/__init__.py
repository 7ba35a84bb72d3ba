"""Benchmarks: what is said of speed and size in the documents comes from here.

`bench` runs the suites asked for, each measuring its subject and its yardstick in one run on one machine, so that the
ratios can be trusted where the figures cannot.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from routeproof.checker.bench.measuring import Row
from routeproof.checker.errors import UsageError


def bench(names: Sequence[str]) -> dict[str, list[Row]]:
    """Per suite, its rows."""
    for name in names:
        if name not in SUITES:
            raise UsageError(f"no benchmark is called '{name}'; there is: {', '.join(SUITES)}")
    return {name: SUITES[name]() for name in names or SUITES}


def _explore() -> list[Row]:
    from routeproof.checker.bench.explorer import explorer

    return explorer()


def _validate() -> list[Row]:
    from routeproof.checker.bench.validation import validation

    return validation()


def _broker() -> list[Row]:
    from routeproof.checker.bench.broker import broker

    return broker()


def _simulate() -> list[Row]:
    from routeproof.checker.bench.broker import simulation

    return simulation()


SUITES: dict[str, Callable[[], list[Row]]] = {
    "explore": _explore,
    "validate": _validate,
    "broker": _broker,
    "simulate": _simulate,
}


def render(results: dict[str, list[Row]]) -> str:
    """The rows as tables, with what they come to."""
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
