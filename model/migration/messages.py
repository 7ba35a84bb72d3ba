"""Messages of migration: between a publisher and its brokers, and along the path of a move.

`path` lists the brokers of a move as the relocation answer does: the target first, the source last.
"""

from __future__ import annotations

from attrs import frozen

from routeproof.model.fields import Node
from routeproof.model.messages import Advertisement, Message

Path = tuple[Node, ...]


@frozen(cache_hash=True)
class Relocate(Message):
    """The relocation answer reaches the source: this publisher is to move along the path (POP-10, MIG-1)."""

    kind = "relocate"
    by = "placement"

    advertisement: Advertisement
    path: Path


@frozen(cache_hash=True)
class Pause(Message):
    """Source to publisher: stop publishing here, and go to the target (MIG-1)."""

    kind = "pause"

    advertisement: Advertisement
    path: Path


@frozen(cache_hash=True)
class Arrive(Message):
    """Publisher to target: the migration advertisement (MIG-1)."""

    kind = "arrive"

    advertisement: Advertisement
    path: Path


@frozen(cache_hash=True)
class Flushed(Message):
    """Publisher to source: all that it published here is ahead of this message (MIG-12)."""

    kind = "flushed"

    advertisement: Advertisement


@frozen(cache_hash=True)
class Update(Message):
    """Hop by hop from target to source: the publisher now lies where this comes from (MIG-3)."""

    kind = "update"

    advertisement: Advertisement
    path: Path


@frozen(cache_hash=True)
class Complete(Message):
    """Hop by hop from source to target: every subscription for the publisher is ahead of this message (MIG-7)."""

    kind = "complete"

    advertisement: Advertisement


@frozen(cache_hash=True)
class Resume(Message):
    """Target to publisher: publish here from now on (MIG-8)."""

    kind = "resume"

    advertisement: Advertisement


@frozen(cache_hash=True)
class Leave(Message):
    """Publisher to source: the connection ends (MIG-8)."""

    kind = "leave"

    advertisement: Advertisement


@frozen(cache_hash=True)
class Refuse(Message):
    """Target to publisher: no place here (MIG-16)."""

    kind = "refuse"

    advertisement: Advertisement


@frozen(cache_hash=True)
class Stay(Message):
    """Publisher to source: it does not move (MIG-16)."""

    kind = "stay"

    advertisement: Advertisement


MIGRATION = (Relocate, Pause, Arrive, Flushed, Update, Complete, Resume, Leave, Refuse, Stay)
"""The kinds of messages that migration adds."""
