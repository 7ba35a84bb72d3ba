"""Reports on theorems: for people, and as JSON."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path

from routeproof.checker.prove.solve import WORDS, Judged, Settled, Verdict
from routeproof.checker.prove.theorems import AnyTheorem, rests_on
from routeproof.checker.prove.trace import Traces
from routeproof.checker.system.terminal import WIDTH, json_text, paint, printable, table, wrapped

COLOURS: dict[Verdict, str] = {
    "proved": "good",
    "bounded": "good",
    "unknown": "doubt",
    "vacuous": "bad",
    "refuted": "bad",
}
MARK = len("REFUTED: ")
GIVEN = "proved, given others"
"""The verdict of a theorem that rests on theorems that were not judged."""
SHOWN = 5
"""Number of failing obligations of a theorem that are printed in full."""


def exit_code(judged: Sequence[Judged]) -> int:
    verdicts = {each.verdict for each in judged}
    return 1 if verdicts & {"refuted", "vacuous"} else 3 if "unknown" in verdicts else 0


def render(judged: Sequence[Judged], seconds: float, traces: Traces) -> str:
    rows = [[j.id, f"{len(j.obligations):,}", f"{j.seconds:.1f} s", _words(j)] for j in judged]
    colours = [COLOURS[j.verdict] for j in judged]
    lines = table(["theorem", "obligations", "time", "verdict"], rows, "lrrw", colours)
    bounds = dict.fromkeys(j.bound for j in judged if j.bound)
    if bounds:
        lines += ["", "bounds"]
        for bound in bounds:
            ids = ", ".join(j.id for j in judged if j.bound == bound)
            lines += wrapped([("", f"{bound}: {ids}")])
    given = dict.fromkeys(j.given for j in judged if j.given)
    if given:
        lines += ["", "given, and not judged here"]
        for others in given:
            ids = ", ".join(j.id for j in judged if j.given == others)
            lines += wrapped([("", f"{', '.join(others)}: {ids}")])
    for each in judged:
        lines += _failures(each, traces)
    return "\n".join([*lines, "", _last_line(judged, seconds)])


def _words(judged: Judged) -> str:
    return GIVEN if judged.given else WORDS[judged.verdict]


def _failures(judged: Judged, traces: Traces) -> list[str]:
    lines = ["", f"{_mark(judged.verdict)}: {judged.id}: {judged.why}"] if judged.why else []
    bad = judged.with_verdict("refuted", "vacuous", "unknown")
    for each in bad[:SHOWN]:
        told = textwrap.wrap(printable(f"{judged.id}: {each.name}: {each.why}"), WIDTH - MARK, subsequent_indent="  ")
        lines += ["", f"{_mark(each.verdict)}: {told[0]}", *told[1:]]
        lines += wrapped([(f"  {name}", printable(value)) for name, value in each.shown.items()])
        if path := traces.get((judged.id, each.name)):
            lines.append(f"  see: routeproof show {printable(str(path))}")
    if len(bad) > SHOWN:
        lines += ["", f"and {len(bad) - SHOWN} more obligations of {judged.id}; --json has them all"]
    return lines


def _mark(verdict: Verdict) -> str:
    return paint(verdict if verdict == "unknown" else verdict.upper(), COLOURS[verdict])


def _last_line(judged: Sequence[Judged], seconds: float) -> str:
    said = [_words(j) for j in judged]
    obligations = sum(len(j.obligations) for j in judged)
    code = exit_code(judged)
    told = {
        0: f"every theorem is proved{', given those that were not judged' if GIVEN in said else ''}",
        1: "a theorem is refuted or vacuous",
        3: "no theorem is refuted, but not all are proved",
    }
    parts = [f"{said.count(words)} {words}" for words in dict.fromkeys([WORDS["proved"], GIVEN, *WORDS.values()])]
    parts = [part for part in parts if not part.startswith("0 ")]
    verdict = paint(told[code], {0: "good", 1: "bad", 3: "doubt"}[code])
    return f"{verdict}:\n  {', '.join(parts)}; {obligations:,} obligations, {seconds:.1f} s"


def as_json(theorems: Sequence[AnyTheorem], judged: Sequence[Judged], traces: Traces) -> str:
    rows = [{**described(t), **_outcome(j, traces)} for t, j in zip(theorems, judged, strict=True)]
    return json_text({"theorems": rows, "exit": exit_code(judged)})


def described(theorem: AnyTheorem) -> dict[str, object]:
    return {
        "id": theorem.id,
        "rules": list(theorem.rules),
        "about": theorem.about,
        "hypotheses": [*theorem.hypotheses, *(f"theorem {id}" for id in rests_on(theorem))],
        "rests_on": list(rests_on(theorem)),
        "bound": theorem.bound or None,
    }


def _outcome(judged: Judged, traces: Traces) -> dict[str, object]:
    return {
        "verdict": judged.verdict,
        "why": judged.why or None,
        "given": list(judged.given),
        "obligations": [_row(each, traces.get((judged.id, each.name))) for each in judged.obligations],
        "seconds": round(judged.seconds, 3),
    }


def _row(settled: Settled, trace: Path | None) -> dict[str, object]:
    return {
        "name": settled.name,
        "verdict": settled.verdict,
        "why": settled.why or None,
        "counterexample": settled.shown or None,
        "trace": None if trace is None else str(trace),
        "cases": settled.cases,
        "seconds": round(settled.seconds, 3),
    }
