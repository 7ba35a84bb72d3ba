"""Readings of migration: places that paper 004 leaves open, as named parameters with a default.

[migration]
removal = "drained"       # or "at-once", as printed
checked = "elsewhere"     # or "any", the letter of MIG-5
record = "forgotten"      # or "kept"
enters = "known"          # or "any-time", as printed
waits = "buffer"          # or "pause"
publishes = "always"      # or "arrived": nothing before its first move has ended
refuses = [3]             # brokers that take no publisher
moves = [{ publisher = "a", to = 3 }]
"""

from __future__ import annotations

from attrs import frozen

from routeproof.model.instance import Instance
from routeproof.model.overlay import Node

READINGS: dict[str, tuple[str, ...]] = {
    "removal": ("drained", "at-once"),
    "checked": ("elsewhere", "any"),
    "record": ("forgotten", "kept"),
    "enters": ("known", "any-time"),
    "waits": ("buffer", "pause"),
    "publishes": ("always", "arrived"),
}
"""Per reading its values, the default first."""


@frozen
class Move:
    """A relocation that the placement decides: which publisher, and to which broker."""

    publisher: str
    to: Node


@frozen
class MigrationParameters:
    """A choice of readings, the moves, and the brokers that refuse."""

    removal: str = "drained"
    """When entries for the old place go: once the last publication from there has passed (MIG-12 to MIG-14), or as
    the update passes (MIG-5, as printed)."""
    checked: str = "elsewhere"
    """Which advertisements keep an entry in op 2: those that lie elsewhere, or by the letter any, the moved one too."""
    record: str = "forgotten"
    """Fate of a broker's record of the subscriptions that its neighbour drops in op 2."""
    enters: str = "known"
    """When the target takes the publisher in: once it knows the advertisement (MIG-15), or at any time, as printed."""
    waits: str = "buffer"
    """A paused publisher buffers what it is given, or takes nothing."""
    publishes: str = "always"
    """A hypothesis about clients: a publisher publishes at any time, or nothing before its first move has ended."""
    refuses: tuple[Node, ...] = ()
    moves: tuple[Move, ...] = ()


DEFAULT = MigrationParameters()


def parameters_of(instance: Instance) -> MigrationParameters:
    """The readings and moves that an instance chooses."""
    found: MigrationParameters = instance.section("migration", DEFAULT)
    return found
