"""Instances on disk: the ones that ship, and files of a user's own.

`load` reads a file, `shipped` lists what the distribution carries, `find` looks one up by name. A bad file is an
`InstanceError` of one line before any work starts; nothing that a file holds can make reading it slow.
"""

from __future__ import annotations

import stat
import sys
import tomllib
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from routeproof.checker.system.errors import UsageError, unknown
from routeproof.model.filters.interface import quoted
from routeproof.model.instance import Instance
from routeproof.model.instance_file import InstanceError, parse_instance
from routeproof.model.protocols import DEFINITIONS, SHIPPED
from routeproof.model.reading import did_you_mean
from routeproof.spec.catalogues import rules_that_fire
from routeproof.spec.properties import PROPERTIES
from routeproof.traces.files import STDIN, named

BYTES = 1 << 20
DOTS = 100
"""In one line. Python's TOML reader takes quadratic time over a dotted key: one of half a million parts takes hours."""


def load(path: Path) -> Instance:
    """The instance in a file; `-` is standard input."""
    where = "standard input" if str(path) == STDIN else named(path)
    instance = _parse(_read(path, where), where)
    _refuse_unknown_declarations(instance, where)
    return instance


def folders() -> list[Traversable]:
    """The folders of the instances that ship: each protocol's package has one."""
    packages = dict.fromkeys(definition.instances for definition in SHIPPED)
    return [files(package).joinpath("instances") for package in packages]


@cache
def shipped() -> tuple[Instance, ...]:
    """Every instance that ships: protocol by protocol, from simple to large, those with faults last, then by name."""
    entries = [entry for folder in folders() for entry in folder.iterdir() if entry.name.endswith(".toml")]
    found = [_parse(entry.read_bytes(), entry.name) for entry in entries]
    for instance in found:
        _refuse_unknown_declarations(instance, f"{instance.name}.toml")
    return tuple(sorted(found, key=_simple_to_large))


def find(name: str) -> Instance:
    by_name = {instance.name: instance for instance in shipped()}
    if name in by_name:
        return by_name[name]
    raise unknown("instance", name, by_name)


def _simple_to_large(instance: Instance) -> tuple[bool, int, int, int, str]:
    withdrawals = sum(a.unadvertises for a in instance.advertisers) + sum(s.unsubscribes for s in instance.subscribers)
    clients = len(instance.advertisers) + len(instance.subscribers) + len(instance.publications)
    protocol = list(DEFINITIONS).index(instance.protocol)
    return (instance.faults.any, protocol, clients + withdrawals, len(instance.overlay.brokers), instance.name)


def _read(path: Path, where: str) -> bytes:
    """The bytes of a file, a pipe, or standard input (`-`)."""
    try:
        if str(path) == STDIN:
            data, is_readable = _once(path, id(sys.stdin)), True
        else:
            found = path.stat()
            mode = found.st_mode  # a device may have no end
            is_readable = stat.S_ISREG(mode) or stat.S_ISFIFO(mode)
            if stat.S_ISFIFO(mode):
                data = _once(path, (found.st_dev, found.st_ino))
            else:
                data = _first_bytes(path, BYTES + 1) if is_readable else b""
    except FileNotFoundError:
        raise UsageError(f"{where}: there is no such file; expected an instance file in TOML") from None
    except (OSError, ValueError, AttributeError) as error:  # a null character in the name; a closed standard input
        raise UsageError(f"{where}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if not is_readable:
        raise UsageError(f"{where}: not a regular file and not a pipe; expected an instance file in TOML")
    if len(data) > BYTES:
        raise InstanceError(f"{where}: more than {BYTES} bytes; expected an instance file, which is far smaller")
    return data


@cache
def _once(path: Path, which: object) -> bytes:
    """Content of a pipe (`which` tells it from others): it can be read once, and instances are loaded twice."""
    if str(path) == STDIN:
        return sys.stdin.buffer.read(BYTES + 1)
    return _first_bytes(path, BYTES + 1)


def _first_bytes(path: Path, most: int) -> bytes:
    with path.open("rb") as file:
        return file.read(most)


def _parse(data: bytes, where: str) -> Instance:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InstanceError(f"{where}: line {line}: not text in UTF-8; expected an instance file in TOML") from None
    if text.startswith("\ufeff"):
        raise InstanceError(f"{where}: line 1: begins with a byte order mark; expected UTF-8 without one")
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
    reached = f"a rule that fires, or one of {', '.join(sometimes)}"
    for key, known, expected in (
        ("must_reach", [*sometimes, *rules], reached),
        ("must_fail", always, f"one of {', '.join(always)}"),
    ):
        for number, name in enumerate(getattr(instance, key), start=1):
            if name not in known:
                near = did_you_mean(name, known)
                raise InstanceError(f"{where}: {key}[{number}]: found {quoted(name)}; expected {expected}{near}")
            if name in PROPERTIES and not PROPERTIES[name].is_meant_for(instance.protocol, instance.policies):
                policies = ", ".join(PROPERTIES[name].policies)
                raise InstanceError(
                    f"{where}: {key}[{number}]: found {name}, which is meant for {policies};"
                    f" expected a property for the instance's policy {', '.join(instance.policies)}"
                )
