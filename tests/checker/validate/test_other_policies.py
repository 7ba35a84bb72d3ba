"""Other policies that allow a rejected run: those under which it is accepted as a whole, found with little judged."""

import random
from itertools import permutations
from pathlib import Path

import pytest
from attrs import evolve

from routeproof.checker.validate import OF_ANY_POLICY, setting_of, validate
from routeproof.checker.validate.findings import OF_RECORDERS, ON_PROMISES
from routeproof.checker.validate.local import validate_locally
from tests.checker.validate.corrupt import CORRUPTIONS, Row, as_run
from tests.checker.validate.damage import DAMAGES
from tests.checker.validate.walks import POLICIES, rows_of, write


def accepting(path: Path, policies: tuple[str, ...] = POLICIES) -> tuple[str, ...]:
    """Returns the policies under which the whole trace is judged and accepted."""
    setting = setting_of(path, "exact")
    judged = {policy: validate_locally(path, evolve(setting, policy=policy)) for policy in policies}
    return tuple(policy for policy, report in judged.items() if report.verdict == "accepted")


@pytest.mark.parametrize("name", ["", "a forwarded subscription lost", "a publication received twice"])
@pytest.mark.parametrize(("named", "true"), [*permutations(POLICIES, 2)])
def test_they_are_those_that_accept_the_whole_run(named: str, true: str, name: str, tmp_path: Path) -> None:
    rows = rows_of("star4", true)
    rows[0]["policy"] = named
    if name:
        CORRUPTIONS[name].spoil(rows)
    path = write(rows, tmp_path / "trace.jsonl")
    report = validate(path, "exact")
    accepted = accepting(path)
    assert report.other_policies == (accepted if report.verdict == "rejected" else ())
    assert name or true in accepted


def runs() -> list[Row]:
    """Returns every corruption and every damage, in a run of its own."""
    rows = rows_of("star4", "active")[:1]
    for name, corruption in CORRUPTIONS.items():
        mine = rows_of("star4", "active")
        rows += as_run(mine, name) if corruption.spoil(mine) is not None else []
    whole = rows_of("quotes3", "active", 1)
    for name, damage in DAMAGES.items():
        rows += as_run(damage.damaged(whole, random.Random(name)), name) if damage.places(whole) else []
    return rows


@pytest.mark.parametrize("promise", [{}, {"settles": 1}])
def test_what_is_judged_by_the_trace_alone_is_wrong_under_every_policy(promise: Row, tmp_path: Path) -> None:
    """By run and rule, but a step may be wrong before the event that is in disorder."""
    header, *events = runs()
    path = write([{**header, **promise}, *events], tmp_path / "runs.jsonl")
    setting = setting_of(path, "exact")
    fixed = [r for r in validate_locally(path, setting).rejections if r.rule in OF_ANY_POLICY]
    assert {r.rule for r in fixed} == OF_ANY_POLICY - ({ON_PROMISES} if not promise else set())
    for policy in POLICIES:
        found = validate_locally(path, evolve(setting, policy=policy)).rejections
        again = {(r.run, r.rule) for r in found}
        others = {(r.run, r.rule) for r in fixed if r.rule not in OF_RECORDERS}
        assert others <= again, policy
        assert {r.run for r in fixed} <= {r.run for r in found}, policy
