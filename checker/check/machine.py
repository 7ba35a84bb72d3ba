"""Reports for programs: one JSON object, and JUnit XML.

`github` writes failures and open verdicts as annotations of a run of GitHub Actions.
"""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

from attrs import asdict

from routeproof.checker.check.conclusion import Failure, JobOutcome, Run
from routeproof.checker.evaluation import Finding
from routeproof.checker.system import files
from routeproof.checker.system.terminal import count, json_text, printable


def json_report(run: Run) -> str:
    """The object of docs/reference/command-line.md, section "check --json"."""
    report = {
        "results": [_result(run, o) for o in run.outcomes if o.result],
        "failures": [_failure(run, f) for f in run.failures],
        "vacuous": list(run.vacuous),
        "warnings": list(run.warnings),
        "undetermined": list(run.undetermined),
        "not_asked": [asdict(each) for each in run.not_asked],
        "interrupted": run.interrupted,
        "exit": files.code_with_unwritten(run.exit_code),
    }
    return json_text(report)


def _result(run: Run, outcome: JobOutcome) -> dict[str, object]:
    result = outcome.result
    assert result is not None
    copied = ("instance", "protocol", "policy", "mutant", "engine", "states", "transitions", "depth", "complete")
    row: dict[str, object] = {
        **{key: getattr(result, key) for key in copied},
        "limit": result.limit or None,
        "seconds": round(result.seconds, 3),
        "properties": {id: _property(run, outcome, f) for id, f in result.findings.items()},
        "rules": {id: result.rules[id] for id in sorted(result.rules)},
    }
    if result.reduction:
        row["reduction"] = "+".join(result.reduction)
        row["stored"] = result.stored
    return row


def _property(run: Run, outcome: JobOutcome, finding: Finding) -> dict[str, object]:
    """`counterexample` and `length` are of a violation only; a `sometimes` that was reached has a witness instead."""
    path = run.trace_of(outcome.job.name, outcome.job.policy, finding.property)
    violated = finding.kind == "always" and finding.run is not None
    return {
        "verdict": finding.verdict,
        "exercised": finding.exercised,
        "counterexample": str(path) if path else None,
        "length": len(finding.run) if violated and finding.run is not None else None,
        "kind": finding.kind,
        "status": outcome.status(finding),
        "why": finding.why or None,
    }


def _failure(run: Run, failure: Failure) -> dict[str, object]:
    path = run.trace_of(failure.instance, failure.policy, failure.subject)
    return {
        "subject": failure.subject,
        "instance": failure.instance or None,
        "policy": failure.policy or None,
        "why": failure.why,
        "counterexample": str(path) if path else None,
    }


# -- JUnit -------------------------------------------------------------------------------------------------------------


def junit(run: Run) -> str:
    """Returns JUnit XML with a suite for each search and a case for each property. A failure is a `failure`, an
    undetermined verdict an `error`: neither passes.

    A vacuous property is `skipped`, and so are a `sometimes` that is not reached and need not be, and a property that
    the user named and some searches do not evaluate. If no search of a named instance evaluates it, it is an `error`.
    """
    root = ET.Element("testsuites", name="routeproof")
    for outcome in run.outcomes:
        _suite(root, run, outcome)
    _suite_of_the_run(root, run)
    for key in ("tests", "failures", "errors", "skipped"):
        root.set(key, str(sum(int(suite.get(key, "0")) for suite in root)))
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _suite(root: ET.Element, run: Run, outcome: JobOutcome) -> None:
    job, result = outcome.job, outcome.result
    protocol = result.protocol if result else "routing"
    suite = ET.SubElement(root, "testsuite", name=_legal(f"{protocol}.{job.name}.{job.policy}"))
    suite.set("time", f"{result.seconds if result else 0:.3f}")
    if result is None:
        case = ET.SubElement(suite, "testcase", name="search", classname=suite.get("name", ""))
        ET.SubElement(case, "error", message="not finished", type="unknown")
    for finding in outcome.findings.values():
        case = ET.SubElement(suite, "testcase", name=finding.property, classname=suite.get("name", ""), time="0")
        _verdict(case, outcome, finding, run.trace_of(job.name, job.policy, finding.property))
    _count(suite)


def _verdict(case: ET.Element, outcome: JobOutcome, finding: Finding, path: Path | None) -> None:
    status = outcome.status(finding)
    details = [f"{count(len(finding.run), 'step')}: {', '.join(finding.run)}"] if finding.run else []
    details += [f"trace: {path}"] if path else []
    text = _legal("\n".join(details))
    match status:
        case "fails" | "spared" | "missed":
            why = {"spared": "declared to fail, and holds", "missed": "declared to be reached, and never is"}
            failure = ET.SubElement(case, "failure", message=_legal(why.get(status, finding.why)), type=status)
            failure.text = text or None
        case "unknown":
            limit = outcome.result.limit if outcome.result else ""
            ET.SubElement(case, "error", message=_legal(f"unknown: {limit or 'not decided'}"), type="unknown")
        case "vacuous":
            ET.SubElement(case, "skipped", message="vacuous: no state put it to the test")
        case "unreached":
            ET.SubElement(case, "skipped", message="never reached in this instance")
        case "declared":
            ET.SubElement(case, "system-out").text = _legal(f"fails as declared: {finding.why}\n") + text


def _suite_of_the_run(root: ET.Element, run: Run) -> None:
    """Suite about several searches at once: declared rules, and named properties that were reached nowhere."""
    suite = ET.Element("testsuite", name="routeproof.run", time="0")
    for failure in run.failures:
        if failure.finding is None:
            where = f"routeproof.{failure.instance or 'run'}"
            case = ET.SubElement(suite, "testcase", name=_legal(failure.subject), classname=_legal(where), time="0")
            ET.SubElement(case, "failure", message=_legal(failure.why), type="missed")
    for each in run.not_asked:
        for instance in each.nowhere:
            where = _legal(f"routeproof.{instance}")
            case = ET.SubElement(suite, "testcase", name=each.property, classname=where, time="0")
            ET.SubElement(
                case, "error", message=f"no search of this instance evaluates it: {each.why()}", type="not asked"
            )
        case = ET.SubElement(suite, "testcase", name=each.property, classname="routeproof.run", time="0")
        ET.SubElement(case, "skipped", message=f"not asked: {each}")
    for question in run.undetermined:
        case = ET.SubElement(suite, "testcase", name=_legal(question), classname="routeproof.run", time="0")
        ET.SubElement(case, "error", message="undetermined", type="unknown")
    if len(suite):
        _count(suite)
        root.append(suite)


def _count(suite: ET.Element) -> None:
    suite.set("tests", str(len(suite.findall("testcase"))))
    for key, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(key, str(len(suite.findall(f"testcase/{tag}"))))


def _legal(text: str) -> str:
    """The text as XML can hold it: it has no way to write most control characters, not even escaped."""
    return printable(text, keep="\n")


def github(run: Run) -> str:
    """Returns an `::error` for each failure, and a `::warning` for each warning and each verdict that is open.

    A property that the user named is a `::notice` if some searches do not evaluate it.
    """
    lines = []
    for failure in run.failures:
        where = " ".join(part for part in (failure.instance, failure.policy) if part)
        steps = f" after {count(len(failure.finding.run), 'step')}" if failure.finding and failure.finding.run else ""
        path = run.trace_of(failure.instance, failure.policy, failure.subject)
        trace = f"\ntrace: {path}" if path else ""
        source = failure.outcome.job.source if failure.outcome else None
        title = f"{failure.subject}: {where}" if where else failure.subject
        lines.append(command("error", f"{failure.why}{steps}{trace}", title=title, file=str(source) if source else ""))
    for outcome in run.outcomes:
        open_ = [f.property for f in outcome.with_status("unknown")]
        if outcome.result is None or open_:
            limit = outcome.result.limit if outcome.result else "interrupted"
            text = f"unknown: {', '.join(open_) or 'everything'} ({limit or 'not decided'})"
            lines.append(command("warning", text, title=str(outcome.job)))
    lines += [command("warning", text, title="routeproof") for text in (*run.warnings, *run.undetermined)]
    for each in run.not_asked:
        lines.append(command("warning" if each.nowhere else "notice", f"not asked: {each}", title=each.property))
    return "\n".join(lines)


def command(name: str, text: str, **properties: str) -> str:
    """`::error title=...::text`, with everything escaped that would end it early."""
    escaped = {key: _data(value).replace(":", "%3A").replace(",", "%2C") for key, value in properties.items()}
    given = ",".join(f"{key}={value}" for key, value in escaped.items() if value)
    return f"::{name}{' ' if given else ''}{given}::{_data(text)}"


def _data(text: str) -> str:
    return printable(text, keep="\r\n").replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
