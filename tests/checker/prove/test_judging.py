"""One obligation, one examination, one theorem: what each verdict takes, and that none comes for nothing."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import z3

from routeproof.checker.prove.solve import RLIMIT, Case, CodeTheorem, Examination, Verdict, examine, settle
from routeproof.checker.prove.theorems import SYMBOLIC as THEOREMS
from routeproof.checker.prove.theorems import judge
from routeproof.spec.theory.filters import SHORT
from routeproof.spec.theory.proof import Obligation, ShownValue, Theorem
from tests.shown import recorded

X, Y = z3.Int("x"), z3.Int("y")


def theorem(*obligations: Obligation, bound: str = "") -> Theorem:
    return Theorem("Test", (), "A theorem of a test.", lambda: obligations, bound=bound)


TRUE = Obligation("true", z3.Implies(X > 1, X > 0))
FALSE = Obligation(
    "false", X < 10, smaller=[X < 5, X < 12], shown={"x": ShownValue((X,), lambda values: str(values[0]))}
)
HARD = Obligation("hard", z3.Not(z3.Int("z") * z3.Int("z") * z3.Int("z") * 3 + 4 == X * X * X + Y * Y * Y))


# -- vacuity -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "vacuous",
    [
        Obligation("assumptions that contradict each other", X > Y, [X > 0, X < 0]),
        Obligation("a guard that is false", z3.BoolVal(True), [], {"a guard": z3.BoolVal(False)}),
        Obligation("a guard that the assumptions exclude", X > 0, [X > 1], {"x is less": X < 1}),
        Obligation("one of two guards", X >= 0, [X > 1], {"possible": X == 2, "impossible": X == 1}),
        Obligation("what implies can never be", z3.Implies(X != X, X > 0), [], {"it can": X != X}),
    ],
    ids=lambda each: each.name,
)
def test_a_vacuous_obligation_fails_its_theorem(vacuous: Obligation) -> None:
    assert settle(vacuous).verdict == "vacuous"
    assert settle(vacuous).why.startswith("impossible: ")
    judged = judge(theorem(TRUE, vacuous, TRUE))
    assert judged.verdict == "vacuous"
    assert [each.name for each in judged.with_verdict("vacuous")] == [vacuous.name]


def test_a_theorem_without_obligations_is_vacuous() -> None:
    assert judge(theorem()).verdict == "vacuous"


@recorded
@pytest.mark.parametrize("id", [id for id in THEOREMS if "Strings" not in id and id != "EventSets"])
def test_a_contradiction_in_what_is_given_is_found_in_each_of_the_first_obligations(id: str) -> None:
    obligations = THEOREMS[id].obligations()
    for each in obligations[:3]:
        broken = Obligation(each.name, each.goal, [*each.given, X > Y, Y > X], each.guards)
        assert settle(broken).verdict == "vacuous"


# -- the others --------------------------------------------------------------------------------------------------------


def test_a_refuted_one_shows_the_smallest_that_was_asked_for() -> None:
    settled = settle(FALSE)
    assert (settled.verdict, settled.shown) == ("refuted", {"x": settled.shown["x"]})
    assert 10 <= int(settled.shown["x"]) < 12


def test_too_little_is_unknown_and_never_proved() -> None:
    assert settle(HARD, rlimit=1000).verdict == "unknown"
    assert settle(HARD, rlimit=1000) == settle(HARD, rlimit=1000)
    guarded = Obligation("a guard too hard", z3.BoolVal(True), [], {"hard": z3.Not(HARD.goal)})
    settled = settle(guarded, rlimit=1000)
    assert settled.verdict == "unknown"
    assert "'hard'" in settled.why


@pytest.mark.parametrize(
    ("obligations", "bound", "verdict"),
    [
        ((TRUE,), "", "proved"),
        ((TRUE,), "three characters", "bounded"),
        ((TRUE, HARD), "", "unknown"),
        ((HARD, FALSE), "", "refuted"),
        ((FALSE, TRUE), "three characters", "refuted"),
    ],
)
def test_a_theorem_is_what_its_worst_obligation_is(
    obligations: tuple[Obligation, ...], bound: str, verdict: Verdict
) -> None:
    assert judge(theorem(*obligations, bound=bound), rlimit=1000).verdict == verdict


def test_nothing_depends_on_what_was_asked_before() -> None:
    """A limit just above what one needs: it is enough alone, and after other questions, and again."""
    obligations = THEOREMS["StringOrder"].obligations()
    asked = next(each for each in obligations if each.name == "before what is before")
    enough = _least(lambda rlimit: settle(asked, rlimit).verdict == "proved")
    for other in obligations:
        settle(other, rlimit=enough)
    assert settle(asked, rlimit=enough).verdict == "proved"
    assert settle(asked, rlimit=enough // 2).verdict == "unknown"
    again = next(each for each in THEOREMS["StringOrder"].obligations() if each.name == asked.name)
    assert settle(again, rlimit=enough).verdict == "proved"


def _least(is_enough: Callable[[int], bool]) -> int:
    rlimit = 1000
    while not is_enough(rlimit):
        rlimit *= 2
        assert rlimit < RLIMIT
    return rlimit


# -- case by case ------------------------------------------------------------------------------------------------------


def cases(*pairs: tuple[bool, bool]) -> Callable[[], list[Case]]:
    return lambda: [Case(expected, found, lambda: {"the": "case"}) for expected, found in pairs]


@pytest.mark.parametrize(
    ("tried", "both", "verdict"),
    [
        ([(True, True), (False, False)], True, "bounded"),
        ([(True, True)], False, "bounded"),
        ([(True, True)], True, "vacuous"),
        ([(False, False)], True, "vacuous"),
        ([], True, "vacuous"),
        ([], False, "vacuous"),
        ([(True, True), (True, False)], True, "refuted"),
        ([(False, True)], False, "refuted"),
    ],
)
def test_examinations(tried: list[tuple[bool, bool]], both: bool, verdict: Verdict) -> None:
    settled = examine(Examination("some", cases(*tried), both))
    assert settled.verdict == verdict
    assert settled.cases == len(tried)
    assert settled.shown == ({"the": "case"} if verdict == "refuted" else {})


def test_what_is_tried_out_must_say_up_to_which_bound() -> None:
    some = Examination("some", cases((True, True)), both=False)
    with pytest.raises(ValueError, match="say up to which"):
        judge(CodeTheorem("Test", (), "", lambda: [some], bound=""))
    assert judge(CodeTheorem("Test", (), "", lambda: [some], bound="one case")).verdict == "bounded"


def test_the_bound_is_in_the_theorem() -> None:
    assert THEOREMS["ShortStringsCover"].bound == SHORT.bound == "constants of up to 3 characters, values of up to 7"
