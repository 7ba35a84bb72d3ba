"""Amnesia: whether a broker whose step is wrong goes on as one that has forgotten its tables.

A process that is started anew, and does not write so, is rejected where its empty tables show first: somewhere, for
whatever they lack there. So after the first wrong step the broker is compared with models that began with empty tables
then, or a few control messages before. If one of them does all that the broker does, and the model of the right tables
more than once does not, the tables are gone, and that is the cause.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy

from attrs import define, field

from routeproof.checker.validate.broker.messages import MessageMeaning, Unreadable
from routeproof.checker.validate.broker.model import BrokerModel, CoreModel
from routeproof.checker.validate.broker.step import Delivery, Sent, StepComparison
from routeproof.model.filters import FilterError
from routeproof.model.overlay import Node

RECENT = 8
"""Number of control messages before the wrong step that a broker may remember."""

SHOWN = 2
"""Steps, of those that only empty tables explain, that are no accident."""

NO_TABLES = "the tables are empty: this broker has forgotten its tables, as in a restart that is not in the trace"
"""The cause where a snapshot shows it."""

Handled = tuple[Node, MessageMeaning, int]
"""A message that was handled: its sender, the message, and its seq."""


@define(eq=False)
class Amnesia:
    """`right`: the model of the right tables. `forgetful`: models that began with empty tables, each with the seq of
    the first message that it remembers."""

    _comparison: StepComparison
    _right: CoreModel
    _forgetful: list[tuple[int, BrokerModel]]
    _shown: int = 1
    _step: Handled | None = None
    _sends: list[Sent] = field(factory=list)
    _deliveries: list[Delivery] = field(factory=list)
    _is_over: bool = False

    @classmethod
    def suspected(
        cls,
        comparison: StepComparison,
        model: BrokerModel,
        recent: Iterable[Handled],
        step: Handled,
        seen: tuple[Sequence[Sent], Sequence[Delivery]],
    ) -> Amnesia | None:
        """After a wrong step of a broker; None if empty tables do not explain it. `recent`: what it handled before."""
        if type(model) is not CoreModel:
            return None
        found, before = list[tuple[int, BrokerModel]](), list(recent)
        for count in range(len(before) + 1):
            remembered = [*before[len(before) - count :], step]
            empty = copy(model)
            empty.restart()
            if all(_handles(empty, each) for each in remembered) and _agrees(comparison, empty, step, *seen):
                found.append((remembered[0][2], empty))
        return cls(comparison, model, found) if found else None

    def begin(self, step: Handled) -> None:
        """Takes the next message that the broker handles, with which the step before is over."""
        if not self._is_over:
            self._close()
            self._step, self._sends, self._deliveries = step, [], []

    def sent(self, each: Sent) -> None:
        self._sends.append(each)

    def delivered(self, each: Delivery) -> None:
        self._deliveries.append(each)

    def end(self) -> None:
        """Ends the comparison: a snapshot has the tables, or they begin anew."""
        if not self._is_over:
            self._close()
            self._is_over = True

    @property
    def cause(self) -> str:
        """The cause in words; empty if it is another one."""
        if not self._forgetful or self._shown < SHOWN:
            return ""
        begin = f"from seq {self._forgetful[0][0]} on it does only what follows from messages since then"
        return f"{begin}, as if it had forgotten its tables in a restart that is not in the trace"

    def _close(self) -> None:
        step, self._step = self._step, None
        if step is None or not self._forgetful:
            return
        seen = self._sends, self._deliveries
        is_right = _handles(self._right, step) and _agrees(self._comparison, self._right, step, *seen)
        self._forgetful = [
            (seq, model)
            for seq, model in self._forgetful
            if _handles(model, step) and _agrees(self._comparison, model, step, *seen)
        ]
        self._shown += not is_right


def _handles(model: BrokerModel, step: Handled) -> bool:
    try:
        model.handle(step[0], step[1])
    except (Unreadable, FilterError):
        return False
    return True


def _agrees(
    comparison: StepComparison,
    model: BrokerModel,
    step: Handled,
    sends: Sequence[Sent],
    deliveries: Sequence[Delivery],
) -> bool:
    route = model.route()
    if route is not None and comparison.is_passed_on(step[1], sends, deliveries, *route):
        return True
    return not any(comparison.differences(step[1], step[2], sends, deliveries, model.answer()))
