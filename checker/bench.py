"""Benchmarks: what is said of speed and size in the documents comes from here.

`bench` runs the suites asked for, each measuring its subject and its yardstick in one run on one machine, so that the
ratios can be trusted where the figures cannot. Every measurement has a fresh process: one does not pay for another's
memory.
"""

from __future__ import annotations

import multiprocessing
import resource
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any

from routeproof.checker.errors import UsageError
from routeproof.checker.explore.search import Search
from routeproof.checker.instances import find, shipped
from routeproof.checker.plain import plain_search
from routeproof.model.protocols import world
from routeproof.spec.properties import properties_for

Row = dict[str, Any]

PLAIN_STATES = 40_000
"""How far the plain search goes: enough for a rate, and its rate only falls as it goes on."""

LARGE = ("pair3", "star5", "two4", "leave5")
"""The shipped instances with the most states; a test holds that each has over 500,000."""


def bench(names: Sequence[str]) -> dict[str, list[Row]]:
    """Per suite, its rows."""
    for name in names:
        if name not in SUITES:
            raise UsageError(f"no benchmark is called '{name}'; there is: {', '.join(SUITES)}")
    return {name: SUITES[name]() for name in names or SUITES}


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


def bench_explore() -> list[Row]:
    """The explorer with all properties on, beside a plain search over frozen objects of the same model."""
    rows = []
    for instance in shipped():
        if instance.name in LARGE:
            for policy in instance.policies:
                with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as fresh:
                    rows.append(fresh.submit(_measure_explore, instance.name, policy).result())
    return rows


def _measure_explore(name: str, policy: str) -> Row:
    instance = find(name)
    resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.process_time()
    search = Search(world(instance, policy), properties_for(policy))
    search.run()
    cycle = search.graph.find_cycle()
    seconds = time.process_time() - began
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - resident
    assert cycle is None, f"{name} has a cycle under {policy}"
    began = time.process_time()
    plain = plain_search(world(instance, policy), PLAIN_STATES)
    plain_rate = plain.states / (time.process_time() - began)
    rate = search.states / seconds
    return {
        "instance": name,
        "policy": policy,
        "states": search.states,
        "transitions": search.transitions,
        "cpu seconds": round(seconds, 2),
        "states/s": round(rate),
        "stored bytes/state": round(search.nbytes / search.states, 1),
        "resident bytes/state": round(1024 * grown / search.states, 1),
        "plain states/s": round(plain_rate),
        "ratio": round(rate / plain_rate, 1),
    }


def _shown(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int | float) else str(value)


SUITES: dict[str, Callable[[], list[Row]]] = {"explore": bench_explore}
