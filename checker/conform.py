"""Lockstep: each step of a simulated run of an instance, compared with the step of the model's handler.

`Conform` observes a simulator. Where an implementation answers a message otherwise than the model, or has other tables
after it, it raises `Diverges` with the first difference. What a node sends to one receiver is compared in its order,
and what it hands to clients as a set.
"""

from __future__ import annotations

from collections.abc import Iterable

from routeproof.impl.simulator import Observer, Sends, Simulator
from routeproof.model.messages import Message, describe
from routeproof.model.overlay import LOCAL, Node
from routeproof.model.tables import Tables
from routeproof.model.world import World

Answer = dict[str, list[str]]
"""By receiver, what it is sent, in words."""


class Diverges(Exception):
    """The implementation and the model differ; the message says in one line at which step, and in what."""


class Conform(Observer):
    """The model's state of every node, as far as the run has come. `steps` are those that agreed."""

    def __init__(self, world: World) -> None:
        self.steps = 0
        self._world = world
        self._locals = {node: world.protocol.initial(node) for node in world.nodes}

    def handled(
        self, simulator: Simulator, broker: Node, sender: Node, message: Message, began: int, sends: Sends
    ) -> None:
        world, name = self._world, self._world.name
        whom = "a client" if sender == LOCAL else name(sender)
        told = f"step {self.steps + 1}, {name(broker)} handles {describe(message)} from {whom}"
        local = self._locals[broker]
        if world.protocol.may_refuse and not world.protocol.accepts(broker, local, sender, message):
            raise Diverges(f"{told}: the model does not accept it now")
        outcome = world.protocol.handle(broker, local, sender, message)
        self._locals[broker] = outcome.local
        model, own = self._answer(outcome.sends), self._answer(sends)
        for receiver in sorted({*model, *own}):
            if model.get(receiver) != own.get(receiver):
                told_by = [", ".join(answer.get(receiver, ["nothing"])) for answer in (model, own)]
                raise Diverges(f"{told}: to {receiver} the model sends {told_by[0]}; the implementation, {told_by[1]}")
        if _in_order(outcome.sends) != _in_order(sends):
            raise Diverges(f"{told}: the same words are sent with another content")
        tables = getattr(simulator.broker(broker), "tables", None)
        if isinstance(outcome.local, Tables) and tables is not None and not _agree(tables(), outcome.local):
            raise Diverges(f"{told}: the tables differ afterwards")
        self.steps += 1

    def _answer(self, sends: Iterable[tuple[Node, object]]) -> Answer:
        answer: Answer = {}
        for receiver, message in sends:
            to = "clients" if receiver == LOCAL else self._world.name(receiver)
            answer.setdefault(to, []).append(describe(message))
        if "clients" in answer:
            answer["clients"].sort()
        return answer


def _in_order(sends: Iterable[tuple[Node, object]]) -> list[tuple[Node, object]]:
    """The messages by receiver, those to clients in the order of their words."""
    return sorted(sends, key=lambda each: (each[0], describe(each[1]) if each[0] == LOCAL else ""))


def _agree(own: Tables, model: Tables) -> bool:
    """Are the tables those of the model, in the fields that the implementation has?"""
    if type(own) is type(model):
        return own == model
    return (own.advs, own.subs, own.sent) == (model.advs, model.subs, model.sent)
