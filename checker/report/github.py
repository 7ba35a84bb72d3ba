"""Workflow commands for GitHub Actions: failures and open verdicts as annotations of a run."""

from __future__ import annotations

from routeproof.checker.outcome import Run


def github(run: Run) -> str:
    """An `::error` a failure, a `::warning` a warning or a search that came to no end; nothing else."""
    lines = []
    for failure in run.failures:
        where = " ".join(part for part in (failure.instance, failure.policy) if part)
        steps = f" after {len(failure.finding.run)} steps" if failure.finding and failure.finding.run else ""
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
    return "\n".join(lines)


def command(name: str, text: str, **properties: str) -> str:
    """`::error title=...::text`, with everything escaped that would end it early."""
    given = ",".join(f"{key}={_property(value)}" for key, value in properties.items() if value)
    return f"::{name}{' ' if given else ''}{given}::{_data(text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
