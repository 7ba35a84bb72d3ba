"""Instances on disk: the ones that ship, and files of a user's own.

`load` reads a file, `shipped` lists what the distribution carries, `find` looks one up by name. A bad file is an
`InstanceError` of one line before any work starts; nothing that a file holds can make reading it slow.
"""

from __future__ import annotations

import stat
import tomllib
from functools import cache
from importlib.resources import files
from pathlib import Path

from routeproof.checker.errors import UsageError, unknown
from routeproof.model.instance import Instance
from routeproof.model.instance_file import InstanceError, parse_instance
from routeproof.model.protocols import PROTOCOLS
from routeproof.model.suggest import did_you_mean, quoted
from routeproof.spec.properties import PROPERTIES
from routeproof.spec.rules import rules_that_fire

BYTES = 1 << 20
DOTS = 100
"""In one line. Python's TOML reader takes quadratic time over a dotted key: one of half a million parts takes hours."""


def load(path: Path) -> Instance:
    """The instance in a file."""
    where = quoted(str(path)) if not str(path).isprintable() else str(path)
    instance = _parse(_read(path, where), where)
    _refuse_unknown_declarations(instance, where)
    return instance


@cache
def shipped() -> tuple[Instance, ...]:
    """Every instance that ships: protocol by protocol, from simple to large, those with faults last, then by name."""
    folder = files("routeproof.model").joinpath("instances")
    found = [_parse(entry.read_bytes(), entry.name) for entry in folder.iterdir() if entry.name.endswith(".toml")]
    for instance in found:
        _refuse_unknown_declarations(instance, f"{instance.name}.toml")
    return tuple(sorted(found, key=_simple_to_large))


def find(name: str) -> Instance:
    """The shipped instance of this name."""
    by_name = {instance.name: instance for instance in shipped()}
    if name in by_name:
        return by_name[name]
    if name.endswith(".toml"):
        raise UsageError(f"no instance is called {quoted(name)}; for a file: --instance {quoted(name)}")
    raise unknown("instance", name, by_name)


def _simple_to_large(instance: Instance) -> tuple[bool, int, int, int, str]:
    withdrawals = sum(a.unadvertises for a in instance.advertisers) + sum(s.unsubscribes for s in instance.subscribers)
    clients = len(instance.advertisers) + len(instance.subscribers) + len(instance.publications)
    protocol = list(PROTOCOLS).index(instance.protocol)
    return (instance.faults.any, protocol, clients + withdrawals, len(instance.overlay.brokers), instance.name)


def _read(path: Path, where: str) -> bytes:
    try:
        is_regular = stat.S_ISREG(path.stat().st_mode)  # before it is opened: opening a pipe may wait for ever
        data = _first_bytes(path, BYTES + 1) if is_regular else b""
    except FileNotFoundError:
        raise UsageError(f"{where}: there is no such file; expected an instance file in TOML") from None
    except (OSError, ValueError) as error:  # ValueError: a name with a null character
        raise UsageError(f"{where}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if not is_regular:
        raise UsageError(f"{where}: not a regular file; expected an instance file in TOML")
    if len(data) > BYTES:
        raise InstanceError(f"{where}: more than {BYTES} bytes; expected an instance file, which is far smaller")
    return data


def _first_bytes(path: Path, most: int) -> bytes:
    with path.open("rb") as file:
        return file.read(most)


def _parse(data: bytes, where: str) -> Instance:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InstanceError(f"{where}: line {line}: not text in UTF-8; expected an instance file in TOML") from None
    for number, line_of_text in enumerate(text.split("\n"), start=1):
        if line_of_text.count(".") > DOTS:
            raise InstanceError(f"{where}: line {number}: found more than {DOTS} dots in one line; expected fewer")
    try:
        table = tomllib.loads(text)
    except RecursionError:
        raise InstanceError(f"{where}: nested too deeply; expected an instance file in TOML") from None
    except tomllib.TOMLDecodeError as error:
        raise InstanceError(f"{where}: not TOML: {error}") from None
    except ValueError as error:  # a number of thousands of digits, a date that does not exist
        reason = str(error).split(";")[0].splitlines()[0]
        raise InstanceError(f"{where}: not TOML: {reason}") from None
    return parse_instance(table, where)


def _refuse_unknown_declarations(instance: Instance, where: str) -> None:
    """`must_reach` and `must_fail` speak of the catalogue, which the model does not know."""
    sometimes = [p.id for p in PROPERTIES.values() if p.kind == "sometimes"]
    always = [p.id for p in PROPERTIES.values() if p.kind == "always"]
    rules = dict.fromkeys((*rules_that_fire(instance.protocol), *rules_that_fire("routing")))  # all rest on the core
    for key, ids, known, expected in (
        (
            "must_reach",
            instance.must_reach,
            [*sometimes, *rules],
            f"a rule that fires, or one of {', '.join(sometimes)}",
        ),
        ("must_fail", instance.must_fail, always, f"one of {', '.join(always)}"),
    ):
        for number, name in enumerate(ids, start=1):
            if name not in known:
                near = did_you_mean(name, known)
                raise InstanceError(f"{where}: {key}[{number}]: found {quoted(name)}; expected {expected}{near}")
            if name in PROPERTIES and not set(PROPERTIES[name].policies) & set(instance.policies):
                policies = ", ".join(PROPERTIES[name].policies)
                raise InstanceError(
                    f"{where}: {key}[{number}]: found {name}, which is meant for {policies};"
                    f" expected a property for the instance's policy {', '.join(instance.policies)}"
                )
