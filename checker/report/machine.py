"""Reports for programs: one JSON object, and JUnit XML."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree as ET

from routeproof.checker.outcome import Failure, Outcome, Run
from routeproof.checker.verdict import Finding

NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


# -- JSON --------------------------------------------------------------------------------------------------------------


def json_report(run: Run) -> str:
    """The object of docs/command-line.md, section "check --json"."""
    report = {
        "results": [_result(run, o) for o in run.outcomes if o.result],
        "failures": [_failure(run, f) for f in run.failures],
        "warnings": list(run.warnings),
        "undetermined": list(run.undetermined),
        "interrupted": run.interrupted,
        "exit": run.exit_code,
    }
    return json.dumps(report, indent=2) + "\n"


def _result(run: Run, outcome: Outcome) -> dict[str, object]:
    result = outcome.result
    assert result is not None
    row: dict[str, object] = {
        "instance": result.instance,
        "protocol": result.protocol,
        "policy": result.policy,
        "mutant": result.mutant,
        "engine": result.engine,
        "states": result.states,
        "transitions": result.transitions,
        "depth": result.depth,
        "complete": result.complete,
        "limit": result.limit or None,
        "seconds": round(result.seconds, 3),
        "properties": {id: _property(run, outcome, f) for id, f in result.findings.items()},
        "rules": {id: result.rules[id] for id in sorted(result.rules)},
    }
    if result.reduction:
        row["reduction"] = "+".join(result.reduction)
        row["stored"] = result.stored
    return row


def _property(run: Run, outcome: Outcome, finding: Finding) -> dict[str, object]:
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
    """One suite a search, one case a property. A failure is `failure`, what is undetermined an `error`: neither passes.

    A `sometimes` that is not reached, where nobody says that it must be, is `skipped`.
    """
    root = ET.Element("testsuites", name="routeproof")
    for outcome in run.outcomes:
        _suite(root, run, outcome)
    _suite_of_the_run(root, run)
    for key in ("tests", "failures", "errors", "skipped"):
        root.set(key, str(sum(int(suite.get(key, "0")) for suite in root)))
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _suite(root: ET.Element, run: Run, outcome: Outcome) -> None:
    job, result = outcome.job, outcome.result
    protocol = result.protocol if result else "routing"
    suite = ET.SubElement(root, "testsuite", name=f"{protocol}.{job.name}.{job.policy}")
    suite.set("time", f"{result.seconds if result else 0:.3f}")
    if result is None:
        case = ET.SubElement(suite, "testcase", name="search", classname=suite.get("name", ""))
        ET.SubElement(case, "error", message="interrupted before it ran", type="unknown")
    for finding in outcome.findings.values():
        case = ET.SubElement(suite, "testcase", name=finding.property, classname=suite.get("name", ""), time="0")
        _verdict(case, outcome, finding, run.trace_of(job.name, job.policy, finding.property))
    _count(suite)


def _verdict(case: ET.Element, outcome: Outcome, finding: Finding, path: Path | None) -> None:
    status = outcome.status(finding)
    details = [f"{len(finding.run)} steps: {', '.join(finding.run)}"] if finding.run else []
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
        case "unreached":
            ET.SubElement(case, "skipped", message="never reached in this instance")
        case "declared":
            ET.SubElement(case, "system-out").text = _legal(f"fails as declared: {finding.why}\n") + text


def _suite_of_the_run(root: ET.Element, run: Run) -> None:
    """What is about several searches at once: declared rules, and what was asked for and reached nowhere."""
    suite = ET.Element("testsuite", name="routeproof.run", time="0")
    for failure in run.failures:
        if failure.finding is None:
            where = f"routeproof.{failure.instance or 'run'}"
            case = ET.SubElement(suite, "testcase", name=failure.subject, classname=where, time="0")
            ET.SubElement(case, "failure", message=_legal(failure.why), type="missed")
    for question in run.undetermined:
        case = ET.SubElement(suite, "testcase", name=question, classname="routeproof.run", time="0")
        ET.SubElement(case, "error", message="undetermined", type="unknown")
    if len(suite):
        _count(suite)
        root.append(suite)


def _count(suite: ET.Element) -> None:
    suite.set("tests", str(len(suite.findall("testcase"))))
    for key, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(key, str(len(suite.findall(f"testcase/{tag}"))))


def _legal(text: str) -> str:
    """XML has no way to write most control characters, not even escaped."""
    return NOT_IN_XML.sub("?", text)
