"""What a settle adds and removes, found from what changed since the last: `changes`.

Of the model's definition (`Routing.wanted`, COV-2, COV-4, COV-6, COV-10) three things follow, for filters of which
covering is reflexive and transitive:

1. Under active covering, `sent` is what is wanted exactly where (a) all of it are candidates, (b) none of it covers
   another, and (c) every candidate is covered by some of it. Let it be so. One t that quenches an s in `sent` would be
   covered by a u in `sent`; then u covers s, so u is s by (b), so t and s are equal and t, not sent by (b), does not go
   first: nothing quenches s. And a candidate that is not in `sent` is covered by one that is: strictly, or as an equal
   that goes first. The converse holds because chains of quenching are finite. Under lazy covering, (b) falls away.

2. So after a settle (a) to (c) hold for the candidates of then. Now some candidates came (`new`) and some left, with
   them some of what was sent (`gone`); the rest of `sent` is `kept`. A candidate that nothing kept covers is new, or
   was covered by one that is gone. These are `fresh`. No fresh one was sent, so that among equals the lower id goes
   first; those that no other fresh one quenches are added, and every fresh one is covered by an added one.

3. Under lazy covering that is all. Under active covering an added one may cover a kept one (strictly, or it would not
   be fresh), which is then removed; the others still have (a) to (c). That one is new: what a gone g covered can cover
   no kept k, since g would, and (b) held of the two.

Where tables come from a trace, nobody says that (a) to (c) hold. It is looked at before the first settle (`_is_right`),
and where they do not, that one settle follows the definition (`_wanted`).
"""

from __future__ import annotations

from routeproof.checker.validate.replica.bits import numbers_of
from routeproof.checker.validate.replica.knowledge import Knowledge
from routeproof.checker.validate.replica.universe import Universe
from routeproof.model.overlay import Node
from routeproof.model.tables import by_id


def changes(knowledge: Knowledge, policy: str, neighbour: Node) -> tuple[int, int]:
    """What has to be added to what the neighbour was sent, and what removed, for it to be what the policy wants."""
    universe = knowledge.universe
    sent = knowledge.sent.get(neighbour, 0)
    candidates = knowledge.candidates.get(neighbour, 0)
    settled = knowledge.settled.get(neighbour, 0)
    if policy == "none":
        return candidates & ~sent, sent & ~candidates
    if neighbour in knowledge.unproven and not _is_right(universe, policy, sent, settled):
        wanted = _wanted(universe, policy, sent, candidates)
        return wanted & ~sent, sent & ~wanted
    if candidates == settled:
        return 0, 0
    return _since(universe, policy, sent, settled, candidates)


def _since(universe: Universe, policy: str, sent: int, settled: int, candidates: int) -> tuple[int, int]:
    gone, kept = sent & ~candidates, sent & candidates
    new = candidates & ~settled
    fresh = new | _released(universe, gone, candidates & ~sent) if gone else new
    if kept and fresh:
        fresh &= ~_covered_by(universe, kept, fresh)
    added = _unquenched(universe, fresh, 0)
    removed = gone
    if policy != "lazy" and kept and added & new:
        removed |= _covered_by(universe, added & new, kept)
    return added, removed


def _is_right(universe: Universe, policy: str, sent: int, candidates: int) -> bool:
    if sent & ~candidates:
        return False
    reached = 0
    for slot in numbers_of(sent):
        reached |= universe.covered(slot) & ~(1 << slot)
    return not (candidates & ~(sent | reached)) and (policy == "lazy" or not sent & reached)


def _wanted(universe: Universe, policy: str, sent: int, candidates: int) -> int:
    """By the definition."""
    if policy != "lazy":
        return _unquenched(universe, candidates, sent)
    kept = sent & candidates
    return kept | _unquenched(universe, candidates & ~_covered_by(universe, kept, candidates), 0)


def _released(universe: Universe, gone: int, waiting: int) -> int:
    """Of what waits, what one that is gone covers; or more: others that wait are not fresh, as will be found."""
    if gone.bit_count() > waiting.bit_count():
        return waiting
    found = 0
    for slot in numbers_of(gone):
        found |= universe.covered(slot) & waiting
    return found


def _covered_by(universe: Universe, some: int, these: int) -> int:
    """Which of these any of those covers; asked from the side where there are fewer."""
    found = 0
    if these.bit_count() <= some.bit_count():
        for slot in numbers_of(these):
            if universe.covering(slot) & some:
                found |= 1 << slot
        return found
    for slot in numbers_of(some):
        found |= universe.covered(slot) & these
        if found == these:
            break
    return found


def _unquenched(universe: Universe, among: int, sent: int) -> int:
    """COV-1, COV-10: those that no other of these quenches."""
    if among.bit_count() < 2:
        return among
    found, left = 0, among
    for slot in numbers_of(among):
        if left >> slot & 1:
            equal = universe.equal(slot) & among
            if not universe.covering(slot) & among & ~equal:
                found |= 1 << _first(universe, equal & sent or equal)
            left &= ~equal
    return found


def _first(universe: Universe, equal: int) -> int:
    return min(numbers_of(equal), key=lambda slot: by_id(universe.subscription(slot)))
