"""`routeproof run` in virtual time: the simulator, the metrics that it is observed for, and what is written of them."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from attrs import asdict

from routeproof import traces
from routeproof.checker.commands.run_pruning import parameters, readings
from routeproof.checker.commands.run_words import TRACE, by_kind, delays, header, title
from routeproof.checker.files import write_text
from routeproof.checker.memory import collecting_rarely
from routeproof.checker.report.columns import table
from routeproof.checker.terminal import REDRAW_SECONDS, say
from routeproof.impl.brokers import make_broker
from routeproof.impl.costs import MILLISECOND, SECOND, Costs
from routeproof.impl.figures import figures
from routeproof.impl.metric_files import PruningSummary, Summary, summary, write_delays, write_samples
from routeproof.impl.metrics import Metrics
from routeproof.impl.recording import Recorder
from routeproof.impl.simulator import Network, Observer, Simulator
from routeproof.impl.workloads import Workload
from routeproof.model.overlay import Node

BUSIEST = 3
"""Brokers that are reported beside those that the workload names."""


def run_simulated(arguments: argparse.Namespace, drawn: Workload) -> int:
    began = time.monotonic()
    metrics = _simulate(arguments, drawn)
    seconds = time.monotonic() - began
    concluded = summary(metrics, _names(drawn))
    files = _write(arguments, drawn, metrics, concluded, seconds)
    say("\n".join(_report(arguments, drawn, concluded, files, seconds)))
    return 0


def _names(drawn: Workload) -> dict[Node, str]:
    return {broker: traces.broker_name(broker) for broker in drawn.overlay.brokers}


# -- running -----------------------------------------------------------------------------------------------------------


def _simulate(arguments: argparse.Namespace, drawn: Workload) -> Metrics:
    overlay, policy, how = drawn.overlay, arguments.policy, parameters(arguments)
    metrics = Metrics(overlay.brokers, drawn.look_every, pruning=how is not None)
    progress = _Progress(drawn.look_every)
    with ExitStack() as stack:
        observers: list[Observer] = [metrics, progress]
        if arguments.trace:
            observers.append(stack.enter_context(_recorder(arguments, drawn)))
        stack.callback(progress.clear)
        simulator = Simulator(
            overlay,
            lambda broker: make_broker(broker, overlay.neighbours(broker), policy, how),
            Costs.measured(policy),
            network=_network(arguments),
            observers=observers,
            congestion=arguments.congestion,
        )
        stack.enter_context(collecting_rarely())
        simulator.play(drawn.operations())
    return metrics


def _network(arguments: argparse.Namespace) -> Network:
    return Network() if arguments.latency is None else Network(latency=arguments.latency * MILLISECOND)


@contextmanager
def _recorder(arguments: argparse.Namespace, drawn: Workload) -> Iterator[Recorder]:
    """Its trace takes its name only when all of it is written: nobody takes half a trace for a whole one."""
    path: Path = arguments.out / TRACE
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        told = {**header(arguments, drawn), "latency": _network(arguments).latency, "looks": drawn.look_every}
        with traces.TraceWriter(part, **told) as trace:
            yield Recorder(trace, traces.broker_name, arguments.snapshots)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


class _Progress(Observer):
    """One line on standard error, where that is a terminal."""

    def __init__(self, every: int) -> None:
        self.every = every if sys.stderr is not None and sys.stderr.isatty() else 0
        self._began = self._drawn = time.monotonic()
        self._shown = 0

    def look(self, simulator: Simulator, moment: int) -> None:
        now = time.monotonic()
        if now - self._drawn < REDRAW_SECONDS:
            return
        self._drawn = now
        took = now - self._began
        self._show(f"{moment / SECOND:,.0f} s simulated in {took:.1f} s, {simulator.handled / took:,.0f} messages/s")

    def clear(self) -> None:
        if self._shown:
            self._show("")
            print("\r", end="", file=sys.stderr, flush=True)

    def _show(self, text: str) -> None:
        text = text[: shutil.get_terminal_size().columns - 1]
        print(f"\r{text.ljust(self._shown)}", end="", file=sys.stderr, flush=True)
        self._shown = len(text)


# -- results -----------------------------------------------------------------------------------------------------------


def _write(
    arguments: argparse.Namespace, drawn: Workload, metrics: Metrics, concluded: Summary, seconds: float
) -> list[str]:
    """What there is in DIR now."""
    out: Path = arguments.out
    write_samples(metrics, _names(drawn), out / "metrics.parquet")
    write_delays(metrics, out / "delays.parquet")
    write_text(out / "summary.json", json.dumps(_as_json(arguments, drawn, concluded, seconds), indent=2) + "\n")
    files = [TRACE] if arguments.trace else []
    files += ["metrics.parquet", "delays.parquet", "summary.json"]
    of = f"{arguments.workload}, {arguments.policy}, scale {arguments.scale:g}, seed {arguments.seed}"
    for name, chart in figures(metrics, drawn.watched, of):
        files.append(f"{name}.svg")
        write_text(out / files[-1], chart.svg())
    return files


def _as_json(arguments: argparse.Namespace, drawn: Workload, concluded: Summary, seconds: float) -> dict[str, object]:
    """All of it but `measured` is the same whenever it is run."""
    handled = sum(concluded.messages.values())
    prunes = concluded.pruning is not None
    return {
        **{key: getattr(arguments, key) for key in ("workload", "policy", "scale", "seed")},
        **({"readings": readings(arguments)} if prunes else {}),
        **({"congestion": asdict(arguments.congestion)} if arguments.congestion is not None else {}),
        **({"latency_ms": arguments.latency} if arguments.latency is not None else {}),
        "parameters": dict(drawn.parameters),
        "watched": {name: traces.broker_name(broker) for broker, name in drawn.watched.items()},
        **{key: value for key, value in asdict(concluded).items() if prunes or key != "pruning"},
        "measured": {"seconds": round(seconds, 3), "messages_per_second": round(handled / max(seconds, 1e-9))},
    }


def _report(
    arguments: argparse.Namespace, drawn: Workload, concluded: Summary, files: list[str], seconds: float
) -> list[str]:
    """What a person wants to see at once."""
    delay = concluded.delay
    what = f"{concluded.virtual_seconds:,.1f} s of {len(concluded.brokers)} brokers"
    return [
        f"{title(arguments)}: {what}, simulated in {seconds:.1f} s",
        "",
        f"clients     {by_kind(concluded.operations)}",
        f"handled     {by_kind(concluded.messages)}",
        f"triggered   {concluded.triggered:,}",
        f"delivered   {concluded.delivered:,}, false positives {concluded.false_positives:,}",
        "delay       " + delays(asdict(delay) if delay else None),
        *([] if concluded.pruning is None else ["pruning     " + _of_pruning(concluded.pruning)]),
        "",
        *_brokers(drawn, concluded),
        "",
        f"{arguments.out}: {', '.join(name for name in files if not name.endswith('.svg'))},",
        f"  {', '.join(name for name in files if name.endswith('.svg'))}",
    ]


def _of_pruning(p: PruningSummary) -> str:
    times = "once" if p.congested == 1 else f"{p.congested:,} times"
    return f"{p.in_vain:,} came in vain; at most {p.rows_most:,} rows at a broker; congested {times}"


def _brokers(drawn: Workload, concluded: Summary) -> list[str]:
    """Those that the workload names, and of the others those with the longest queues."""
    named = {traces.broker_name(broker): name for broker, name in drawn.watched.items()}
    others = sorted(set(concluded.brokers) - set(named), key=lambda b: (-concluded.brokers[b].queue_most, int(b[1:])))
    shown = {**named, **dict.fromkeys(others[:BUSIEST], "")}
    rows = [
        [
            broker,
            name,
            *(f"{n:,}" for n in (b.queue_most, b.table_most, b.table, b.triggered, b.false_positives)),
            f"{b.busy_seconds:,.1f} s",
        ]
        for broker, name in shown.items()
        for b in [concluded.brokers[broker]]
    ]
    head = ["broker", "", "longest queue", "largest table", "table", "triggered", "false positives", "busy"]
    return table(head, rows, "llrrrrrr")
