"""From sets to shares: what is counted, publication by publication, and divided by how many S matches.

Induction over the sample, which is a list: its start and its step are obligations. That the two are enough is what
induction over numbers says.
"""

from __future__ import annotations

import z3

from routeproof.spec.theory.theorem import Obligation

SAMPLE = "the sample is finite, and the same at every broker"
MATCHED = "S matches something in it: of nothing there is no share (SIM-4)"


def shares() -> list[Obligation]:
    """Of publications 0 to n - 1: how many are counted at one broker, at another, and how many S matches."""
    n = z3.Int("n")
    counts = one, other, matched = [
        z3.Function(name, z3.IntSort(), z3.IntSort()) for name in ("one", "other", "matched")
    ]
    members = in_one, in_other, in_s = [z3.Function(f"in_{each}", z3.IntSort(), z3.BoolSort()) for each in counts]

    def ordered(at: z3.ArithRef) -> z3.BoolRef:
        return z3.And(one(at) >= 0, one(at) <= other(at), other(at) <= matched(at))

    counted = [
        condition
        for count, member in zip(counts, members, strict=True)
        for condition in (count(0) == 0, count(n + 1) == count(n) + z3.If(member(n), 1, 0))
    ]
    nested = z3.And(z3.Implies(in_one(n), in_other(n)), z3.Implies(in_other(n), in_s(n)))
    more = {"the next one counts at the other broker only": z3.And(nested, ordered(n), in_other(n), z3.Not(in_one(n)))}
    i, j, k = z3.Ints("i j k")
    share = [z3.ToReal(each) / z3.ToReal(k) for each in (i, j)]
    in_order = z3.And(i >= 0, i <= j, j <= k)
    same = z3.And(in_one(n) == in_other(n), one(n) == other(n))
    return [
        Obligation(
            "of no publication the counts are in order",
            ordered(z3.IntVal(0)),
            counted,
            {"there is one that counts at the other broker only": z3.And(nested, in_other(n), z3.Not(in_one(n)))},
        ),
        Obligation(
            "one more publication keeps them in order",
            z3.Implies(z3.And(nested, ordered(n)), ordered(n + 1)),
            counted,
            more,
        ),
        Obligation(
            "what is counted at both or at neither is counted equally",
            z3.And(one(0) == other(0), z3.Implies(same, one(n + 1) == other(n + 1))),
            counted,
            {"the next one counts at both": z3.And(same, in_one(n))},
        ),
        Obligation(
            "shares are in the order of counts, from 0 to 1",
            z3.Implies(z3.And(in_order, k > 0), z3.And(share[0] >= 0, share[0] <= share[1], share[1] <= 1)),
            guards={"some, not all": z3.And(in_order, i > 0, i < j, j < k)},
        ),
    ]
