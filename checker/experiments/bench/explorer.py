"""The speed and memory of the explorer, compared with a plain search over frozen objects of the same model."""

from __future__ import annotations

import resource
import time
from collections.abc import Iterator

from routeproof.checker.experiments.bench.measuring import Row, afresh
from routeproof.checker.explore.plain import plain_search
from routeproof.checker.explore.search import Search
from routeproof.checker.instances import find, shipped
from routeproof.model.protocols import world
from routeproof.spec.properties import properties_for

PLAIN_STATES = 40_000
"""How far the plain search goes: enough for a rate, and its rate only falls as it goes on."""

LARGE = ("pair3", "star5", "two4", "leave5")
"""The shipped instances with the most states; a test holds that each has over 500,000."""


def explorer() -> Iterator[Row]:
    """Measures the explorer with all properties on, and a plain search over frozen objects of the same model."""
    for instance in shipped():
        if instance.name in LARGE:
            for policy in instance.policies:
                yield afresh(_measure, instance.name, policy)


def _measure(name: str, policy: str) -> Row:
    instance = find(name)
    resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.process_time()
    search = Search(world(instance, policy), properties_for(instance.protocol, policy))
    search.run()
    cycle = search.graph.find_cycle()
    seconds = time.process_time() - began
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - resident
    assert cycle is None, f"{name} has a cycle under {policy}"
    began = time.process_time()
    plain = plain_search(world(instance, policy), PLAIN_STATES)
    plain_rate = plain.states / (time.process_time() - began)
    rate = search.states / seconds
    return {
        "instance": name,
        "policy": policy,
        "states": search.states,
        "transitions": search.transitions,
        "cpu seconds": round(seconds, 2),
        "states/s": round(rate),
        "stored bytes/state": round(search.nbytes / search.states, 1),
        "resident bytes/state": round(1024 * grown / search.states, 1),
        "plain states/s": round(plain_rate),
        "ratio": round(rate / plain_rate, 1),
    }
