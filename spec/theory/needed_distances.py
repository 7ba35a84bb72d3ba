"""What equation 3 needs, by counterexample: of the distances that publications tell."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from attrs import evolve

from routeproof.model.overlay import Overlay
from routeproof.spec.theory import quiet, settling
from routeproof.spec.theory.distance import Several, has_several, matches_several, measures_of
from routeproof.spec.theory.equation_3 import equation_3, on_its_way
from routeproof.spec.theory.examples import Example, example
from routeproof.spec.theory.logic import Truth
from routeproof.spec.theory.needed import Needed, stated
from routeproof.spec.theory.needed_paths import ALONE, EVENT, HUB, PAIR, WIDER, AnyEntryQuenches, ring
from routeproof.spec.theory.needed_similarity import TWO, P, gone, shared
from routeproof.spec.theory.quiet import Scene
from routeproof.spec.theory.readings import BROKER, PUB, SUB, Clause, Term
from routeproof.spec.theory.similarity import passes, source_of
from routeproof.spec.theory.trees import TREE


def told(
    q: Scene, several: Several = matches_several, later: Example | None = None, everywhere: bool = False
) -> Clause:
    """Equation 3 with another statistic, of another population, or at the publisher too."""
    logic, measures, then = q.logic, measures_of(q, several), later.scene() if later is not None else q

    def says(y: Term, s: Term, p: Term) -> Truth:
        scope = logic.all_of(on_its_way(q, y, s, p), lambda: everywhere or logic.apart(y, source_of(q, p)))
        near: Callable[[], Truth] = lambda: measures.distance(q.home(s), p) <= measures.hops(q.home(s), y)  # noqa: E731
        return logic.implies(scope, lambda: logic.iff(near(), passes(then, y, s, p)))

    return Clause("equation 3", (BROKER, SUB, PUB), says)


def all_entries(q: Scene, x: Term, p: Term) -> Truth:
    """STA-5 to the letter: entries that came from where the publication comes from count too."""
    logic = q.logic
    return has_several(
        q, lambda t: logic.all_of(q.facts.matches(p, t), logic.some((BROKER,), lambda f: q.state.subs(x, t, f)))
    )


equal = partial(Needed, says=stated(equation_3, "Equation 3"), build=equation_3)
THREE = {"s": (1, WIDER), "t": (2, EVENT)}
"""s at the hub, t at 2, and a at 3."""
ADVS = {"a": (3, WIDER), "b": (2, WIDER)}

EQUATION_3 = (
    Needed(
        "stopping short of the publisher",
        example("s is alone, at the broker of a", ALONE, {"s": (1, EVENT)}, {"a": (1, EVENT)}, "1s", publications=P),
        partial(told, everywhere=True),
        equation_3,
    ),
    Needed(
        "leaving out what came from the publisher's side (STA-5)",
        example(
            "t, from the broker of a, is in the table of 1 too",
            PAIR,
            {"s": (1, EVENT), "t": (2, EVENT)},
            {"a": (2, EVENT), "b": (1, EVENT)},
            "1s 2s1 2t 1t2",
            publications=P,
        ),
        partial(told, several=all_entries),
        equation_3,
    ),
    Needed(
        "one population",
        evolve(shared, name="t goes after p was told of"),
        partial(told, later=gone),
        equation_3,
    ),
    equal(
        "direction (COV-3)",
        example(
            "s came to 2, and holds t back there",
            HUB,
            THREE,
            ADVS,
            "1s 2s1 3s1 2t",
            "active",
            publications=P,
            handler=AnyEntryQuenches,
        ),
    ),
    equal(
        "agreement",
        example(
            "2 has sent t, and 1 does not have it yet",
            HUB,
            THREE,
            {"a": (3, WIDER)},
            "1s 3s1 2t",
            publications=P,
            sent="1s3 2t1",
        ),
        hypothesis=quiet.AGREEMENT,
    ),
    equal(
        "settling",
        example("2 has t, and has not sent it", HUB, THREE, {"a": (3, WIDER)}, "1s 3s1 2t", publications=P),
        hypothesis=quiet.SETTLED,
    ),
    equal(
        "flooding",
        example(
            "2 does not know of a, and keeps t",
            HUB,
            THREE,
            {"a": (3, WIDER)},
            "1s 3s1 2t",
            publications=P,
            advs="1a3 3a",
        ),
        hypothesis=quiet.FLOODED,
    ),
    equal(
        "subscribing",
        example("t is active, and no table has it", HUB, THREE, {"a": (3, WIDER)}, "1s 3s1", publications=P),
        hypothesis=quiet.SUBSCRIBED,
    ),
    equal(
        "withdrawing subscriptions",
        example(
            "t is withdrawn, and its home still has it",
            PAIR,
            TWO,
            {"a": (2, EVENT)},
            "1s 2s1 1t 2t1",
            publications=P,
            inactive="t",
        ),
        hypothesis=quiet.NO_STALE_SUBSCRIPTION,
    ),
    equal(
        "an acyclic overlay",
        example(
            "a withdrawn t goes round a triangle for ever",
            Overlay.line(3),
            {"s": (1, EVENT), "t": (1, WIDER)},
            {"a": (2, WIDER), "b": (1, "1"), "c": (3, "1")},
            "1s 2s1 1t3 2t1 3t2",
            inactive="t",
            publications=P,
            tree=ring(3),
        ),
        hypothesis=TREE,
    ),
    equal(
        "what covering means",
        example(
            "each of t, u and v covers the next, none is sent",
            HUB,
            {**THREE, "u": (2, EVENT), "v": (2, EVENT)},
            {"a": (3, WIDER)},
            "1s 3s1 2t 2u 2v",
            "active",
            publications=P,
            filters={"covers": lambda t, s: t == s or t + s in ("tu", "uv", "vt")},
        ),
        hypothesis=settling.COVERING,
    ),
    equal(
        "an order of ids",
        example(
            "t and u are equal, and each goes before the other",
            HUB,
            {**THREE, "u": (2, EVENT)},
            {"a": (3, WIDER)},
            "1s 3s1 2t 2u",
            "active",
            publications=P,
            filters={"lower": lambda s, t: s != t, "covers": lambda t, s: t == s or (s != "s" and t != "s")},
        ),
        hypothesis=settling.IDS,
    ),
    equal(
        "overlapping what is matched",
        example(
            "t matches p, and does not overlap a",
            HUB,
            THREE,
            {"a": (3, WIDER)},
            "1s 3s1 2t",
            publications=P,
            filters={"overlaps": lambda a, s: s == "s"},
        ),
        hypothesis=settling.DRAWN,
    ),
    equal(
        "what matching means",
        example(
            "u covers t, and does not match what t matches",
            HUB,
            {**THREE, "u": (2, "1")},
            {"a": (3, WIDER)},
            "1s 3s1 2t 2u 1u2 3u1",
            "active",
            publications=P,
            filters={"covers": lambda t, s: t == s or t + s == "ut"},
        ),
        hypothesis=settling.MATCHING,
    ),
)
