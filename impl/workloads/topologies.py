"""The overlays of the papers, as far as their text says: who is linked to whom is in images that we do not have."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from attrs import frozen

from routeproof.model.overlay import Node, Overlay

CORE = "ABCDE"


@frozen
class CoreChain:
    """Fig. 5 of 000, Fig. 6 of 001: a chain of core brokers, inner brokers around it, edge brokers around those."""

    overlay: Overlay
    core: Mapping[Node, str]
    publishers: tuple[Node, ...]
    """Edge brokers, linked to E."""
    subscribers: tuple[Node, ...]
    """The other edge brokers."""


def core_chain(brokers: int, inner: int, publishers: int = 3) -> CoreChain:
    """`inner` without the core. Inner brokers are dealt out to the core in turn, edge brokers to the inner ones."""
    core = list(range(1, len(CORE) + 1))
    around = list(range(core[-1] + 1, core[-1] + 1 + inner))
    outer = list(range(around[-1] + 1, brokers + 1))
    subscribing, publishing = outer[:-publishers], outer[-publishers:]
    edges = list(pairwise(core))
    edges += [(core[i % len(core)], broker) for i, broker in enumerate(around)]
    edges += [(around[i % inner], broker) for i, broker in enumerate(subscribing)]
    edges += [(core[-1], broker) for broker in publishing]
    names = dict(zip(core, CORE, strict=True))
    return CoreChain(Overlay.of(edges), names, tuple(publishing), tuple(subscribing))


def balanced(brokers: int, fan_out: int) -> Overlay:
    """004: broker 1 is the root, and every level is full but the last."""
    return Overlay.of(_below(1, brokers, fan_out))


def _below(root: Node, brokers: int, fan_out: int) -> list[tuple[Node, Node]]:
    """The links of a balanced tree, its brokers numbered from its root on."""
    return [(root + (n - 1) // fan_out, root + n) for n in range(1, brokers)]


def star(brokers: int) -> Overlay:
    """Fig. 8 of 000: broker 1 is the hub."""
    return Overlay.of((1, broker) for broker in range(2, brokers + 1))


@frozen
class Regions:
    """Balanced trees of one size, and what links their roots."""

    overlay: Overlay
    regions: tuple[range, ...]
    """The brokers of each, its root first."""


def domains(many: int, brokers: int, fan_out: int) -> Regions:
    """Fig. 10 of 000: the roots of the domains are a chain."""
    each = tuple(range(1 + n * brokers, 1 + (n + 1) * brokers) for n in range(many))
    links = [link for domain in each for link in _below(domain[0], brokers, fan_out)]
    return Regions(Overlay.of([*pairwise(domain[0] for domain in each), *links]), each)


def tiered(many: int, fan_out: int, tiers: int) -> Regions:
    """Fig. 11 of 001: broker 1 is the core and the first tier, the roots of the regions are the second."""
    brokers = sum(fan_out**tier for tier in range(tiers - 1))
    each = tuple(range(2 + n * brokers, 2 + (n + 1) * brokers) for n in range(many))
    links = [link for region in each for link in _below(region[0], brokers, fan_out)]
    return Regions(Overlay.of([*((1, region[0]) for region in each), *links]), each)
