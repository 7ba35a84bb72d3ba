"""Necessity of hypotheses, by counterexample: a small state where all others are met and the property fails.

`Needed` is such a state, of any property; those of Properties 1 and 2 are here, and `infinite` has finiteness. In
addition to the named hypotheses, a property has conditions in its own sentence, and a policy. Where one of those is
left out, the sentence is stated without it, or the state is one of another policy, and no hypothesis is broken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from attrs import field, frozen

from routeproof.model.overlay import Overlay
from routeproof.spec.theory import ADV, BROKER, SUB, Clause, Term, Truth
from routeproof.spec.theory.proof import Build, Obligation
from routeproof.spec.theory.propagation.grafting import draws_unmet, property_2
from routeproof.spec.theory.propagation.paths import ENTRY, on_its_tree, property_1
from routeproof.spec.theory.relation import COVERING, DRAWN, IDS, MATCHING, TREE, Tree
from routeproof.spec.theory.relation import quiet_states as quiet
from routeproof.spec.theory.relation.quiet_states import Example, Scene, example
from routeproof.spec.theory.relation.routing import HandlerStep

HYPOTHESES = {
    "an acyclic overlay": TREE,
    "agreement": quiet.AGREEMENT,
    "settling": quiet.SETTLED,
    "flooding": quiet.FLOODED,
    "withdrawing advertisements": quiet.NO_STALE_ADVERTISEMENT,
    "subscribing": quiet.SUBSCRIBED,
    "withdrawing subscriptions": quiet.NO_STALE_SUBSCRIPTION,
    "what covering means": COVERING,
    "an order of ids": IDS,
    "overlapping what is matched": DRAWN,
    "what matching means": MATCHING,
}
"""By what is left out, the hypothesis that says it."""


@frozen
class Needed:
    """In this example all hypotheses but this one, if any, hold, and the property does not."""

    without: str
    example: Example
    says: Callable[[Scene], Clause]
    build: Build[Scene]
    hypothesis: str = field()

    @hypothesis.default
    def _left_out(self) -> str:
        return HYPOTHESES.get(self.without, "")

    def broken(self) -> set[str]:
        """The hypotheses that are not met."""
        scene = self.example.scene()
        proof = self.build(scene)
        return {
            name for clause in proof.taken for name in proof.rests_on(clause) if clause.closed(scene.logic) is not True
        }

    def fails(self) -> bool:
        scene = self.example.scene()
        return self.says(scene).closed(scene.logic) is False


def stated(build: Build[Scene], name: str) -> Callable[[Scene], Clause]:
    """Returns the statement of the lemma with this name, in any scene."""

    def says(scene: Scene) -> Clause:
        (found,) = (lemma.clause for lemma in build(scene).lemmas if lemma.clause.name.startswith(name))
        return found

    return says


def needed(rows: Iterable[Needed], what: str = "") -> list[Obligation]:
    return [
        Obligation(
            f"{what}without {row.without}: {row.example.name}",
            row.fails() and row.broken() == {row.hypothesis} - {""},
            guards={"everything else is met": row.broken() <= {row.hypothesis}},
        )
        for row in rows
    ]


PAIR, HUB = Overlay.line(2), Overlay.of([(1, 2), (1, 3)])
ALONE = Overlay.of([])
EVENT, WIDER = "0", "01"


class AnyEntryQuenches(HandlerStep):
    """COV-3 left out: what came from a neighbour holds back what would go there."""

    def quenchers(self, u: Term, t: Term) -> Truth:
        logic = self.logic
        return logic.all_of(
            logic.some((BROKER,), lambda x: self.after.subs(t, x)),
            lambda: logic.some((ADV,), lambda a: logic.all_of(self.after.advs(a, u), self.facts.overlaps(a, t))),
        )

    def wanted(self, u: Term, s: Term) -> Truth:
        logic = self.logic
        return logic.all_of(
            self.candidate(u, s),
            lambda: logic.no(
                logic.some((SUB,), lambda t: logic.all_of(self.quenches(u, t, s), lambda: self.quenchers(u, t)))
            ),
        )


def ring(size: int) -> Tree:
    """A ring, on which ways lead along the shorter side, and downward where both are as long."""

    def apart(x: int, y: int) -> int:
        return min((x - y) % size, (y - x) % size)

    def toward(x: int, z: int) -> int:
        return x if x == z else min(y for y in range(1, size + 1) if apart(x, y) == 1 and apart(y, z) < apart(x, z))

    return Tree(
        lambda x, y, z: apart(x, y) + apart(y, z) == apart(x, z),
        lambda x, y: apart(x, y) == 1,
        toward,
        lambda x, y, z: x,
    )


# -- Property 1 --------------------------------------------------------------------------------------------------------

one = partial(Needed, says=stated(property_1, "Property 1"), build=property_1)
S, A = {"s": (1, EVENT)}, {"a": (2, EVENT)}

PROPERTY_1 = (
    one(
        "an acyclic overlay",
        example(
            "a withdrawn s goes round a triangle for ever",
            Overlay.line(3),
            S,
            {"a": (1, EVENT), "b": (2, EVENT), "c": (3, EVENT)},
            "2s1 3s2 1s3",
            inactive="s",
            tree=ring(3),
        ),
    ),
    one("agreement", example("1 has sent s, and 2 does not have it yet", PAIR, S, A, "1s", sent="1s2")),
    one("settling", example("1 has s, and has not sent it", PAIR, S, A, "1s", sent="")),
    one("flooding", example("1 does not know of a, and keeps s", PAIR, S, A, "1s", advs="2a")),
    one(
        "withdrawing advertisements",
        example(
            "1 still has a, which 2 has withdrawn, and s went there", PAIR, S, A, "1s 2s1", inactive="a", advs="1a2"
        ),
    ),
    one("subscribing", example("s is active, and no table has it", ALONE, S, {}, "")),
    one(
        "withdrawing subscriptions",
        example("s is withdrawn, and its home still has it", ALONE, S, {}, "1s", inactive="s"),
    ),
    one(
        "the policy none", example("S holds s back", PAIR, {"S": (1, WIDER), "s": (1, EVENT)}, A, "1S 1s 2S1", "active")
    ),
)

# -- Property 2, that it is a path -------------------------------------------------------------------------------------

path = partial(Needed, says=stated(property_2, "Property 2, a path"), build=property_2)
BOTH = {"a": (2, EVENT), "b": (3, EVENT)}
AWAY = {"s": (1, EVENT), "r": (2, WIDER)}
"""s at the hub, and what covers it at the broker of a."""


def forks(name: str, **given: Any) -> Example:
    """s goes to both 2 and 3, and r stays at 2."""
    return example(name, HUB, AWAY, BOTH, "1s 2s1 3s1 2r", "active", **given)


def forks_though_covered(q: Scene) -> Clause:
    """The path property without *strictly*: what another active one covers is sent to one neighbour at most."""
    logic = q.logic

    def says(x: Term, y: Term, z: Term, s: Term, r: Term) -> Truth:
        sent = logic.all_of(*(logic.all_of(q.tree.link(x, u), q.state.sent(x, u, s)) for u in (y, z)))
        covered = logic.all_of(q.wants(r), logic.apart(r, s), q.facts.covers(r, s))
        return logic.implies(logic.all_of(sent, covered), logic.equal(y, z))

    return Clause("a path, of what is covered", (BROKER, BROKER, BROKER, SUB, SUB), says)


PATH = (
    path(
        "an acyclic overlay",
        example(
            "round a ring of four s goes both ways past r",
            Overlay.line(4),
            {"r": (1, WIDER), "s": (4, EVENT)},
            {"a": (2, EVENT), "b": (3, EVENT)},
            "1r 1s4 2r1 2s3 3r2 3s4 4s",
            "active",
            tree=ring(4),
        ),
    ),
    path("agreement", forks("2 has sent r, and 1 does not have it yet", sent="1s2 1s3 2r1")),
    path("settling", forks("2 has r, and has not sent it")),
    path("flooding", forks("2 does not know of b, and keeps r", advs="1a2 1b3 2a 3a1 3b")),
    path("withdrawing advertisements", forks("1 still has b, which is withdrawn", advs="1a2 1b3 2a 3a1", inactive="b")),
    path(
        "subscribing",
        example("r is active, and no table has it", HUB, {**AWAY, "r": (1, WIDER)}, BOTH, "1s 2s1 3s1", "active"),
    ),
    path(
        "what covering means",
        example(
            "r covers s, and does not overlap what s overlaps",
            HUB,
            {"s": (1, EVENT), "r": (1, "1")},
            BOTH,
            "1s 1r 2s1 3s1",
            "active",
            filters={"covers": lambda t, s: t == s or t == "r"},
        ),
    ),
    path(
        "an order of ids",
        example(
            "r and t are equal, and each goes before the other",
            HUB,
            {**AWAY, "t": (2, WIDER)},
            BOTH,
            "1s 2s1 3s1 2r 2t",
            "active",
            filters={"lower": lambda s, t: s != t},
        ),
    ),
    path(
        "withdrawing what is newly covered (COV-4), which lazy covering does not",
        example(
            "s was sent to both before r came", HUB, {**AWAY, "r": (1, WIDER)}, BOTH, "1s 1r 2s1 2r1 3s1 3r1", "lazy"
        ),
    ),
    Needed(
        "covering strictly",
        example(
            "r is equal to s, which goes first",
            HUB,
            {"s": (1, EVENT), "r": (1, EVENT)},
            BOTH,
            "1s 1r 2s1 3s1",
            "active",
        ),
        forks_though_covered,
        property_2,
    ),
)

# -- Property 2, how far it goes ---------------------------------------------------------------------------------------

exactly = partial(Needed, says=stated(property_2, "Property 2, exactly"), build=property_2)


def exactly_of_all(q: Scene) -> Clause:
    """The extent of a subscription, stated for subscriptions that have an equal too."""
    return Clause(
        "exactly, of all",
        ENTRY,
        lambda x, s, f: q.logic.iff(q.state.subs(x, s, f), on_its_tree(q, x, s, f, lambda a: draws_unmet(q, a, x, s))),
    )


EXACTLY = (
    exactly(
        "withdrawing subscriptions",
        example("s is withdrawn, and its home still has it", ALONE, S, {}, "1s", "active", inactive="s"),
    ),
    exactly(
        "direction (COV-3)",
        example(
            "r came from 2, and holds back at 1 what b draws to 2",
            PAIR,
            {"s": (1, EVENT), "r": (2, WIDER)},
            {"a": (1, EVENT), "b": (2, EVENT)},
            "1s 2r 1r2",
            "active",
            handler=AnyEntryQuenches,
        ),
    ),
    exactly(
        "withdrawing what is newly covered (COV-4), which lazy covering does not",
        example("s was sent before r came", PAIR, {**AWAY, "r": (1, WIDER)}, A, "1s 1r 2s1 2r1", "lazy"),
    ),
    Needed(
        "unequal filters (COV-10)",
        example("r is equal to s, and goes first", PAIR, {"r": (1, EVENT), "s": (1, EVENT)}, A, "1r 1s 2r1", "active"),
        exactly_of_all,
        property_2,
    ),
)
