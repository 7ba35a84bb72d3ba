"""The report for people: every search, every property, what to worry about, what failed and how to look at it."""

from __future__ import annotations

import shlex
import textwrap

from attrs import asdict

from routeproof.checker.outcome import BAD, Failure, Outcome, Run, Status
from routeproof.checker.report.columns import WIDTH, table, wrapped
from routeproof.checker.terminal import paint
from routeproof.spec.properties import PROPERTIES

INDENT = "       "


def render(run: Run) -> str:
    lines = [*_searches(run), *_campaigns(run), "", *_properties(run), *_sometimes(run), *_declared(run)]
    if run.warnings or run.undetermined:
        lines.append("")
    lines += [line for text in run.warnings for line in _marked("warning", "doubt", text)]
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


def _row(outcome: Outcome, verdict: str) -> tuple[str, ...]:
    job, result = outcome.job, outcome.result
    if result is None:
        protocol = job.instance.protocol if job.instance else ""
        return (protocol, job.name, job.policy, "", "", "", verdict, "")
    states = "" if result.engine == "fuzz" else f"{result.states:,}"  # the fuzzer does not know which are distinct
    counts = (states, f"{result.transitions:,}", f"{result.depth:,}")
    return (result.protocol, result.instance, result.policy, *counts, verdict, f"{result.seconds:.1f} s")


def _verdict(outcome: Outcome) -> tuple[str, str]:
    """What came out of one search, in a few words, and their colour."""
    if outcome.result is None:
        return "interrupted", "doubt"
    words: list[str] = []
    bad: dict[Status, str] = {"fails": "fails", "spared": "should fail", "missed": "not reached"}
    for status, what in bad.items():
        names = [f.property for f in outcome.with_status(status)]
        if names:
            words.append(f"{what}: {names[0]}" + (f" +{len(names) - 1}" if len(names) > 1 else ""))
    result = outcome.result
    limit = f" ({result.limit})" if result.engine == "explore" and result.limit else ""
    for count, what in (
        (len(outcome.with_status("declared")), "fail as declared"),
        (len(outcome.with_status("unknown")), f"unknown{limit}"),
        (len([f for f in outcome.with_status("holds") if f.kind == "always"]), "hold"),
    ):
        if count:
            words.append(f"{count} {what}")
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
    head = ("property", "holds in", "fails in", "as declared", "unknown", "exercised")
    rows = []
    for id, tally in _tallies(run, "always"):
        counts = (_sum(tally, "holds", "spared"), _sum(tally, "fails"), _sum(tally, "declared"), _sum(tally, "unknown"))
        rows.append((id, *(f"{count:,}" for count in counts), f"{_exercised(run, id):,}"))
    return table(head, rows, "lrrrrr") if rows else []


def _sometimes(run: Run) -> list[str]:
    head = ("sometimes", "reached in", "not in", "unknown", "times")
    rows = []
    for id, tally in _tallies(run, "sometimes"):
        counts = (_sum(tally, "holds"), _sum(tally, "unreached", "missed"), _sum(tally, "unknown"))
        rows.append((id, *(f"{count:,}" for count in counts), f"{_exercised(run, id):,}"))
    return ["", *table(head, rows, "lrrrr")] if rows else []


def _tallies(run: Run, kind: str) -> list[tuple[str, dict[Status, int]]]:
    """Per property of a kind, in the order of the catalogue: how often each status."""
    found: dict[str, dict[Status, int]] = {}
    for outcome in run.outcomes:
        for finding in outcome.findings.values():
            if finding.kind == kind:
                tally = found.setdefault(finding.property, {})
                status = outcome.status(finding)
                tally[status] = tally.get(status, 0) + 1
    return [(id, found[id]) for id in PROPERTIES if id in found]


def _sum(tally: dict[Status, int], *statuses: Status) -> int:
    return sum(tally.get(status, 0) for status in statuses)


def _exercised(run: Run, id: str) -> int:
    return sum(o.findings[id].exercised for o in run.outcomes if id in o.findings)


def _declared(run: Run) -> list[str]:
    """What each fault breaks, and how soon: the shortest run over the instance's policies."""
    steps: dict[str, dict[str, int]] = {}
    faults: dict[str, str] = {}
    for outcome in run.outcomes:
        for finding in outcome.with_status("declared"):
            instance, length = outcome.job.instance, len(finding.run or ())
            assert instance is not None, "nobody declares what the fuzzer makes"
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
        steps = len(failure.finding.run)
        lines.append(f"{INDENT}after {steps} step{'' if steps == 1 else 's'}")
    path = run.trace_of(failure.instance, failure.policy, failure.subject)
    if path is not None:
        lines.append(f"{INDENT}see: routeproof show {shlex.quote(str(path))}")
    return lines


def _marked(mark: str, colour: str, text: str) -> list[str]:
    """`warning: ...`, wrapped; a word is never broken, so that a path can be copied."""
    body = textwrap.wrap(
        text, WIDTH - len(INDENT), break_long_words=False, break_on_hyphens=False, initial_indent=" " * len(mark)
    )
    first = body[0].lstrip() if body else ""
    return [f"{paint(mark, colour)}: {first}", *(INDENT + line for line in body[1:])]


def _last_line(run: Run) -> str:
    declared = sum(len(o.with_status("declared")) for o in run.outcomes)
    unknown = sum(len(o.with_status("unknown")) for o in run.outcomes)
    match run.exit_code:
        case 0:
            verdict, colour = "everything asked holds", "good"
        case 1:
            verdict, colour = _count(len(run.failures), "failure"), "bad"
        case _:
            what = f"{_count(unknown, 'verdict')} unknown" if unknown else "undetermined"
            verdict, colour = f"nothing fails, {what}", "doubt"
    if declared:
        verdict += f" ({_count(declared, 'failure')} as declared)"
    scope = _scope(run)
    gap = ": " if len(verdict) + len(scope) + 2 <= WIDTH else f":\n{INDENT}"
    return f"{paint(verdict, colour)}{gap}{scope}"


def _scope(run: Run) -> str:
    """What the verdict is about."""
    results = [o.result for o in run.outcomes if o.result]
    parts = [
        _count(len(results), "search", "searches"),
        _count(len({r.instance for r in results}), "instance"),
        _count(sum(r.transitions for r in results), "step")
        if run.options.engine == "fuzz"
        else _count(sum(r.states for r in results), "state"),
        f"{run.seconds:.1f} s",
    ]
    unfinished = len(run.outcomes) - sum(r.limit != "interrupted" for r in results)
    if unfinished:
        parts.append(f"interrupted: {_count(unfinished, 'search', 'searches')} of {len(run.outcomes)} did not finish")
    return ", ".join(parts)


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"
