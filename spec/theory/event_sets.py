"""The dialect `events`: a filter is a set of event numbers, kept as a mask; an event is a number.

The masks have all the bits that there can be, so this is about every set.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import z3

from routeproof.spec.theory.theorem import Obligation, Shown

EVENTS = 4096
"""Event numbers are 0 to 4095."""


def event_sets(events: int = EVENTS) -> list[Obligation]:
    f, g, e = z3.BitVec("f", events), z3.BitVec("g", events), z3.BitVec("e", events)
    covers, overlaps = g & ~f == 0, g & f != 0
    in_f, in_g = _bit(f, e), _bit(g, e)
    given = (f != 0, g != 0, z3.ULT(e, events))
    shown = {name: Shown((each,), _members) for name, each in (("f", f), ("g", g))}
    shown["e"] = Shown((e,), lambda values: str(values[0]))
    places = [(z3.Extract(place, place, f) == 1, z3.Extract(place, place, g) == 1) for place in range(events)]
    difference = z3.Or(*(z3.And(there, z3.Not(here)) for here, there in places))
    common = z3.Or(*(z3.And(there, here) for here, there in places))
    return [
        Obligation(
            "covers, enough",
            z3.Implies(z3.And(covers, in_g), in_f),
            given,
            {"a member of g": z3.And(covers, in_g), "g is smaller": z3.And(covers, in_f, z3.Not(in_g))},
            shown,
        ),
        Obligation(
            "covers, needed", z3.Implies(z3.Not(covers), difference), given, {"it fails": z3.Not(covers)}, shown
        ),
        Obligation("overlaps, enough", z3.Implies(overlaps, common), given, {"it holds": overlaps}, shown),
        Obligation(
            "overlaps, needed",
            z3.Implies(z3.And(in_f, in_g), overlaps),
            given,
            {"a member of both": z3.And(in_f, in_g)},
            shown,
        ),
    ]


def _bit(mask: z3.BitVecRef, place: z3.BitVecRef) -> z3.BoolRef:
    return z3.LShR(mask, place) & 1 == 1


def _members(values: Sequence[Any]) -> str:
    return "{" + ",".join(str(place) for place in range(EVENTS) if values[0] >> place & 1) + "}"
