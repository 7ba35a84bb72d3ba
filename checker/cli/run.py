"""`routeproof run`: the reference implementation under a workload, in virtual time or on real sockets."""

from __future__ import annotations

import argparse
import socket
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from attrs import evolve, field, frozen

from routeproof.checker import instances
from routeproof.checker.cli.arguments import Parser, between, one_of, scale_up_to, seconds, whole
from routeproof.checker.system.errors import UsageError, unknown
from routeproof.checker.system.files import clear_away_parts, refuse_no_directory
from routeproof.checker.system.terminal import count
from routeproof.checker.wings import RunOptions, wing_named, wings
from routeproof.impl import Implementation, all_policies, implementation_of
from routeproof.impl.observers import OBSERVES, quantile
from routeproof.impl.simulator import MILLISECOND
from routeproof.impl.workloads import MOST_SCALE, SMALL, WORKLOADS, Workload
from routeproof.impl.workloads.workload import of_operations
from routeproof.model.filters import EVENTS, EventSet
from routeproof.model.filters.interface import quoted
from routeproof.model.instance import Instance
from routeproof.model.instance_file import to_table
from routeproof.model.overlay import Node
from routeproof.model.protocols import DEFINITIONS, policies_for, world
from routeproof.model.world import World

DESCRIPTION = """\
Run every broker of a workload's overlay with the reference implementation, in virtual time. A run
with the same options and seed is the same run. WORKLOAD is a name, or FILE.toml: then the
operations of that instance are played, in an order that the seed draws. DIR gets the metrics of
each broker over time (metrics.parquet), the delays of publications (delays.parquet), a summary
(summary.json) and plots; with --trace also a trace of every message (trace.jsonl).

With --tcp every broker is a process with sockets on the loopback interface, and time is real. DIR
gets the trace and a summary. See docs/howto/run-over-tcp.md."""
EXAMPLES = """\
  routeproof run controlled --out out                     a hundredth of the size; takes seconds
  routeproof run controlled --policy lazy --scale 0.1 --out lazy
  routeproof run mine.toml --trace --out mine             an instance of your own
  routeproof run stock --seed 7 --out stock --trace --snapshots 1000
  routeproof run zipf --scale 0.001 --tcp --out tcp       17 processes, and their trace
  routeproof list workloads                               the names of workloads"""

TRACE = "trace.jsonl"

TCP_ONLY = ("host", "pace", "seconds", "max_frame")

SMALLEST_FRAME = 4096
LARGEST_FRAME = 1 << 30

MOST_LATENCY = 60_000
"""Milliseconds. Samples are taken for as long as messages are on their way, and a run takes as long as that lasts."""

LEAST_PACE = 0.000001


def run_parser() -> Parser:
    options = [wing.options() for wing in wings().values()]
    examples = [EXAMPLES, *(each.examples for each in options if each.examples)]
    p = Parser("run", DESCRIPTION, "\n".join(examples))
    add = p.add_argument
    add("workload", metavar="WORKLOAD", help="a workload (routeproof list workloads), or an instance file")
    known = all_policies()
    policies = f"{', '.join(known)}; default: active, or the instance's first"
    add("--policy", metavar="P", type=one_of(known, "policy"), help=policies)
    protocols = "the protocol to run; default: the first that has the policy, or the instance's"
    add("--protocol", metavar="NAME", type=one_of(DEFINITIONS, "protocol"), help=protocols)
    for each in options:
        each.add(p)
    scale = f"size relative to the paper's, which is 1; default: {SMALL}"
    add("--scale", metavar="X", type=scale_up_to(MOST_SCALE), help=scale)
    add("--seed", metavar="N", default=0, type=whole(0), help="seed of the random draws; default: 0")
    add("--out", metavar="DIR", required=True, type=Path, help="the directory for the results; created if missing")
    add("--trace", action="store_true", help=f"also write {TRACE}; --tcp always does")
    snapshots = "record a broker's tables in the trace after every N of its events"
    add("--snapshots", metavar="N", default=0, type=whole(1), help=snapshots)
    conform = "with FILE.toml: compare each step with the model's; exit code 1 at the first difference"
    add("--conform", action="store_true", help=conform)
    latency = f"delay of every link in milliseconds of virtual time, at most {MOST_LATENCY:,}; default: 1"
    add("--latency", metavar="MS", type=whole(0, MOST_LATENCY), help=latency)
    add("--tcp", action="store_true", help="run each broker as a process, with real sockets and in real time")
    pace = "with --tcp: play X seconds of the workload per second; default: as fast as the brokers can"
    add("--pace", metavar="X", type=_pace, help=pace)
    add("--seconds", metavar="S", type=seconds, help="with --tcp: end the run after S seconds; default: 600")
    add("--host", metavar="H", type=_host, help="with --tcp: the address that brokers listen on; default: 127.0.0.1")
    bytes_, frame = whole(SMALLEST_FRAME, LARGEST_FRAME), "with --tcp: longest frame; default: 1 MiB"
    add("--max-frame", metavar="BYTES", type=bytes_, help=frame)
    return p


_pace = between(LEAST_PACE, 1e9, "a number, 1 being real time,")


def _host(text: str) -> str:
    try:
        if text:
            socket.getaddrinfo(text, 0, type=socket.SOCK_STREAM)
            return text
    except (OSError, UnicodeError):
        pass
    raise argparse.ArgumentTypeError(f"found {quoted(text)}; expected an address of this machine")


@frozen
class RunRequest:
    """A requested run: the workload or instance, and the implementation that plays it."""

    arguments: argparse.Namespace
    implementation: Implementation
    options: RunOptions
    drawn: Workload
    world: World | None = None
    """The model of an instance."""
    own: Mapping[str, Any] = field()
    """The values that nodes are made with: those of the workload, and those of the options."""

    @own.default
    def _own(self) -> Mapping[str, Any]:
        return {**self.drawn.own, **self.options.own(self.arguments)}

    @cached_property
    def names(self) -> dict[Node, str]:
        return {node: self.drawn.topology.name(node) for node in self.drawn.topology.nodes}

    @property
    def about(self) -> dict[str, Any]:
        """The entries of the summary that say which run it is. An instance has no scale."""
        keys = ("workload", "policy", "scale", "seed")
        return {key: value for key in keys if (value := getattr(self.arguments, key)) is not None}

    @property
    def title(self) -> str:
        about = [f"{key} {value:g}" for key, value in self.about.items() if key in ("scale", "seed")]
        return f"{self.arguments.workload} under {self.arguments.policy}, {', '.join(about)}"

    @property
    def nodes(self) -> str:
        brokers = len(self.drawn.topology.having("broker"))
        others = len(self.names) - brokers
        return count(brokers, "broker") + (f" and {count(others, 'other node')}" if others else "")

    @property
    def _instance(self) -> dict[str, Any]:
        """The instance, if a replay needs more of it than its overlay: nodes, or a table of the protocol's own."""
        topology = self.drawn.topology
        has_others = len(topology.having("broker")) < len(topology.nodes)
        is_handled = wing_named(self.implementation.protocol).judging is None
        if self.world is None or not (has_others or (is_handled and self.world.instance.own)):
            return {}
        return {"instance": to_table(self.world.instance)}

    def header(self) -> dict[str, Any]:
        """Header of the trace, as a `TraceWriter` takes it."""
        about, topology = self.about, self.drawn.topology
        others = {self.names[node]: role for node, role in topology.roles if role != "broker"}
        protocol = self.implementation.protocol
        return {
            "run": "-".join(f"{each:g}" if isinstance(each, float) else str(each) for each in about.values()),
            "policy": about.pop("policy"),
            "overlay": [(self.names[u], self.names[v]) for u, v in self.drawn.overlay.edges],
            "observes": (*OBSERVES, "snapshot") if self.arguments.snapshots else OBSERVES,
            "clock": "shared",
            **about,
            **({} if protocol == "routing" else {"protocol": protocol}),
            **({} if self.drawn.dialect == "strict" else {"dialect": self.drawn.dialect}),
            **({"roles": others} if others else {}),
            **self._instance,
            **self.options.header(self.arguments),
        }


def run_command(arguments: argparse.Namespace) -> int:
    _refuse_what_does_not_go_together(arguments)
    request = _request(arguments)
    refuse_no_directory(arguments.out, "the results")
    arguments.out.mkdir(parents=True, exist_ok=True)
    clear_away_parts(arguments.out)
    if arguments.tcp:
        from routeproof.checker.cli.run_tcp import run_tcp

        return run_tcp(request)
    from routeproof.checker.cli.run_simulated import run_simulated

    return run_simulated(request)


def _request(arguments: argparse.Namespace) -> RunRequest:
    """The run that the arguments ask for; the policy and the scale that they leave out are filled in."""
    name: str = arguments.workload
    instance = instances.load(Path(name)) if name.endswith(".toml") else None
    if instance is None:
        arguments.policy = arguments.policy or "active"
        arguments.scale = SMALL if arguments.scale is None else arguments.scale
    else:
        if arguments.scale is not None:
            raise UsageError("run: --scale is for workloads; an instance has one size")
        if arguments.protocol not in (None, instance.protocol):
            raise UsageError(f"run: {name} is an instance of the protocol {instance.protocol}; leave out --protocol")
        arguments.protocol = instance.protocol
        arguments.policy = arguments.policy or instance.policies[0]
        arguments.workload = instance.name
    try:
        implementation = implementation_of(arguments.policy, arguments.protocol or "")
    except ValueError as error:
        raise UsageError(f"run: {error}") from None
    options = {protocol: wing.options() for protocol, wing in wings().items()}
    for each in options.values():
        each.refuse(arguments, implementation.protocol)
    own = options.get(implementation.protocol, RunOptions())
    if instance is None:
        return RunRequest(arguments, implementation, own, _drawn(name, arguments, implementation))
    drawn = _played(instance, arguments, implementation)
    return RunRequest(arguments, implementation, own, drawn, world(instance, arguments.policy))


def _drawn(name: str, arguments: argparse.Namespace, implementation: Implementation) -> Workload:
    known = {**WORKLOADS, **implementation.workloads}
    if name not in known:
        raise unknown("workload", name, known)
    return known[name].scaled(arguments.scale).workload(arguments.seed)


def _played(instance: Instance, arguments: argparse.Namespace, implementation: Implementation) -> Workload:
    if arguments.policy not in policies_for(instance):
        raise UsageError(
            f"run: {instance.name} cannot be run under {arguments.policy}; expected {', '.join(policies_for(instance))}"
        )
    definition = DEFINITIONS[instance.protocol]
    topology = definition.topology(instance).with_brokers(instance.broker_names)
    rows = definition.operations(instance)
    drawn = of_operations(instance.overlay, topology, rows, arguments.seed)
    filters = [*(a.filter for a in instance.advertisements), *(s.filter for s in instance.subscriptions)]
    dialect = EVENTS.name if any(isinstance(each, EventSet) for each in filters) else instance.dialect
    return evolve(drawn, own=implementation.own_of(instance), dialect=dialect)


def by_kind(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{kind} {n:,}" for kind, n in counts.items())


def quantiles(delays: Iterable[int]) -> dict[str, int] | None:
    """Nanoseconds from publishing to delivery, over all deliveries; None where nothing was delivered."""
    ordered = sorted(delays)
    if not ordered:
        return None
    shares = {name: quantile(ordered, share) for name, share in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99))}
    return {"least": ordered[0], "mean": sum(ordered) // len(ordered), **shares, "most": ordered[-1]}


def delays(delay: Mapping[str, int] | None) -> str:
    """Quantiles, of nanoseconds."""
    if delay is None:
        return "nothing was delivered"
    shown = {"median": "p50", "90 %": "p90", "99 %": "p99", "longest": "most"}
    return ", ".join(f"{word} {delay[key] / MILLISECOND:,.1f} ms" for word, key in shown.items())


def _refuse_what_does_not_go_together(arguments: argparse.Namespace) -> None:
    if arguments.conform and (arguments.tcp or not arguments.workload.endswith(".toml")):
        raise UsageError("run: --conform compares a simulated run of an instance with its model; give FILE.toml alone")
    if arguments.tcp:
        if arguments.latency is not None:
            raise UsageError("run: --latency applies to virtual time only; leave out --tcp or --latency")
        return
    if arguments.snapshots and not arguments.trace:
        raise UsageError("run: --snapshots are written into the trace; give --trace as well")
    given = next((name for name in TCP_ONLY if getattr(arguments, name) is not None), None)
    if given is not None:
        raise UsageError(f"run: --{given.replace('_', '-')} applies to brokers on TCP only; give --tcp as well")
