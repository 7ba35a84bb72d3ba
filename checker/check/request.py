"""Request of `routeproof check`, made of its arguments: options, and one job a search.

An impossible request is refused here, before any work starts: names that do not exist, options that the engine has
no use for, and properties or mutants that mean nothing under the policies that are left.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path

from routeproof.checker.check import Job, Options
from routeproof.checker.check.conclusion import NotAsked
from routeproof.checker.instances import find, load, shipped
from routeproof.checker.system.errors import UsageError, unknown
from routeproof.model.instance import POLICIES, Instance
from routeproof.model.protocols import DEFINITIONS, MUTANTS, policies_for
from routeproof.spec.properties import PROPERTIES

ONLY_FOR = {
    "explore": ("max_states", "max_memory", "reduction", "checkpoint"),
    "fuzz": ("profile", "examples"),
}
"""Options that only one engine has a use for. `--seed` is for the fuzzer too, but harmless to the explorer."""

NO_POLICY = "no policy (it is a claim that fails)"

Picked = tuple[Instance | None, Path | None]
"""An instance and the file it came from; (None, None) where the fuzzer makes its own."""

Searches = list[tuple[Instance | None, Path | None, list[tuple[str, str]]]]
"""Picked instances, each with the protocols and policies under which it is searched."""


def options_of(arguments: argparse.Namespace) -> Options:
    if arguments.engine == "prove":  # decision 0007
        raise UsageError(
            "check: prove is a command of its own, since theorems hold for all sizes; see: routeproof prove --help"
        )
    for engine, names in ONLY_FOR.items():
        for name in names:
            if arguments.engine != engine and getattr(arguments, name):
                option = f"--{name.replace('_', '-')}"
                raise UsageError(f"{option} is for --engine {engine}; found --engine {arguments.engine}")
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
    searches = _searches(arguments, options)
    jobs = [
        Job(instance, policy, options, source, protocol)
        for instance, source, variants in searches
        for protocol, policy in variants
        if options.selected(protocol, policy)
    ]
    if not jobs:
        raise UsageError(_why_nothing_is_left(options, arguments.policy, [instance for instance, *_ in searches]))
    for instance, _, variants in searches if arguments.names or arguments.instance else ():
        if not variants:
            why = _why_nothing_is_left(options, arguments.policy, [instance])
            name = "" if instance is None else instance.name
            raise UsageError(f"no search would be of {name}: {why}; leave it out")
    if options.checkpoint is not None and len(jobs) > 1:
        raise UsageError(
            f"--checkpoint keeps one search, and this would be {len(jobs)}; name one instance, and give --policy"
        )
    return jobs


def not_asked_of(arguments: argparse.Namespace, options: Options) -> tuple[NotAsked, ...]:
    """Returns the searches that do not evaluate a property which the user named. A property that no search evaluates is
    refused: a report without it would read as an answer. If instances are named too, the request is about each of them;
    otherwise it is about the instances that a property is meant for.
    """
    searches = _searches(arguments, options)
    all_variants = [variant for *_, variants in searches for variant in variants]
    protocols, policies = ([variant[n] for variant in all_variants] for n in (0, 1))
    named = bool(arguments.names or arguments.instance)
    found = []
    for id in options.properties or ():
        meant = set(PROPERTIES[id].variants)
        without = [policy for protocol, policy in all_variants if (protocol, policy) not in meant]
        if len(without) == len(policies):
            raise UsageError(
                f"no search would ask {id}: it {_meant_for(id, protocols)}, and these searches are of"
                f" {_listed(protocols)} under {_listed(policies)}; leave it out, or name another instance or policy"
            )
        if without:
            nowhere = [
                instance.name
                for instance, _, variants in searches
                if named and instance is not None and meant.isdisjoint(variants)
            ]
            found.append(NotAsked(id, tuple(dict.fromkeys(without)), len(without), len(policies), tuple(nowhere)))
    return tuple(found)


def is_everything(arguments: argparse.Namespace) -> bool:
    """Is this every state of all that ships, as it ships?"""
    some = arguments.names or arguments.instance or arguments.policy or arguments.protocol
    return arguments.engine == "explore" and not (some or arguments.mutant or arguments.reduction)


# -- which instances ---------------------------------------------------------------------------------------------------


def _picked(arguments: argparse.Namespace) -> list[Picked]:
    protocol = arguments.protocol
    if not arguments.names and not arguments.instance:
        if arguments.engine == "fuzz":
            return [(None, None)]
        everything: list[Picked] = [
            (instance, None) for instance in shipped() if protocol is None or instance.protocol == protocol
        ]
        if not everything:
            raise UsageError(f"no instance of the protocol {protocol} ships; give one with --instance FILE")
        return everything
    picked: list[Picked] = [_pick(name) for name in dict.fromkeys(arguments.names)]
    picked += [(load(path), path) for path in dict.fromkeys(arguments.instance)]
    for instance, _ in picked:
        if protocol is not None and instance is not None and instance.protocol != protocol:
            raise UsageError(
                f"--protocol {protocol}: the instance {instance.name} is of the protocol {instance.protocol}"
            )
    _refuse_namesakes(picked)
    return picked


def _pick(name: str) -> Picked:
    """The instance of this name; a name that ends in .toml or has a directory in it is a file."""
    if name.endswith(".toml") or Path(name).name != name:
        return load(Path(name)), Path(name)
    return find(name), None


def _refuse_namesakes(picked: Iterable[Picked]) -> None:
    """A report and a trace name an instance by its name."""
    seen: dict[str, str] = {}
    for instance, source in picked:
        assert instance is not None
        where = str(source) if source else "the one that ships"
        if instance.name in seen:
            raise UsageError(f"two instances are called {instance.name}: {seen[instance.name]} and {where}; rename one")
        seen[instance.name] = where


def _searches(arguments: argparse.Namespace, options: Options) -> Searches:
    def variants(instance: Instance | None) -> list[tuple[str, str]]:
        policies = _policies(instance, arguments.protocol, arguments.policy, options)
        return [
            (_drawn(arguments.protocol, policy, options) if instance is None else instance.protocol, policy)
            for policy in policies
        ]

    return [(instance, source, variants(instance)) for instance, source in _picked(arguments)]


# -- under which policies ----------------------------------------------------------------------------------------------


def _drawn(protocol: str | None, policy: str, options: Options) -> str:
    """The protocol that the fuzzer draws instances for under this policy."""
    if protocol is not None:
        return protocol
    if options.mutant is not None:
        return MUTANTS[options.mutant].protocol
    return next(name for name, definition in DEFINITIONS.items() if policy in definition.policies)


def _policies(instance: Instance | None, protocol: str | None, asked: str | None, options: Options) -> list[str]:
    """The instance's policies, or the one that the user named; with a mutant only those that it changes."""
    own = (
        instance.policies if instance is not None else POLICIES if protocol is None else DEFINITIONS[protocol].policies
    )
    policies = list(own) if asked is None else [asked]
    if instance is not None:
        policies = [policy for policy in policies if policy in policies_for(instance)]
    if options.mutant is None:
        return policies
    mutant = MUTANTS[options.mutant]
    if instance is not None and instance.protocol != mutant.protocol:
        return []
    return [policy for policy in policies if policy in mutant.policies]


def _meant_for(id: str, protocols: Iterable[str]) -> str:
    """Says of which protocols a property is, if it is of none of these, else for which policies it is meant."""
    of = {protocol for protocol, _ in PROPERTIES[id].variants}
    if of and of.isdisjoint(protocols):
        return f"is a property of {_listed(sorted(of))}"
    return f"is meant for {_listed(PROPERTIES[id].policies) or NO_POLICY}"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(names))


def _why_nothing_is_left(options: Options, policy: str | None, picked: Sequence[Instance | None]) -> str:
    found = f"; found --policy {policy}" if policy else ""
    possible = {p: None for instance in picked for p in (POLICIES if instance is None else policies_for(instance))}
    if policy is not None and policy not in possible:
        return f"these instances are for the policies {', '.join(possible)}{found}"
    if options.mutant is not None and (policy is None or policy not in MUTANTS[options.mutant].policies):
        policies = ", ".join(MUTANTS[options.mutant].policies)
        return f"the mutant {options.mutant} differs from the protocol under {policies} only{found}"
    if options.properties is None:
        return f"the mutant {options.mutant} is of another protocol{found}"
    protocols = {instance.protocol for instance in picked if instance is not None} or DEFINITIONS
    about = "; ".join(f"{id} {_meant_for(id, protocols)}" for id in options.properties)
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
