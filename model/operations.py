"""Operations on a network from outside: those of clients, as rows of an instance."""

from __future__ import annotations

from attrs import frozen

from routeproof.model.instance import Instance
from routeproof.model.messages import Advertise, Message, Publish, Subscribe, Unadvertise, Unsubscribe
from routeproof.model.overlay import Node


@frozen
class OperationRow:
    """A message that a node is given once: after the operation `after`, if any, and not after `until`."""

    label: str
    node: Node
    message: Message
    after: str = ""
    until: str = ""


def core_operations(instance: Instance) -> list[OperationRow]:
    """The operations of the routing core, as listed in the instance; withdrawals after everything that comes first."""
    rows = []
    for a in instance.advertisers:
        rows.append(OperationRow(f"advertise({a.advertisement.id})", a.at, Advertise(a.advertisement)))
    for s in instance.subscribers:
        rows.append(OperationRow(f"subscribe({s.subscription.id})", s.at, Subscribe(s.subscription)))
    for p in instance.publications:
        home, until = instance.advertiser_of(p).at, f"unadvertise({p.of})"
        rows.append(OperationRow(f"publish({p.id})", home, Publish(p), f"advertise({p.of})", until))
    for s in instance.subscribers:
        if s.unsubscribes:
            name = s.subscription.id
            rows.append(OperationRow(f"unsubscribe({name})", s.at, Unsubscribe(s.subscription), f"subscribe({name})"))
    for a in instance.advertisers:
        if a.unadvertises:
            name = a.advertisement.id
            rows.append(OperationRow(f"unadvertise({name})", a.at, Unadvertise(a.advertisement), f"advertise({name})"))
    return rows
