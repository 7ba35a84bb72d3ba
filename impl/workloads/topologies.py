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
    return Overlay.of(((broker - 2) // fan_out + 1, broker) for broker in range(2, brokers + 1))


def star(brokers: int) -> Overlay:
    """Fig. 8 of 000: broker 1 is the hub."""
    return Overlay.of((1, broker) for broker in range(2, brokers + 1))
