"""Ghosts of migration: the order in which subscribers receive what one publisher publishes."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from routeproof.model.history import Event, Ghost, Ledger


class Overtaken(Ghost):
    """The first delivery that came behind a later publication of its publisher, as (earlier, later, subscription) ids.

    A publisher publishes in the order in which its publications are listed (`operations`).
    """

    name = "overtaken"
    reads = ("delivered",)

    def initial(self, ledger: Ledger) -> Hashable:
        return ()

    def sees(self, ledger: Ledger, event: Event) -> Hashable | None:
        return tuple((d.publication.rank, d.subscription.rank) for d in event.deliveries) or None

    def after(self, ledger: Ledger, value: Any, seen: Any, others: Any) -> Hashable:
        if value:
            return value  # type: ignore[no-any-return]  # a ghost's value is its own
        delivered, publications = others.delivered, ledger.instance.publications
        for p, s in seen:
            for later in publications[p + 1 :]:
                if later.of == publications[p].of and delivered & ledger.pair(later.rank, s):
                    return (publications[p].id, later.id, ledger.instance.subscriptions[s].id)
            delivered |= ledger.pair(p, s)
        return ()
