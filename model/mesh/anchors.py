"""Anchors: for each subscription, the broker within the radius toward which a publication is sent.

`passed_on` adjusts the anchor where a subscription goes from one broker to the next (SUB-2, SUB-3); `working` turns an
anchor of the master table into one of the working table (SUB-5).
"""

from __future__ import annotations

from typing import Literal

from routeproof.model.mesh.maps import MasterMap, WorkingMap
from routeproof.model.overlay import Node

Advance = Literal["receiver", "subscriber"]
"""SUB-3: in which direction an anchor that is too far away is moved by one hop."""


def passed_on(master: MasterMap, anchor: Node, radius: int, advance: Advance = "receiver") -> Node:
    """The anchor that a broker sends to its neighbours for a subscription whose anchor here is `anchor`.

    One that is less than the radius away stays. One at the radius would be too far for the neighbours: it goes one hop
    towards them, which is towards this broker. By the letter of the paper it goes toward the subscriber, and leaves
    the neighbours' maps; a broker passes on an anchor that it does not know as it is.
    """
    if anchor not in master.brokers or master.distance(anchor) < radius:
        return anchor
    if advance == "receiver":
        return master.path(anchor)[-2]
    farther = [n for n in master.neighbours(anchor) if n != master.path(anchor)[-2]]
    return farther[0] if farther else anchor  # nothing beyond the radius is known


def working(view: WorkingMap, anchor: Node) -> Node | None:
    """SUB-5: the end of a link that stands for an anchor; None for an anchor that is not in the map."""
    return view.representative.get(anchor)
