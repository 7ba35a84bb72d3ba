"""The report for people: every search, every property, what to worry about, what failed and how to look at it."""

from __future__ import annotations

import shlex
import textwrap
from collections import Counter

from attrs import asdict

from routeproof.checker.check.conclusion import BAD, Failure, JobOutcome, Run, Status
from routeproof.checker.system.terminal import WIDTH, count, paint, printable, table, wrapped
from routeproof.spec.properties import PROPERTIES

INDENT = "       "

VACUOUS = {"explore": "no reachable state put it to the test", "fuzz": "no drawn run put it to the test"}


def render(run: Run) -> str:
    lines = [*_searches(run), *_campaigns(run), "", *_properties(run), *_sometimes(run), *_declared(run)]
    if run.warnings or run.not_asked or run.undetermined or run.vacuous:
        lines.append("")
    lines += [
        line for id in run.vacuous for line in _marked("vacuous", "doubt", f"{id} ({VACUOUS[run.options.engine]})")
    ]
    lines += [line for text in run.warnings for line in _marked("warning", "doubt", text)]
    lines += [line for each in run.not_asked for line in _marked("not asked", "doubt", str(each))]
    lines += [line for text in run.undetermined for line in _marked("open", "doubt", text)]
    for failure in run.failures:
        lines += ["", *_failure(run, failure)]
    return "\n".join([*lines, "", _last_line(run)])


# -- searches ----------------------------------------------------------------------------------------------------------


def _searches(run: Run) -> list[str]:
    head = ("protocol", "instance", "policy", "states", "transitions", "depth", "verdict", "time")
    rows, colours = [], []
    for outcome in run.outcomes:
        verdict, colour = _verdict(outcome)
        rows.append(_row(outcome, verdict))
        colours.append(colour)
    return table(head, rows, "lllrrrwr", colours)


def _row(outcome: JobOutcome, verdict: str) -> tuple[str, ...]:
    job, result = outcome.job, outcome.result
    if result is None:
        protocol = job.instance.protocol if job.instance else ""
        return (protocol, job.name, job.policy, "", "", "", verdict, "")
    states = "" if result.engine == "fuzz" else f"{result.states:,}"  # the fuzzer does not know which are distinct
    counts = (states, f"{result.transitions:,}", f"{result.depth:,}")
    return (result.protocol, result.instance, result.policy, *counts, verdict, f"{result.seconds:.1f} s")


def _verdict(outcome: JobOutcome) -> tuple[str, str]:
    if outcome.result is None:
        return "not finished", "doubt"
    words: list[str] = []
    bad: dict[Status, str] = {"fails": "fails", "spared": "should fail", "missed": "not reached"}
    for status, what in bad.items():
        names = [f.property for f in outcome.with_status(status)]
        if names:
            words.append(f"{what}: {names[0]}" + (f" +{len(names) - 1}" if len(names) > 1 else ""))
    result = outcome.result
    # Fuzzing looks at some runs only: it finds no failure, and proves nothing.
    held = "without failure" if outcome.job.options.engine == "fuzz" else "hold"
    limit = f" ({result.limit})" if result.engine == "explore" and result.limit else ""
    for number, what in (
        (len(outcome.with_status("declared")), "fail as declared"),
        (len(outcome.with_status("unknown")), f"unknown{limit}"),
        (len([f for f in outcome.with_status("holds") if f.kind == "always"]), held),
        (len(outcome.with_status("vacuous")), "vacuous"),
    ):
        if number:
            words.append(f"{number} {what}")
    colour = "bad" if outcome.with_status(*BAD) else "doubt" if outcome.with_status("unknown") else "good"
    return ", ".join(words) or "nothing to say", colour


def _campaigns(run: Run) -> list[str]:
    """How much fuzzing stands behind a verdict, and the seed to repeat it with."""
    rows = [
        (o.result.instance, o.result.policy, o.result.limit)
        for o in run.outcomes
        if o.result is not None and o.result.engine == "fuzz" and o.result.limit
    ]
    return ["", *wrapped(rows)] if rows else []


# -- properties --------------------------------------------------------------------------------------------------------


def _properties(run: Run) -> list[str]:
    held = "no failure in" if run.options.engine == "fuzz" else "holds in"
    head = ("property", held, "vacuous in", "fails in", "as declared", "unknown", "exercised")
    rows = []
    for id, tally in _tallies(run, "always"):
        counts = [
            _sum(tally, *those)
            for those in (("holds", "spared"), ("vacuous",), ("fails",), ("declared",), ("unknown",))
        ]
        rows.append((id, *(f"{count:,}" for count in counts), f"{_exercised(run, id):,}"))
    return table(head, rows, "lrrrrrr") if rows else []


def _sometimes(run: Run) -> list[str]:
    head = ("sometimes", "reached in", "not in", "unknown", "times")
    rows = []
    for id, tally in _tallies(run, "sometimes"):
        counts = (_sum(tally, "holds"), _sum(tally, "unreached", "missed"), _sum(tally, "unknown"))
        rows.append((id, *(f"{count:,}" for count in counts), f"{_exercised(run, id):,}"))
    return ["", *table(head, rows, "lrrrr")] if rows else []


def _tallies(run: Run, kind: str) -> list[tuple[str, Counter[Status]]]:
    """Per property of a kind, in the order of the catalogue: how often each status."""
    found: dict[str, Counter[Status]] = {}
    for outcome in run.outcomes:
        for finding in outcome.findings.values():
            if finding.kind == kind:
                found.setdefault(finding.property, Counter())[outcome.status(finding)] += 1
    return [(id, found[id]) for id in PROPERTIES if id in found]


def _sum(tally: Counter[Status], *statuses: Status) -> int:
    return sum(tally[status] for status in statuses)


def _exercised(run: Run, id: str) -> int:
    return sum(o.findings[id].exercised for o in run.outcomes if id in o.findings)


def _declared(run: Run) -> list[str]:
    """Rows of expected failures: what each fault breaks, with the length of the shortest run over all policies."""
    steps: dict[str, dict[str, int]] = {}
    faults: dict[str, str] = {}
    for outcome in run.outcomes:
        for finding in outcome.with_status("declared"):
            instance, length = outcome.job.instance, len(finding.run or ())
            assert instance is not None, "an instance that the fuzzer draws declares nothing"
            faults[instance.name] = ", ".join(kind for kind, times in asdict(instance.faults).items() if times)
            shortest = steps.setdefault(instance.name, {})
            shortest[finding.property] = min(length, shortest.get(finding.property, length))
    rows = [(name, faults[name], ", ".join(f"{id} {n}" for id, n in broken.items())) for name, broken in steps.items()]
    head = ("declared", "fault", "what fails, and after how many steps")
    first, *rest = wrapped([head, *rows])
    return ["", paint(first, "head"), *rest] if rows else []


# -- failures ----------------------------------------------------------------------------------------------------------


def _failure(run: Run, failure: Failure) -> list[str]:
    where = f" in {failure.instance}" if failure.instance else ""
    under = f" under {failure.policy}" if failure.policy else ""
    mutant = f" with the mutant {run.options.mutant}" if run.options.mutant else ""
    lines = _marked("FAILS", "bad", f"{failure.subject}{where}{under}{mutant}: {failure.why}")
    if failure.finding is not None and failure.finding.run is not None:
        lines.append(f"{INDENT}after {count(len(failure.finding.run), 'step')}")
    path = run.trace_of(failure.instance, failure.policy, failure.subject)
    if path is not None:
        lines.append(f"{INDENT}see: routeproof show {shlex.quote(printable(str(path)))}")
    return lines


def _marked(mark: str, colour: str, text: str) -> list[str]:
    """`warning: ...`, wrapped; a word is never broken, so that a path can be copied."""
    body = textwrap.wrap(
        text, WIDTH - len(INDENT), break_long_words=False, break_on_hyphens=False, initial_indent=" " * len(mark)
    )
    first = body[0].lstrip() if body else ""
    return [f"{paint(mark, colour)}: {first}", *(INDENT + line for line in body[1:])]


def _last_line(run: Run) -> str:
    """The verdict in one line: PASS, FAIL or UNDETERMINED, and what it is about."""
    declared = sum(len(o.with_status("declared")) for o in run.outcomes)
    unknown = sum(len(o.with_status("unknown")) for o in run.outcomes)
    is_drawn = run.options.engine == "fuzz"
    drawn = f" in {count(sum(o.result.examples for o in run.outcomes if o.result), 'example')}" if is_drawn else ""
    match run.exit_code:
        case 0:
            verdict, colour = "PASS", "good"
            if run.not_asked:
                verdict, colour = "PASS, but some searches do not evaluate every named property", "doubt"
        case 1:
            verdict, colour = f"FAIL: {count(len(run.failures), 'failure')}{drawn}", "bad"
        case _:
            nowhere = [f"{e.property} was not evaluated in {', '.join(e.nowhere)}" for e in run.not_asked if e.nowhere]
            what = f"{count(unknown, 'verdict')} unknown" if unknown else "; ".join(nowhere) or "undetermined"
            verdict, colour = f"UNDETERMINED: no failure{drawn}, {what}", "doubt"
    parts = [_scope(run)]
    if is_drawn and run.exit_code == 0:
        parts.insert(0, f"no failure{drawn}")
    if declared:
        failed = count(declared, "property", "properties")
        parts.append(f"{failed} failed where the instance files expect it (must_fail)")
    text, indent = ". ".join(part for part in parts if part), " " * (len(verdict) + 2)
    first, *rest = textwrap.wrap(text, WIDTH, initial_indent=indent, subsequent_indent=INDENT)
    end = "\n".join([f"{paint(verdict, colour)}: {first.lstrip()}", *rest])
    unfinished = sum(o.result is None or o.result.limit == "interrupted" for o in run.outcomes)
    if unfinished:
        searches = count(unfinished, "search", "searches")
        why = "interrupted" if run.interrupted else "ended early"
        end += f"\n{INDENT}{why}: {searches} of {len(run.outcomes)} did not finish"
    return end


def _scope(run: Run) -> str:
    results = [o.result for o in run.outcomes if o.result]
    searches, instances = (
        count(len(results), "search", "searches"),
        count(len({r.instance for r in results}), "instance"),
    )
    states, steps = count(sum(r.states for r in results), "state"), count(sum(r.transitions for r in results), "step")
    return f"{searches}, {instances}, {steps if run.options.engine == 'fuzz' else states}, {run.seconds:.1f} s"
