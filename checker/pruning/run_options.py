"""The options of `routeproof run` for pruning: the readings of the brokers, and when a broker is congested."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from typing import Any

from attrs import asdict

from routeproof.checker.system.errors import UsageError
from routeproof.checker.system.terminal import count
from routeproof.checker.wings import RunOptions
from routeproof.impl.pruning import Congestion
from routeproof.model.filters.interface import quoted
from routeproof.model.messages import Message
from routeproof.model.overlay import Node
from routeproof.model.pruning.definition import read_readings, readings_to_table
from routeproof.model.pruning.vocabulary import PRUNING, PruningParameters
from routeproof.model.reading import InstanceError, Place

LISTS = ("thresholds", "cuts")


def _reading(text: str) -> tuple[str, object]:
    key, equals, value = text.partition("=")
    if not key or not equals:
        raise argparse.ArgumentTypeError(f"found {quoted(text)}; expected KEY=VALUE")
    if key in LISTS:
        return key, [_scalar(each) for each in value.split(",")]
    return key, _scalar(value)


def _scalar(text: str) -> object:
    if text in ("true", "false"):
        return text == "true"
    return int(text) if text.isascii() and text.isdigit() and len(text) < 20 else text


def _marks(text: str) -> Congestion:
    high, _, low = text.partition(",")
    marks = [int(each) if each.isascii() and each.isdigit() and len(each) < 10 else 0 for each in (high, low)]
    if not 1 <= marks[1] <= marks[0]:
        raise argparse.ArgumentTypeError(f"found {quoted(text)}; expected HIGH,LOW: messages, LOW from 1 to HIGH")
    return Congestion(*marks)


class PruningOptions(RunOptions):
    """`--pruning` and `--congestion`."""

    examples = "  routeproof run controlled --policy incremental --pruning cuts=2,100 --out pruned"

    def add(self, parser: argparse.ArgumentParser) -> None:
        add = parser.add_argument
        reading = (
            "with incremental or selective: set a parameter of spec/pruning.md, as in window=100 or thresholds=50,80"
        )
        add("--pruning", metavar="KEY=VALUE", default=[], action="append", type=_reading, help=reading)
        marks = "with incremental or selective: congestion begins above HIGH queued messages and ends below LOW"
        add("--congestion", metavar="HIGH,LOW", type=_marks, help=marks)

    def refuse(self, arguments: argparse.Namespace, protocol: str) -> None:
        given = "--pruning" if arguments.pruning else "--congestion" if arguments.congestion is not None else ""
        if given and protocol != "pruning":
            raise UsageError(f"run: {given} applies to policies that prune only; give --policy {' or '.join(PRUNING)}")
        if arguments.congestion is not None and arguments.tcp:
            raise UsageError("run: --congestion applies to virtual time only; leave out --tcp or --congestion")
        if protocol == "pruning":
            self.own(arguments)

    def own(self, arguments: argparse.Namespace) -> dict[str, Any]:
        """Readings that do not have their default, by name."""
        twice = len(arguments.pruning) - len(dict(arguments.pruning))
        if twice:
            raise UsageError("run: --pruning gives a parameter twice; expected each once")
        try:
            read = read_readings(Place("run", "--pruning", dict(arguments.pruning)), (arguments.policy,))
        except InstanceError as error:
            raise UsageError(str(error)) from None
        usual = PruningParameters.of(arguments.policy)
        return {name: value for name, value in read if value != getattr(usual, name)}

    def signals(self, arguments: argparse.Namespace) -> Callable[[Node, int], Message | None] | None:
        return None if arguments.congestion is None else arguments.congestion.signals()

    def header(self, arguments: argparse.Namespace) -> dict[str, Any]:
        return {"pruning": readings_to_table(tuple(self.own(arguments).items()))}

    def summary(self, arguments: argparse.Namespace) -> dict[str, Any]:
        congestion = {} if arguments.congestion is None else {"congestion": asdict(arguments.congestion)}
        return {"readings": self.own(arguments), **congestion}

    def words(self, figures: Mapping[str, int]) -> str:
        congested = figures["congested"]
        times = "once" if congested == 1 else f"{congested:,} times"
        return (
            f"{figures['in_vain']:,} came in vain; at most {count(figures['rows_most'], 'row')} at a broker; "
            f"congested {times}"
        )


OPTIONS = PruningOptions()
