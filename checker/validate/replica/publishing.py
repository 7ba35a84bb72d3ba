"""Where a publication goes (RTE-5), at the cost of one look for all who match it.

Of few that match, the last hops are looked up one by one; of many, each last hop's mask is cut with theirs.
"""

from __future__ import annotations

from routeproof.checker.validate.replica.answers import Answer
from routeproof.checker.validate.replica.bits import mask_of, numbers_of
from routeproof.checker.validate.replica.knowledge import Knowledge
from routeproof.model.filters import Event
from routeproof.model.messages import Subscription
from routeproof.model.overlay import LOCAL, Node


def publish_hops(knowledge: Knowledge, sender: Node, event: Event) -> tuple[Node, ...]:
    """Once per last hop, never back; in ascending order."""
    answer = knowledge.universe.matching(event)
    if answer.few is not None:
        subs = knowledge.subs
        found = {subs[slot] for slot in answer.few if slot in subs}
    else:
        mask = answer.mask
        found = {hop for hop, slots in knowledge.hops.items() if slots & mask}
    found.discard(sender)
    found.discard(LOCAL)
    return tuple(sorted(found)) if len(found) > 1 else tuple(found)


def publish_local(knowledge: Knowledge, event: Event) -> int:
    """The local subscriptions that match: deliveries."""
    local = knowledge.hops.get(LOCAL, 0)
    if not local:
        return 0
    answer = knowledge.universe.matching(event)
    if answer.few is None:
        return local & answer.mask
    subs = knowledge.subs
    return mask_of([slot for slot in answer.few if subs.get(slot) == LOCAL])


def publish(knowledge: Knowledge, sender: Node, matching: Answer) -> tuple[tuple[Node, ...], list[Subscription]]:
    """Both at once, for one who has asked the universe already, each in any order."""
    universe, few = knowledge.universe, matching.few
    if few is None:
        mask = matching.mask
        there = tuple(hop for hop, slots in knowledge.hops.items() if slots & mask and hop not in (sender, LOCAL))
        here = knowledge.hops.get(LOCAL, 0) & mask
        return there, [universe.subscription(slot) for slot in numbers_of(here)] if here else []
    subs = knowledge.subs
    hops: set[Node] = set()
    local: list[Subscription] = []
    for slot in few:
        hop = subs.get(slot)
        if hop == LOCAL:
            local.append(universe.subscription(slot))
        elif hop is not None and hop != sender:
            hops.add(hop)
    return tuple(hops), local
