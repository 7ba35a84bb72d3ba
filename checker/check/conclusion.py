"""Conclusion of a check: results held against what their instances declare.

An instance may declare properties that must fail in it (`must_fail`: what a fault breaks) and a `sometimes` or a rule
that must be reached (`must_reach`). `conclude` makes a `Run` of all results: a status for every property, what failed,
what deserves a warning, and the exit code. Reports only write it down.
`unshown` asks of the claims of papers that fail whether the counterexamples that ship still show it, and whether the
repairs mend them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import as_file, files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Literal

from attrs import Factory, frozen

from routeproof.checker.check import Job, Options
from routeproof.checker.counterexamples import replay_file
from routeproof.checker.evaluation import Finding, Result
from routeproof.checker.explore import explore
from routeproof.checker.system.errors import UsageError
from routeproof.checker.system.terminal import count
from routeproof.model.instance_file import parse_instance, to_table
from routeproof.model.protocols import world as world_of
from routeproof.model.world import World
from routeproof.spec.catalogues import CLAIMS, RULES, rules_that_fire
from routeproof.spec.properties import PROPERTIES
from routeproof.spec.specification import Claim, Repair

Status = Literal["holds", "vacuous", "fails", "unknown", "declared", "spared", "unreached", "missed"]
"""How a finding counts.

holds      holds, and was exercised; a `sometimes` was reached
vacuous    no state put it to the test: no success, and no failure
fails      fails, and the instance does not declare that it does
unknown    a limit came first
declared   fails, as the instance declares: a success
spared     holds, though the instance declares that it fails: a failure
unreached  a `sometimes` that is never reached here: a warning if that is so in every instance
missed     the same, where the instance declares that it is reached: a failure
"""

BAD: tuple[Status, ...] = ("fails", "spared", "missed")

CORPUS = files("routeproof.traces").joinpath("corpus")


@frozen
class JobOutcome:
    """One job's result. `result` is None where something ended the check first."""

    job: Job
    result: Result | None

    @property
    def findings(self) -> dict[str, Finding]:
        return self.result.findings if self.result else {}

    def status(self, finding: Finding) -> Status:
        instance = self.job.instance
        must_fail = instance is not None and finding.property in instance.must_fail
        must_reach = instance is not None and finding.property in instance.must_reach
        # Declarations are about the protocol as it is meant: with a mutant in its place they excuse, but never accuse.
        strict = self.job.options.mutant is None
        match finding.kind, finding.verdict:
            case _, "unknown":
                return "unknown"
            case "always", "holds":
                if must_fail and strict:
                    return "spared"
                return "holds" if finding.exercised else "vacuous"
            case "always", "fails":
                return "declared" if must_fail else "fails"
            case "sometimes", "fails":
                return "missed" if must_reach and strict else "unreached"
        return "holds"

    def with_status(self, *statuses: Status) -> list[Finding]:
        return [f for f in self.findings.values() if self.status(f) in statuses]


@frozen
class Failure:
    """Something that makes the check fail. `subject` is a property or a rule; no outcome where it is about several."""

    subject: str
    why: str
    instance: str = ""
    policy: str = ""
    finding: Finding | None = None
    outcome: JobOutcome | None = None


@frozen
class NotAsked:
    """A named property, and the searches that do not evaluate it because it is not meant for their policies."""

    property: str
    policies: tuple[str, ...]
    searches: int
    of: int
    nowhere: tuple[str, ...] = ()
    """Named instances of which no search evaluates the property: the question is open there."""

    def why(self) -> str:
        return f"it is meant for {', '.join(PROPERTIES[self.property].policies)}"

    def __str__(self) -> str:
        where = f"under {', '.join(self.policies)} ({self.searches:,} of {count(self.of, 'search', 'searches')})"
        nowhere = f"; under no policy of this check in {', '.join(self.nowhere)}" if self.nowhere else ""
        return f"{self.property} {where}: {self.why()}{nowhere}"


@frozen
class Run:
    """A whole check: the request and its outcomes."""

    options: Options
    outcomes: tuple[JobOutcome, ...]
    failures: tuple[Failure, ...]
    warnings: tuple[str, ...]
    undetermined: tuple[str, ...]
    """Open questions beyond the properties: declared rules that did not fire before a limit came."""
    vacuous: tuple[str, ...] = ()
    """Properties that no state of the whole run put to the test."""
    seconds: float = 0.0
    """By the clock on the wall."""
    traces: Mapping[tuple[str, str, str], Path] = Factory(dict)
    """By instance, policy and property: where its run was written."""
    not_asked: tuple[NotAsked, ...] = ()
    ended: int | None = None
    """The exit code of the signal that ended the run early."""

    @property
    def interrupted(self) -> bool:
        return self.ended is not None

    def trace_of(self, instance: str, policy: str, subject: str) -> Path | None:
        return self.traces.get((instance, policy, subject))

    @property
    def exit_code(self) -> int:
        if self.failures:
            return 1
        if self.ended is not None:
            return self.ended
        unknown = any(o.result is None or o.with_status("unknown") for o in self.outcomes)
        unknown = unknown or any(each.nowhere for each in self.not_asked)
        return 3 if unknown or self.undetermined else 0


def conclude(options: Options, outcomes: Sequence[JobOutcome], everything: bool, seconds: float = 0.0) -> Run:
    """`everything`: all that ships was checked in full, so that a rule that never fired is news."""
    failures = [f for o in outcomes for f in _failures_of(o)]
    open_questions: list[str] = []
    for name in dict.fromkeys(o.job.name for o in outcomes):
        missed, open_ = _declared_rules([o for o in outcomes if o.job.name == name])
        failures += missed
        open_questions += open_
    never = _never_reached(outcomes)
    if options.properties is not None:  # a property that the user named must be reached
        failures += [Failure(id, "was named with --property and is reached in no instance of this run") for id in never]
        never = []
    warnings = [f"{id} is reached in no instance of this run" for id in never]
    if everything:
        warnings += [f"rule {id} ({RULES[id].title}) never fired" for id in _never_fired(outcomes)]
    vacuous = tuple(_never_exercised(outcomes))
    return Run(options, tuple(outcomes), tuple(failures), tuple(warnings), tuple(open_questions), vacuous, seconds)


def _failures_of(outcome: JobOutcome) -> list[Failure]:
    found = []
    for finding in outcome.findings.values():
        status = outcome.status(finding)
        if status in BAD:
            why = {
                "spared": "holds, though the instance declares that it fails",
                "missed": "is never reached, though the instance declares that it is",
            }.get(status, finding.why)
            found.append(
                Failure(finding.property, why, outcome.job.name, outcome.job.policy, finding=finding, outcome=outcome)
            )
    return found


def _declared_rules(outcomes: list[JobOutcome]) -> tuple[list[Failure], list[str]]:
    """Rules that an instance declares: each fires under one of its policies at least.

    Which rules a policy uses is in their prose, so a run under some of the policies only cannot miss one.
    """
    instance = outcomes[0].job.instance
    if instance is None or outcomes[0].job.options.mutant is not None:
        return [], []
    results = [o.result for o in outcomes if o.result]
    whole = {r.policy for r in results if r.complete} >= set(instance.policies)
    asked = {o.job.policy for o in outcomes} >= set(instance.policies)
    never = [id for id in instance.must_reach if id in RULES and not any(r.rules.get(id) for r in results)]
    if whole:
        policies = " or ".join(instance.policies)
        why = f"never fires under {policies}, though the instance declares that it does"
        return [Failure(id, why, instance.name) for id in never], []
    return [], [f"whether rule {id} fires in {instance.name}" for id in never if asked]


def _never_reached(outcomes: Sequence[JobOutcome]) -> list[str]:
    """Each `sometimes` that was reached nowhere; one that a limit leaves open is not among them."""
    statuses: dict[str, set[Status]] = {}
    for o in outcomes:
        for f in o.findings.values():
            if f.kind == "sometimes":
                statuses.setdefault(f.property, set()).add(o.status(f))
    return [id for id in PROPERTIES if statuses.get(id) == {"unreached"}]


def _never_exercised(outcomes: Sequence[JobOutcome]) -> list[str]:
    """Each `always` that nothing put to the test, though nothing was left out either."""
    always = [f for o in outcomes for f in o.findings.values() if f.kind == "always"]
    exercised = {f.property for f in always if f.exercised or f.verdict != "holds"}
    return [id for id in PROPERTIES if id not in exercised and any(f.property == id for f in always)]


def _never_fired(outcomes: Sequence[JobOutcome]) -> list[str]:
    protocols = {o.result.protocol for o in outcomes if o.result}
    fired = {id for o in outcomes if o.result for id, times in o.result.rules.items() if times}
    return [id for protocol in sorted(protocols) for id in rules_that_fire(protocol) if id not in fired]


def unshown(corpus: Traversable = CORPUS) -> list[Failure]:
    """Returns a failure for each claim whose counterexample no longer shows it, or whose repair does not mend it."""
    broken = ((claim, _why(claim, corpus.joinpath(claim.trace))) for claim in CLAIMS.values() if claim.trace)
    return [Failure(claim.id, f"{claim.trace}: {why}") for claim, why in broken if why]


def _why(claim: Claim, trace: Traversable) -> str:
    if not trace.is_file():
        return "is not there"
    try:
        with as_file(trace) as path:
            replayed = replay_file(path)
    except UsageError as error:
        return str(error)
    if replayed.counterexample.property != PROPERTIES[claim.property]:
        return f"is a counterexample to something else than {claim.property}"
    if replayed.difference is not None:
        return f"is no counterexample any more: {replayed.difference}"
    mended = repaired(claim, replayed.counterexample.world)
    return f"is not mended by its repair: {mended.property} fails" if mended and mended.failed else ""


def repaired(claim: Claim, broken: World) -> Finding | None:
    """Result for the counterexample's own clients under the claim's repair; None if it has no repair."""
    repair = claim.repair
    if repair is None or not (repair.holds or repair.readings or repair.policy):
        return None
    asked = PROPERTIES[CLAIMS[repair.holds].property if repair.holds else claim.property]
    return explore(variant(broken, repair), properties=[asked]).findings[asked.id]


def variant(broken: World, repair: Repair) -> World:
    """World with the same clients, under what the repair changes."""
    policy = repair.policy or broken.policy
    table = {**to_table(broken.instance), "policy": policy}
    if repair.readings:  # the section that has the protocol's name
        protocol, given = broken.instance.protocol, table.get(broken.instance.protocol, {})
        table[protocol] = {**(given if isinstance(given, dict) else {}), **repair.readings}
    return world_of(parse_instance(table, "repaired"), policy)
