"""`routeproof run`: the reference implementation under a workload, in virtual time."""

from __future__ import annotations

import argparse
import gc
import json
import math
import os
import shutil
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from attrs import asdict

from routeproof import traces
from routeproof.checker.arguments import Parser, one_of, whole
from routeproof.checker.errors import UsageError, unknown
from routeproof.checker.files import write_text
from routeproof.checker.report.columns import table
from routeproof.checker.terminal import REDRAW_SECONDS, say
from routeproof.impl.costs import MILLISECOND, SECOND, Costs
from routeproof.impl.figures import figures
from routeproof.impl.metric_files import Summary, summary, write_delays, write_samples
from routeproof.impl.metrics import Metrics
from routeproof.impl.recording import OBSERVES, Recorder
from routeproof.impl.simulator import Observer, Simulator
from routeproof.impl.workloads import MOST_SCALE, SMALL, WORKLOADS, Workload, workload
from routeproof.model.instance import POLICIES
from routeproof.model.overlay import Node
from routeproof.model.suggest import quoted

DESCRIPTION = """\
Run the reference implementation: every broker of a workload's overlay, in virtual time, and nothing
left to chance but what the seed draws. DIR gets the metrics of each broker over time
(metrics.parquet), the delays of publications (delays.parquet), a summary (summary.json) and plots;
with --trace also what every broker was told, said and delivered (trace.jsonl)."""
EXAMPLES = """\
  routeproof run controlled --out out                     a hundredth of it, in seconds
  routeproof run controlled --policy lazy --scale 0.1 --out lazy
  routeproof run stock --seed 7 --out stock --trace --snapshots 1000
  routeproof list workloads                               what there is to run"""

TRACE = "trace.jsonl"
COLLECT = (200_000, 20, 20)
"""Thresholds of the garbage collector during a run."""

BUSIEST = 3
"""Brokers that are reported beside those that the workload names."""


def parser() -> Parser:
    p = Parser("run", DESCRIPTION, EXAMPLES)
    add = p.add_argument
    add("workload", metavar="WORKLOAD", help="its name (routeproof list workloads)")
    policies = f"{', '.join(POLICIES)}; default: active"
    add("--policy", metavar="P", default="active", type=one_of(POLICIES, "policy"), help=policies)
    scale = f"its size, 1 being that of the paper; default: {SMALL}"
    add("--scale", metavar="X", default=SMALL, type=_scale, help=scale)
    add("--seed", metavar="N", default=0, type=whole(0), help="another seed is another drawing; default: 0")
    add("--out", metavar="DIR", required=True, type=Path, help="where the results go; made where it is missing")
    add("--trace", action="store_true", help=f"write {TRACE} too")
    snapshots = "with --trace: a broker's tables after every N of its events"
    add("--snapshots", metavar="N", default=0, type=whole(1), help=snapshots)
    return p


def _scale(text: str) -> float:
    try:
        scale = float(text)
    except ValueError:
        scale = math.nan
    if not 0 < scale <= MOST_SCALE:
        raise argparse.ArgumentTypeError(
            f"found {quoted(text)}; expected a number above 0 and up to {MOST_SCALE:g}, 1 being the paper's size"
        )
    return scale


def run(arguments: argparse.Namespace) -> int:
    if arguments.workload not in WORKLOADS:
        raise unknown("workload", arguments.workload, WORKLOADS)
    if arguments.snapshots and not arguments.trace:
        raise UsageError("run: --snapshots go into a trace; give --trace as well")
    _refuse_bad_directory(arguments.out)
    drawn = workload(arguments.workload, arguments.scale, arguments.seed)
    arguments.out.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    metrics = _simulate(arguments, drawn)
    seconds = time.monotonic() - began
    concluded = summary(metrics, _names(drawn))
    files = _write(arguments, drawn, metrics, concluded, seconds)
    say("\n".join(_report(arguments, drawn, concluded, files, seconds)))
    return 0


def _refuse_bad_directory(out: Path) -> None:
    there = next((p for p in (out, *out.parents) if p.exists()), Path())
    if not there.is_dir():
        raise UsageError(f"{there}: is no directory; expected one for the results")
    if not os.access(there, os.W_OK | os.X_OK):
        raise UsageError(f"{there}: may not be written; expected a directory for the results")


def _names(drawn: Workload) -> dict[Node, str]:
    return {broker: traces.broker_name(broker) for broker in drawn.overlay.brokers}


# -- running -----------------------------------------------------------------------------------------------------------


def _simulate(arguments: argparse.Namespace, drawn: Workload) -> Metrics:
    from routeproof.impl.broker import Broker

    overlay, policy = drawn.overlay, arguments.policy
    metrics = Metrics(overlay.brokers, drawn.look_every)
    progress = _Progress(drawn.look_every)
    with ExitStack() as stack:
        observers: list[Observer] = [metrics, progress]
        if arguments.trace:
            observers.append(stack.enter_context(_recorder(arguments, drawn)))
        stack.callback(progress.clear)
        simulator = Simulator(
            overlay,
            lambda broker: Broker(broker, overlay.neighbours(broker), policy),
            Costs.measured(policy),
            observers=observers,
        )
        stack.enter_context(_collecting_rarely())
        simulator.play(drawn.operations())
    return metrics


@contextmanager
def _recorder(arguments: argparse.Namespace, drawn: Workload) -> Iterator[Recorder]:
    """Its trace takes its name only when all of it is written: nobody takes half a trace for a whole one."""
    asked = {"workload": arguments.workload, "scale": arguments.scale, "seed": arguments.seed}
    path: Path = arguments.out / TRACE
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with traces.TraceWriter(
            part,
            run=f"{arguments.workload}-{arguments.policy}-{arguments.scale:g}-{arguments.seed}",
            policy=arguments.policy,
            overlay=drawn.overlay.edges,
            observes=(*OBSERVES, "snapshot") if arguments.snapshots else OBSERVES,
            **asked,
        ) as trace:
            yield Recorder(trace, traces.broker_name, arguments.snapshots)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def _collecting_rarely() -> Iterator[None]:
    """A run makes millions of objects that stay, and few cycles: looking for these at Python's usual pace takes a
    quarter of the time."""
    before = gc.get_threshold()
    gc.set_threshold(*COLLECT)
    try:
        yield
    finally:
        gc.set_threshold(*before)


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
    return {
        **{key: getattr(arguments, key) for key in ("workload", "policy", "scale", "seed")},
        "parameters": dict(drawn.parameters),
        "watched": {name: traces.broker_name(broker) for broker, name in drawn.watched.items()},
        **asdict(concluded),
        "measured": {"seconds": round(seconds, 3), "messages_per_second": round(handled / max(seconds, 1e-9))},
    }


def _report(
    arguments: argparse.Namespace, drawn: Workload, concluded: Summary, files: list[str], seconds: float
) -> list[str]:
    """What a person wants to see at once."""
    delay = concluded.delay
    what = f"{arguments.workload} under {arguments.policy}, scale {arguments.scale:g}, seed {arguments.seed}"
    return [
        f"{what}: {concluded.virtual_seconds:,.1f} s of {len(concluded.brokers)} brokers, simulated in {seconds:.1f} s",
        "",
        f"clients     {_by_kind(concluded.operations)}",
        f"handled     {_by_kind(concluded.messages)}",
        f"triggered   {concluded.triggered:,}",
        f"delivered   {concluded.delivered:,}, false positives {concluded.false_positives:,}",
        "delay       "
        + (
            f"median {_ms(delay.p50)}, 90 % {_ms(delay.p90)}, 99 % {_ms(delay.p99)}, longest {_ms(delay.most)}"
            if delay
            else "nothing was delivered"
        ),
        "",
        *_brokers(drawn, concluded),
        "",
        f"{arguments.out}: {', '.join(name for name in files if not name.endswith('.svg'))},",
        f"  {', '.join(name for name in files if name.endswith('.svg'))}",
    ]


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


def _by_kind(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{kind} {n:,}" for kind, n in counts.items())


def _ms(nanoseconds: int) -> str:
    return f"{nanoseconds / MILLISECOND:,.1f} ms"
