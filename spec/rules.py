"""The registry of rules: every id that model, implementation, traces and reports may cite.

`RULES` is the index; the text of a rule is in `spec/<protocol>.md` under its id, and a test holds the two together. Ids
are those of the papers' catalogue where it has one; rules that the routing core adds continue its numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from routeproof.model.plugins import PluginError
from routeproof.spec.property import Rule
from routeproof.spec.specifications import specifications

__all__ = ["RULES", "Rule", "rules_that_fire"]


_FILTERS = {
    "FLT-1": "an event is a finite map from names to strings, booleans and numbers",
    "FLT-2": "numbers are exact",
    "FLT-3": "a predicate on a missing attribute is false",
    "FLT-4": "a predicate is false on a value of another type",
    "FLT-5": "a filter that matches nothing is refused",
    "FLT-6": "filters are equal exactly where they match the same events",
    "FLT-7": "a filter is a conjunction of predicates",
    "FLT-8": "comparing numbers",
    "FLT-9": "comparing strings",
    "FLT-10": "prefix, suffix, contains",
    "FLT-11": "booleans, present, integer",
    "FLT-12": "limits",
    "FLT-13": "covers and overlaps are decided attribute by attribute, exactly",
    "FLT-14": "filters and events as JSON",
}
"""Definitions of the dialect `strict`. No handler applies them; all other rules rest on them."""

_TRACES = {
    "TRC-1": "a broker's events are numbered upward",
    "TRC-2": "brokers and links belong to the overlay",
    "TRC-3": "a message that is received over a link was sent over it, once and in order",
    "TRC-4": "a snapshot shows the tables that follow from the broker's history",
    "TRC-5": "a broker sends and delivers only while it handles a message",
    "TRC-6": "a message is complete, and an id keeps its meaning",
    "TRC-7": "no owed delivery is lost",
    "TRC-8": "no publication is delivered twice",
    "TRC-9": "a delivery is of a published event, for a matching subscription",
    "TRC-10": "times of a shared clock agree",
}
"""Rules that validation checks; no handler of a protocol applies them."""

ROUTING: dict[str, Rule] = {
    r.id: r
    for r in (
        *(Rule(id, "filters", title, "ours", fires=False) for id, title in _FILTERS.items()),
        *(Rule(id, "traces", title, "ours", fires=False) for id, title in _TRACES.items()),
        Rule("RTE-1", "routing", "the overlay is a tree", "000 II, 001 II", fires=False),
        Rule("RTE-2", "routing", "an advertisement is stored and flooded", "000 II"),
        Rule("RTE-3", "routing", "a subscription is stored and follows the advertisements that it overlaps", "000 II"),
        Rule("RTE-4", "routing", "a late advertisement fetches the subscriptions that waited for it", "ours"),
        Rule(
            "RTE-5", "routing", "a publication follows matching subscriptions, once per hop, and never back", "000 II"
        ),
        Rule("RTE-6", "routing", "a withdrawal follows its subscription and removes it", "000 IV"),
        Rule(
            "RTE-7",
            "routing",
            "a withdrawn advertisement is removed, and so are the subscriptions that only it drew",
            "ours",
        ),
        Rule(
            "RTE-8", "routing", "a repeated advertisement, and a withdrawal from the wrong side, change nothing", "ours"
        ),
        Rule("COV-1", "routing", "definition of covering", "000 II", fires=False),
        Rule("COV-2", "routing", "a covered subscription is not forwarded", "000 II"),
        Rule("COV-3", "routing", "a subscription that came from a neighbour quenches nothing toward it", "000 V-B"),
        Rule(
            "COV-4", "routing", "active: a newly covered subscription is withdrawn where it was forwarded", "000 II, V"
        ),
        Rule("COV-6", "routing", "lazy: a forwarded subscription stays when a wider one follows", "000 V, 001 V-A2"),
        Rule(
            "COV-7",
            "routing",
            "packing: the subscriptions that one step sends to one neighbour travel in one message",
            "000 V, 001 V-A2",
        ),
        Rule("COV-8", "routing", "additions before removals", "000 I, 001 I"),
        Rule(
            "COV-10",
            "routing",
            "among equal filters, the forwarded subscription goes first, then the lower id",
            "000 III-A",
        ),
    )
}


class _Catalogue(Mapping[str, Rule]):
    """The rules by id: the routing core's, then those of the protocols on top of it."""

    def _all(self) -> dict[str, Rule]:
        found = dict(ROUTING)
        for specification in specifications():
            for rule in specification.rules:
                if found.setdefault(rule.id, rule) != rule:
                    raise PluginError(f"two protocols have a rule {rule.id}; rename the one of {rule.protocol}")
        return found

    def __getitem__(self, id: str) -> Rule:
        return self._all()[id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())


RULES: Mapping[str, Rule] = _Catalogue()


def rules_that_fire(protocol: str) -> tuple[str, ...]:
    """Rules that must fire at least once in a check of every shipped instance."""
    return tuple(r.id for r in RULES.values() if r.protocol == protocol and r.fires)
