"""`routeproof run` under pruning: which readings the brokers have, and when they are told that they are congested."""

from __future__ import annotations

import argparse
from typing import Any

from attrs import evolve

from routeproof.checker.errors import UsageError
from routeproof.impl.simulator import Congestion
from routeproof.model.pruning_parameters import PRUNING, PruningParameters
from routeproof.model.pruning_table import read_readings, readings_to_table
from routeproof.model.reading import InstanceError, Place
from routeproof.model.suggest import quoted

LISTS = ("thresholds", "cuts")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    reading = (
        "of incremental and selective: a parameter of theirs (spec/pruning.md), as in window=100 or thresholds=50,80"
    )
    add("--pruning", metavar="KEY=VALUE", default=[], action="append", type=_reading, help=reading)
    marks = "of the same: a broker is congested while its queue is longer than HIGH, until it is below LOW"
    add("--congestion", metavar="HIGH,LOW", type=_marks, help=marks)


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


def refuse_what_does_not_prune(arguments: argparse.Namespace) -> None:
    given = "--pruning" if arguments.pruning else "--congestion" if arguments.congestion is not None else ""
    if given and arguments.policy not in PRUNING:
        raise UsageError(f"run: {given} is for brokers that prune; give --policy {' or '.join(PRUNING)}")
    if arguments.congestion is not None and arguments.tcp:
        raise UsageError("run: --congestion is for virtual time; leave out --tcp")
    readings(arguments)


def readings(arguments: argparse.Namespace) -> dict[str, Any]:
    """Those that do not have their default, by name."""
    if arguments.policy not in PRUNING:
        return {}
    twice = len(arguments.pruning) - len(dict(arguments.pruning))
    if twice:
        raise UsageError("run: --pruning gives a parameter twice; expected each once")
    try:
        read = read_readings(Place("run", "--pruning", dict(arguments.pruning)), (arguments.policy,))
    except InstanceError as error:
        raise UsageError(str(error)) from None
    usual = PruningParameters.of(arguments.policy)
    return {name: value for name, value in read if value != getattr(usual, name)}


def parameters(arguments: argparse.Namespace) -> PruningParameters | None:
    """None under the policies of the routing core."""
    if arguments.policy not in PRUNING:
        return None
    return evolve(PruningParameters.of(arguments.policy), **readings(arguments))


def in_header(arguments: argparse.Namespace) -> dict[str, Any]:
    """What a trace's header says of it; nothing under the policies of the routing core."""
    if arguments.policy not in PRUNING:
        return {}
    return {"protocol": "pruning", "pruning": readings_to_table(tuple(readings(arguments).items()))}
