"""The fuzzer: long runs of large instances, drawn at random, judged at every step, and shrunk when something is wrong.

    >>> from routeproof.checker.fuzz import fuzz
    >>> fuzz(None, policy="active", mutant=None, seed=0).findings["NoLostDelivery"].verdict
    'holds'

Reading order: `strategies` (what is drawn), `walk` (a run, judged, and what Hypothesis may do in it), `campaign` (old
counterexamples, then Hypothesis at work).
What a verdict of the fuzzer means is decided in `docs/decisions/0005-fuzz-verdict.md`.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence
from math import inf
from pathlib import Path

from attrs import evolve
from hypothesis import strategies as st

from routeproof.checker.counterexamples.record import write_counterexample
from routeproof.checker.counterexamples.shrink import shrink
from routeproof.checker.evaluation import Finding, Result
from routeproof.checker.explore.search import CLOSING, LEAST_CLOSING
from routeproof.checker.fuzz.campaign import INTERRUPTED, PROFILES, Campaign, Regression, Scope, regression
from routeproof.checker.fuzz.strategies import GENERATED, fuzzing_of, is_drawn, worlds
from routeproof.checker.fuzz.walk import FaultyMachine, trimmed
from routeproof.checker.system.errors import UsageError, unknown
from routeproof.checker.system.terminal import count
from routeproof.model.instance import POLICIES, Instance
from routeproof.model.protocols import DEFINITIONS, MUTANTS, world
from routeproof.spec.properties import PROPERTIES, Property

__all__ = ["PROFILES", "fuzz"]


def fuzz(
    instance: Instance | None,
    *,
    policy: str | None,
    mutant: str | None,
    protocol: str | None = None,
    seed: int | None = None,
    profile: str = "fast",
    examples: int | None = None,
    properties: Sequence[Property] | None = None,
    traces: Path | None = None,
    seconds: float | None = None,
) -> Result:
    """Search for a violation: in the interleavings of one instance, or in instances that are drawn as well.

    No policy: the instance's first, or a drawn one. Kept traces are played first (see `known`). A violation is written
    to `traces`; where the instance was drawn, it is a minimal one that is written.
    """
    began = time.monotonic()
    if profile not in PROFILES:
        raise unknown("profile", profile, PROFILES)
    chosen = PROFILES[profile] if examples is None else evolve(PROFILES[profile], examples=examples)
    policies = _policies(instance, protocol, policy, mutant)
    protocol = _protocol(instance, protocol, policies[0], mutant)
    declared = frozenset(instance.must_fail if instance is not None and mutant is None else ())
    drawn = worlds(chosen.sizes, protocol, policies, mutant)
    campaign = Campaign(
        drawn if instance is None else st.just(world(instance, policies[0], mutant)),
        FaultyMachine if instance is not None and instance.faults.any else fuzzing_of(protocol).machine,
        chosen,
        seed if seed is not None else chosen.seed if chosen.seed is not None else secrets.randbelow(1 << 32),
        properties,
        declared,
        inf if seconds is None else began + seconds,
    )
    kept = regression(Scope(instance, protocol, policies, mutant, properties, declared), traces)
    if kept is None:
        campaign.run()
    judged = (
        properties if properties is not None else [p for p in PROPERTIES.values() if p.is_meant_for(protocol, policies)]
    )
    shown = _shown(campaign, kept, instance is None, traces, seconds)
    return Result(
        instance=GENERATED if instance is None else instance.name,
        protocol=protocol,
        policy=policies[0] if len(policies) == 1 else "any",
        mutant=mutant,
        engine="fuzz",
        states=0,
        transitions=campaign.tally.steps,
        depth=campaign.tally.longest,
        complete=False,
        seconds=time.monotonic() - began,
        findings={p.id: shown.get(p.id) or _finding(p, campaign, bool(kept)) for p in judged},
        rules=dict(campaign.tally.rules),
        examples=campaign.examples,
        limit=_limit(campaign, kept),
    )


def _protocol(instance: Instance | None, protocol: str | None, policy: str, mutant: str | None) -> str:
    """The protocol of the instance, or the one that instances are drawn for."""
    if instance is not None:
        return instance.protocol
    if protocol is None:
        protocol = (
            MUTANTS[mutant].protocol if mutant else next(n for n, d in DEFINITIONS.items() if policy in d.policies)
        )
    if not is_drawn(protocol):
        raise UsageError(f"no instances are drawn for the protocol {protocol}; name one, or give --instance FILE")
    return protocol


def _policies(
    instance: Instance | None, protocol: str | None, policy: str | None, mutant: str | None
) -> tuple[str, ...]:
    """The policies to fuzz: the named one, or if instances are drawn and none is named, all that can show the fault."""
    if policy is not None:
        return (policy,)
    if instance is not None:
        return instance.policies[:1]
    if mutant is not None:
        return MUTANTS[mutant].policies
    return POLICIES if protocol is None else DEFINITIONS[protocol].policies


def _shown(
    campaign: Campaign, kept: Regression | None, drawn: bool, traces: Path | None, seconds: float | None
) -> dict[str, Finding]:
    """Findings that fail, each with a small run that is written down if a directory is given.

    How small depends on the time there is: a share of `seconds`, and a second after a signal. A signal that comes
    meanwhile ends it at once.
    """
    if kept is not None:
        id, why = kept.violation.property.id, kept.violation.why
        return {id: Finding(id, "always", "fails", 1, kept.violation.run, why, kept.path)}
    shown: dict[str, Finding] = {}
    most = LEAST_CLOSING if campaign.limit == INTERRUPTED else inf
    most = most if seconds is None else min(most, max(LEAST_CLOSING, CLOSING * seconds))
    until = time.monotonic() + most
    for violation in (campaign.violation, *campaign.noted.values()):
        if violation is not None:
            p, where = violation.property, violation.world
            finding = Finding(p.id, "always", "fails", campaign.tally.exercised[p.id], violation.run, violation.why)
            try:
                found = trimmed(violation, until)
                finding = evolve(finding, run=found.run, why=found.why)
                if drawn:
                    where, finding = shrink(where, finding, until)
            except KeyboardInterrupt:
                campaign.limit, until = INTERRUPTED, 0.0
            if traces is not None:
                try:
                    finding = evolve(finding, trace=write_counterexample(where, finding, traces))
                except OSError as error:  # the violation is reported without its trace; the seed finds it again
                    finding = evolve(finding, unwritten=error.strerror or str(error))
            shown[p.id] = finding
    return shown


def _finding(p: Property, campaign: Campaign, regressed: bool) -> Finding:
    """A property that nothing was found against: whether that means anything (docs/decisions/0005)."""
    times = campaign.tally.exercised[p.id]
    cut_short = regressed or campaign.violation is not None or campaign.limit
    if p.kind == "sometimes":
        return Finding(p.id, p.kind, "holds" if times else "unknown", times)
    return Finding(p.id, p.kind, "unknown" if cut_short or not times or p.id in campaign.declared else "holds", times)


def _limit(campaign: Campaign, kept: Regression | None) -> str:
    """The bound that the report gives with every verdict."""
    if kept is not None:
        return f"regression: {kept.path}"
    if campaign.limit == INTERRUPTED:
        return INTERRUPTED
    seen = f"{count(campaign.examples, 'example')}, {count(campaign.tally.steps, 'step')}, seed {campaign.seed}"
    return f"{campaign.limit}: {seen}" if campaign.limit else seen
