"""`routeproof run` in virtual time: the simulator, the metrics that it is observed for, and their files.

Parquet for programs, and a summary: `write_samples` has one row for each broker and moment, `write_delays` the
histogram of all delays, and `summary` what is worth knowing at a glance. Times are nanoseconds of virtual time.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from attrs import asdict, frozen

from routeproof import traces
from routeproof.checker.cli.run import TRACE, RunRequest, by_kind, delays, quantiles
from routeproof.checker.conform import Conform, Diverges
from routeproof.checker.experiments.plots import figures
from routeproof.checker.system.files import note_unwritten, whole, write_text
from routeproof.checker.system.processes import collecting_rarely
from routeproof.checker.system.terminal import StatusLine, json_text, printable, say, table
from routeproof.impl.observers import DELAYS, Metrics, Recorder, histogram
from routeproof.impl.simulator import MILLISECOND, SECOND, Network, Observer, Simulator
from routeproof.model.overlay import Node

BUSIEST = 3
"""Brokers that the report lists in addition to those that the workload names."""


def run_simulated(request: RunRequest) -> int:
    began = time.monotonic()
    try:
        metrics = _simulate(request)
    except Diverges as difference:
        say(f"{request.title}: DIVERGES: {difference}")
        return 1
    seconds = time.monotonic() - began
    concluded = summary(metrics, request.names)
    files = _write(request, metrics, concluded, seconds)
    say("\n".join(_report(request, concluded, files, seconds)))
    return 0


# -- running -----------------------------------------------------------------------------------------------------------


def _simulate(request: RunRequest) -> Metrics:
    arguments, drawn, implementation = request.arguments, request.drawn, request.implementation
    topology, policy = drawn.topology, arguments.policy
    metrics = implementation.metrics(topology.nodes, drawn.look_every)
    progress = _Progress(drawn.look_every)
    with ExitStack() as stack:
        observers: list[Observer] = [metrics, progress]
        if arguments.conform and request.world is not None:
            observers.append(Conform(request.world))
        if arguments.trace:
            observers.append(stack.enter_context(_recorder(request)))
        stack.callback(progress.line.clear)
        simulator = Simulator(
            drawn.overlay,
            lambda node: implementation.make(node, topology.neighbours(node), policy, request.own),
            implementation.costs(policy),
            network=_network(arguments),
            observers=observers,
            signals=request.options.signals(arguments),
            topology=topology,
        )
        stack.enter_context(collecting_rarely())
        simulator.play(drawn.operations())
    return metrics


def _network(arguments: argparse.Namespace) -> Network:
    return Network() if arguments.latency is None else Network(latency=arguments.latency * MILLISECOND)


@contextmanager
def _recorder(request: RunRequest) -> Iterator[Recorder]:
    """Its trace takes its name only when all of it is written: half a trace is never mistaken for a whole one."""
    header = {
        **request.header(),
        "naming": request.drawn.topology.name,
        "latency": _network(request.arguments).latency,
        "looks": request.drawn.look_every,
    }
    with whole(request.arguments.out / TRACE) as part, traces.TraceWriter(part, **header) as trace:
        yield Recorder(trace, request.names.__getitem__, request.arguments.snapshots)


class _Progress(Observer):
    """One line on standard error, where that is a terminal."""

    def __init__(self, every: int) -> None:
        self.line = StatusLine()
        self.every = every if self.line.wanted else 0
        self._began = time.monotonic()

    def look(self, simulator: Simulator, moment: int) -> None:
        took = time.monotonic() - self._began
        rate = simulator.handled / took if took else 0.0
        self.line.show(f"{moment / SECOND:,.0f} s simulated in {took:.1f} s, {rate:,.0f} messages/s")


# -- results -----------------------------------------------------------------------------------------------------------


def _write(request: RunRequest, metrics: Metrics, concluded: RunSummary, seconds: float) -> list[str]:
    """Writes the results into DIR, and returns the names of those that are there now."""
    arguments = request.arguments
    out: Path = arguments.out
    files = [TRACE] if arguments.trace else []

    def put(name: str, write: Callable[[Path], None]) -> None:
        try:
            with whole(out / name) as part:
                write(part)
        except OSError as error:
            note_unwritten(out / name, error)
        else:
            files.append(name)

    put("metrics.parquet", lambda part: write_samples(metrics, request.names, part))
    put("delays.parquet", lambda part: write_delays(metrics, part))
    summary = json_text(_as_json(request, concluded, seconds))
    put("summary.json", lambda part: write_text(part, summary))
    for name, chart in figures(metrics, request.drawn.watched, request.title.replace(" under ", ", ")):
        put(f"{name}.svg", partial(write_text, text=chart.svg()))
    return files


def _as_json(request: RunRequest, concluded: RunSummary, seconds: float) -> dict[str, object]:
    """All of it but `measured` is the same whenever it is run."""
    handled = sum(concluded.messages.values())
    latency, row = request.arguments.latency, asdict(concluded)
    own = row.pop("own")
    return {
        **request.about,
        **request.options.summary(request.arguments),
        **({"latency_ms": latency} if latency is not None else {}),
        "parameters": dict(request.drawn.parameters),
        "watched": {name: request.names[node] for node, name in request.drawn.watched.items()},
        **row,
        **({request.implementation.protocol: own} if own else {}),
        "measured": {"seconds": round(seconds, 3), "messages_per_second": round(handled / max(seconds, 1e-9))},
    }


def _report(request: RunRequest, concluded: RunSummary, files: list[str], seconds: float) -> list[str]:
    what = f"{concluded.virtual_seconds:,.1f} s of {request.nodes}"
    own = f"{request.implementation.protocol:<12}{request.options.words(concluded.own)}"
    return [
        f"{request.title}: {what}, simulated in {seconds:.1f} s",
        "",
        f"clients     {by_kind(concluded.operations)}",
        f"handled     {by_kind(concluded.messages)}",
        f"triggered   {concluded.triggered:,}",
        f"delivered   {concluded.delivered:,}, false positives {concluded.false_positives:,}",
        "delay       " + delays(concluded.delay),
        *([own] if concluded.own else []),
        *(["conform     each step is the model's"] if request.arguments.conform else []),
        "",
        *_brokers(request, concluded),
        "",
        f"{printable(str(request.arguments.out))}: {', '.join(name for name in files if not name.endswith('.svg'))},",
        f"  {', '.join(name for name in files if name.endswith('.svg'))}",
    ]


def _brokers(request: RunRequest, concluded: RunSummary) -> list[str]:
    """Rows of brokers: those that the workload names, and of the others those with the longest queues."""
    named = {request.names[broker]: name for broker, name in request.drawn.watched.items()}
    others = sorted((b for b in concluded.brokers if b not in named), key=lambda b: -concluded.brokers[b].queue_most)
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


def write_samples(metrics: Metrics, names: Mapping[Node, str], path: Path) -> None:
    """`names` are those of the trace, so that the two can be joined."""
    width = len(metrics.brokers)
    columns = {
        "time": pa.array([time for time in metrics.times for _ in range(width)], pa.int64()),
        "broker": pa.array([names[b] for b in metrics.brokers] * len(metrics.times)).dictionary_encode(),
        **{name: pa.array(metrics.columns[name], pa.int64()) for name in (*metrics.momentary, *metrics.counted)},
        **{name: pa.array(metrics.windows[name], pa.int64()) for name in DELAYS},
    }
    _write_parquet(columns, path)


def write_delays(metrics: Metrics, path: Path) -> None:
    buckets = histogram(metrics.delays)
    fields = ("above", "most", "count")
    _write_parquet({f: pa.array([getattr(bucket, f) for bucket in buckets], pa.int64()) for f in fields}, path)


def _write_parquet(columns: Mapping[str, pa.Array], path: Path) -> None:
    with path.open("wb") as file:
        pq.write_table(pa.table(columns), file, compression="zstd")


@frozen
class BrokerSummary:
    queue_most: int
    table_most: int
    """At the moments of the samples."""
    table: int
    """In the end."""
    triggered: int
    uncovered: int
    false_positives: int
    busy_seconds: float


@frozen
class RunSummary:
    """The whole run in one object; `attrs.asdict` makes it JSON."""

    virtual_seconds: float
    operations: Mapping[str, int]
    messages: Mapping[str, int]
    """Handled, by kind."""
    triggered: int
    false_positives: int
    delivered: int
    delay: Mapping[str, int] | None
    """None where nothing was delivered."""
    brokers: Mapping[str, BrokerSummary]
    own: Mapping[str, int]
    """Figures of the protocol's own."""


def summary(metrics: Metrics, names: Mapping[Node, str]) -> RunSummary:
    last = {name: metrics.last(name) for name in (*metrics.momentary, *metrics.counted)}
    brokers = {
        names[broker]: BrokerSummary(
            queue_most=metrics.most_queued[broker],
            table_most=max(metrics.series("table", broker)),
            **{key: last[key][broker] for key in ("table", "triggered", "uncovered", "false_positives")},
            busy_seconds=round(last["busy"][broker] / SECOND, 3),
        )
        for broker in metrics.brokers
    }
    return RunSummary(
        virtual_seconds=round(metrics.times[-1] / SECOND, 3),
        operations={kind: metrics.operations[cls] for cls, kind in metrics.kinds.items() if metrics.operations[cls]},
        messages={kind: n for kind in metrics.kinds.values() if (n := sum(last[kind].values()))},
        **{key: sum(last[key].values()) for key in ("triggered", "false_positives", "delivered")},
        delay=quantiles(metrics.delays),
        brokers=brokers,
        own=metrics.own.summary(metrics),
    )
