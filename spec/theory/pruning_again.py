"""Issued again (PRN-15): a client that has withdrawn a subscription subscribes again.

Under a new id that is another subscription, and nothing is to be said of it: proofs are about any number of them.
Here it comes back under the same id, to the broker that it left: whatever is still on its way, held or retained of the
former issue, no invariant is lost. At another broker the home of a subscription would change, of which every invariant
speaks: there deliveries are lost (claim PRN-moves, `traces/corpus/retained-moves-with-its-id.jsonl`).
"""

from __future__ import annotations

from routeproof.spec.theory.logic import Truth
from routeproof.spec.theory.pruning_congestion import CongestedStep
from routeproof.spec.theory.readings import PUB, SUB, Clause
from routeproof.spec.theory.world_relation import Happening


class IssuedAgain(CongestedStep):
    """A client subscribes that has subscribed before, and withdrawn that. To the new issue nothing was delivered."""

    def possible(self, what: Happening) -> Truth:
        if what.operation != "subscribe":
            return super().possible(what)
        return self.logic.all_of(self.before.subscribed(what.subject), self.before.unsubscribed(what.subject))

    def done(self, what: Happening) -> list[Clause]:
        logic, now, then = self.logic, self.before, self.after
        if what.operation != "subscribe":
            return super().done(what)
        back = Clause(
            "unsubscribed is what clients have done, and not come back to",
            (SUB,),
            lambda s: logic.iff(then.unsubscribed(s), logic.all_of(now.unsubscribed(s), logic.apart(s, what.subject))),
            ("PRN-15",),
        )
        others = [each for each in super().done(what) if not each.name.startswith("unsubscribed")]
        return [*others, back]

    def ghosts(self, what: Happening) -> list[Clause]:
        logic, now, then = self.logic, self.before, self.after
        if what.operation != "subscribe":
            return super().ghosts(what)
        forgotten = Clause(
            "delivered",
            (PUB, SUB),
            lambda p, s: logic.iff(
                then.delivered(p, s),
                logic.any_of(
                    logic.all_of(now.delivered(p, s), logic.apart(s, what.subject)), self.sends.delivers(p, s)
                ),
            ),
            ("PRN-15",),
        )
        return [*(each for each in super().ghosts(what) if each.name != "delivered"), forgotten]
