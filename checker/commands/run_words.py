"""What `routeproof run` says of a run whichever driver it has: in reports, and in a trace's header."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from routeproof.checker.commands.run_pruning import in_header
from routeproof.impl.costs import MILLISECOND
from routeproof.impl.recording import OBSERVES
from routeproof.impl.workloads import Workload

TRACE = "trace.jsonl"


def header(arguments: argparse.Namespace, drawn: Workload) -> dict[str, Any]:
    """Of the trace, as a `TraceWriter` takes it."""
    return {
        "run": f"{arguments.workload}-{arguments.policy}-{arguments.scale:g}-{arguments.seed}",
        "policy": arguments.policy,
        "overlay": drawn.overlay.edges,
        "observes": (*OBSERVES, "snapshot") if arguments.snapshots else OBSERVES,
        "clock": "shared",
        **{key: getattr(arguments, key) for key in ("workload", "scale", "seed")},
        **in_header(arguments),
    }


def title(arguments: argparse.Namespace) -> str:
    return f"{arguments.workload} under {arguments.policy}, scale {arguments.scale:g}, seed {arguments.seed}"


def by_kind(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{kind} {n:,}" for kind, n in counts.items())


def delays(delay: Mapping[str, int] | None) -> str:
    """Quantiles, of nanoseconds."""
    if delay is None:
        return "nothing was delivered"
    shown = {"median": "p50", "90 %": "p90", "99 %": "p99", "longest": "most"}
    return ", ".join(f"{word} {_milliseconds(delay[key])}" for word, key in shown.items())


def _milliseconds(nanoseconds: int) -> str:
    return f"{nanoseconds / MILLISECOND:,.1f} ms"
