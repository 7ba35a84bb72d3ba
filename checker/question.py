"""What `routeproof check` was asked, made of its arguments: options, and one job a search.

Whatever cannot be asked is refused here, before any work starts: names that do not exist, options that the engine has
no use for, and properties or mutants that mean nothing under the policies that are left.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path

from routeproof.checker.errors import UsageError, unknown
from routeproof.checker.instances import find, load, shipped
from routeproof.checker.jobs import Job, Options
from routeproof.model.instance import POLICIES, Instance
from routeproof.model.mutants import MUTANTS
from routeproof.model.protocols import policies_for
from routeproof.spec.properties import PROPERTIES

ONLY_FOR = {
    "explore": ("max_states", "reduction", "checkpoint"),
    "fuzz": ("profile", "examples"),
}
"""Options that only one engine has a use for. `--seed` is for the fuzzer too, but harmless to the explorer."""

Picked = tuple[Instance | None, Path | None]
"""An instance and the file it came from; (None, None) where the fuzzer makes its own."""


def options_of(arguments: argparse.Namespace) -> Options:
    if arguments.engine == "prove":  # decision 0007
        raise UsageError("check: theorems are of every size, and not of an instance; see: routeproof prove --help")
    for engine, names in ONLY_FOR.items():
        for name in names:
            if arguments.engine != engine and getattr(arguments, name):
                raise UsageError(
                    f"--{name.replace('_', '-')} is for --engine {engine}; found --engine {arguments.engine}"
                )
    if arguments.mutant is not None and arguments.mutant not in MUTANTS:
        raise unknown("mutant", arguments.mutant, MUTANTS)
    return Options(
        engine=arguments.engine,
        mutant=arguments.mutant,
        properties=_properties(arguments.property),
        max_states=arguments.max_states,
        seconds=arguments.seconds,
        reductions=tuple(dict.fromkeys(arguments.reduction)),
        checkpoint=arguments.checkpoint,
        seed=arguments.seed,
        profile=arguments.profile or "fast",
        examples=arguments.examples,
        traces=arguments.traces,
    )


def jobs_of(arguments: argparse.Namespace, options: Options) -> list[Job]:
    """One a search, in the order in which they are reported."""
    picked = _picked(arguments)
    jobs = [
        Job(instance, policy, options, source)
        for instance, source in picked
        for policy in _policies(instance, arguments.policy, options)
        if options.selected(policy)
    ]
    if not jobs:
        raise UsageError(_why_nothing_is_left(options, arguments.policy, picked))
    if options.checkpoint is not None and len(jobs) > 1:
        raise UsageError(
            f"--checkpoint keeps one search, and this would be {len(jobs)}; name one instance, and give --policy"
        )
    return jobs


def is_everything(arguments: argparse.Namespace) -> bool:
    """Is this every state of all that ships, as it ships?"""
    some = arguments.names or arguments.instance or arguments.policy
    return arguments.engine == "explore" and not (some or arguments.mutant or arguments.reduction)


# -- which instances ---------------------------------------------------------------------------------------------------


def _picked(arguments: argparse.Namespace) -> list[Picked]:
    if not arguments.names and not arguments.instance:
        return [(None, None)] if arguments.engine == "fuzz" else [(instance, None) for instance in shipped()]
    picked: list[Picked] = [(find(name), None) for name in dict.fromkeys(arguments.names)]
    picked += [(load(path), path) for path in dict.fromkeys(arguments.instance)]
    _refuse_namesakes(picked)
    return picked


def _refuse_namesakes(picked: Iterable[Picked]) -> None:
    """A report and a trace name an instance by its name."""
    seen: dict[str, str] = {}
    for instance, source in picked:
        assert instance is not None
        where = str(source) if source else "the one that ships"
        if instance.name in seen:
            raise UsageError(f"two instances are called {instance.name}: {seen[instance.name]} and {where}; rename one")
        seen[instance.name] = where


# -- under which policies ----------------------------------------------------------------------------------------------


def _policies(instance: Instance | None, asked: str | None, options: Options) -> list[str]:
    """Those of the instance, unless one of its protocol was asked for; of a mutant only those under which it is one."""
    policies = [asked] if asked is not None else list(instance.policies if instance is not None else POLICIES)
    if instance is not None:
        policies = [policy for policy in policies if policy in policies_for(instance)]
    if options.mutant is None:
        return policies
    return [policy for policy in policies if policy in MUTANTS[options.mutant].policies]


def _why_nothing_is_left(options: Options, policy: str | None, picked: Iterable[Picked]) -> str:
    found = f"; found --policy {policy}" if policy else ""
    possible = {p: None for instance, _ in picked for p in (POLICIES if instance is None else policies_for(instance))}
    if policy is not None and policy not in possible:
        return f"these instances are for the policies {', '.join(possible)}{found}"
    if options.mutant is not None and (policy is None or policy not in MUTANTS[options.mutant].policies):
        policies = ", ".join(MUTANTS[options.mutant].policies)
        return f"the mutant {options.mutant} differs from the protocol under {policies} only{found}"
    assert options.properties is not None
    about = "; ".join(
        f"{id} is meant for {', '.join(PROPERTIES[id].policies) or 'no policy (it is a claim that fails)'}"
        for id in options.properties
    )
    return f"no property is left to check: {about}{found}"


# -- which properties --------------------------------------------------------------------------------------------------


def _properties(ids: list[str] | None) -> tuple[str, ...] | None:
    if ids is None:
        return None
    for id in ids:
        if id not in PROPERTIES:
            if any(instance.name == id for instance in shipped()):
                raise UsageError(f"--property takes every word after it, also {id}; put names of instances before it")
            raise unknown("property", id, PROPERTIES)
    return tuple(id for id in PROPERTIES if id in ids)
