"""A refuted lemma or promise shows a small world, or one broker: what there is, and all that was asked of it."""

from __future__ import annotations

import z3

from routeproof.checker.prove.solve import MANY, settle
from routeproof.spec.theory import BROKER, SUB, Symbolic, Term, Truth
from routeproof.spec.theory.invariants import keep_their_promises
from routeproof.spec.theory.proof import Obligation
from routeproof.spec.theory.relation.routing import HandlerStep


def test_all_that_was_asked_of_is_shown_over_as_few_elements_as_will_do() -> None:
    """Somebody has s, so everybody does: it takes two brokers, and one subscription."""
    logic = Symbolic()
    has, has_after = (logic.relation(name, (BROKER, SUB)) for name in ("has", "has_after"))
    near = logic.function("near", (BROKER,), BROKER)
    b, u, s = logic.constant("b", BROKER), logic.constant("u", BROKER), logic.constant("s", SUB)
    given = [z3.And(has(b, s), has_after(b, s), z3.Not(has_after(u, s)), near(b) == u, near(u) == b)]
    settled = settle(Obligation("everybody has it", has(u, s), given))
    assert settled.verdict == "refuted"
    there, of = settled.shown.pop("there are"), settled.shown.pop("of")
    assert there == "b1, b2, s1"
    mine, other = ("b1", "b2") if "b is b1" in of else ("b2", "b1")
    assert of == f"b is {mine}, s is s1, u is {other}"
    assert settled.shown == {
        "has": f"{mine} s1",
        "has then": f"{mine} s1",
        "near": "b1: b2, b2: b1",
    }


def test_what_is_of_no_elements_is_shown_by_its_values() -> None:
    x, y = z3.Ints("x y")
    settled = settle(Obligation("the square", x != 3, [x + y == 5]))
    assert (settled.verdict, settled.shown) == ("refuted", {"of": "x is 3, y is 2"})


def test_of_a_world_that_has_to_be_large_only_what_has_a_name_is_shown() -> None:
    """Its rows would rise with a power of its size: of 145 brokers, which Z3 made once, they never came to an end."""
    logic = Symbolic()
    near, b, u = logic.function("near", (BROKER,), BROKER), logic.constant("b", BROKER), logic.constant("u", BROKER)
    between = logic.relation("between", (BROKER, BROKER, BROKER))
    ways = [b]
    for _ in range(MANY + 3):
        ways.append(near(ways[-1]))
    settled = settle(Obligation("near", near(b) != u, [z3.Distinct(*ways), between(b, b, u), between(b, ways[2], u)]))
    assert settled.verdict == "refuted"
    mine, other = ("b1", "b2") if "b is b1" in settled.shown["of"] else ("b2", "b1")
    assert settled.shown["there are"] == f"b1, b2, {MANY + 2} more of Broker of which nothing is shown"
    assert f"{mine} {mine} {other}" in settled.shown["between"].split(", ")
    assert settled.shown["near"] == ", ".join(sorted([f"{mine}: {other}", f"{other}: one of the others"]))


class NobodyIsTold(HandlerStep):
    def wanted(self, u: Term, s: Term) -> Truth:
        return False


class EverybodyIsTold(HandlerStep):
    def wanted(self, u: Term, s: Term) -> Truth:
        return True


def test_a_policy_that_breaks_a_promise_is_shown_with_its_tables() -> None:
    for handler, broken in (
        (NobodyIsTold, "every candidate is covered by one that is wanted"),
        (EverybodyIsTold, "only candidates are wanted"),
    ):
        refuted = [each for each in map(settle, keep_their_promises(handler)) if each.verdict == "refuted"]
        assert {each.name for each in refuted} == {f"{policy} / {broken}" for policy in ("none", "active", "lazy")}
        for each in refuted:
            assert each.shown["there are"].startswith("b1"), each.name
            assert {"of", "subs then", "advs then", "overlaps"} <= set(each.shown), each.name
