"""Amnesia: whether a broker whose step is wrong goes on as one that has forgotten its tables, or a part of them.

A process that is started anew, and does not write so, is rejected where its empty tables show first: somewhere, for
whatever they lack there. The same holds for a broker that loses what its clients or one neighbour announced. So after
the first wrong step the broker is compared with models that began without that then, or a few control messages before.
If one of them does all that the broker does, and the model of the right tables more than once does not, that is the
cause.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from itertools import product

from attrs import define, field

from routeproof.checker.validate.broker.messages import MessageMeaning, Unreadable
from routeproof.checker.validate.broker.model import BrokerModel, CoreModel
from routeproof.checker.validate.broker.step import Delivery, Sent, StepComparison
from routeproof.model.filters import FilterError
from routeproof.model.messages import Deliver
from routeproof.model.overlay import LOCAL, Node
from routeproof.model.tables import Tables

RECENT = 8
"""Number of control messages before the wrong step that a broker may remember."""

SHOWN = 3
"""Steps, of those that only a lack explains, that are no accident: a broker that never acts shows fewer."""

NO_TABLES = "the tables are empty: this broker has forgotten its tables, as in a restart that is not in the trace"
"""The cause where a snapshot shows it."""

Handled = tuple[Node, MessageMeaning, int]
"""A message that was handled: its sender, the message, and its seq."""

Seen = tuple[Sequence[Sent], Sequence[Delivery]]
"""The messages and deliveries in which the answer to it was seen."""

MOST = 1 << 15
"""Entries of tables with which models are made, at most."""


@define(eq=False)
class Amnesia:
    """`right`: the model of the right tables. `forgetful`: models that have forgotten something, each with the seq of
    the first message that it remembers, and with what is forgotten; empty where it is everything.
    """

    _comparison: StepComparison
    _right: CoreModel
    _forgetful: list[tuple[int, str, BrokerModel]]
    _shown: int = 1
    _is_silent: bool = False
    """True if the right tables explain all that the broker sends, and it delivers nothing."""
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
        seen: Seen,
    ) -> Amnesia | None:
        """After a wrong step of a broker; None if no lack explains it. `recent`: what it handled before."""
        if type(model) is not CoreModel:
            return None
        found, before = list[tuple[int, str, BrokerModel]](), list(recent)
        for count in range(len(before) + 1):
            remembered = [*before[len(before) - count :], step]
            empty = copy(model)
            empty.restart()
            if all(_handles(empty, each) for each in remembered) and _agrees(comparison, empty, step, seen):
                found.append((remembered[0][2], "", empty))
        for what, tables in _parts_lost(comparison, model, before):
            lacking = model.with_tables(tables)
            if _handles(lacking, step) and _agrees(comparison, lacking, step, seen):
                found.append((step[2], what, lacking))
        return cls(comparison, model, found, is_silent=_is_silent(comparison, model, step, seen)) if found else None

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
        seq, part, _ = self._forgetful[0]
        parts = list(dict.fromkeys(what for _, what, _ in self._forgetful if what))
        if self._is_silent:
            lost = " or ".join(parts) or "its tables"
            return f"from seq {seq} on it delivers nothing to its clients; all else is right, also if it forgot {lost}"
        if part:
            without = ", or without ".join(parts)
            return f"from seq {seq} on it does only what follows without {without}, as if it had forgotten them"
        begin = f"from seq {seq} on it does only what follows from messages since then"
        also = "".join(f", or only {each}" for each in parts)
        return f"{begin}, as if it had forgotten its tables in a restart that is not in the trace{also}"

    def _close(self) -> None:
        step, self._step = self._step, None
        if step is None or not self._forgetful:
            return
        seen = self._sends, self._deliveries
        is_right = _handles(self._right, step) and _agrees(self._comparison, self._right, step, seen)
        self._is_silent = self._is_silent and _is_silent(self._comparison, self._right, step, seen)
        self._forgetful = [
            (seq, what, model)
            for seq, what, model in self._forgetful
            if _handles(model, step) and _agrees(self._comparison, model, step, seen)
        ]
        self._shown += not is_right


def _parts_lost(
    comparison: StepComparison, model: CoreModel, recent: Sequence[Handled]
) -> Iterator[tuple[str, Tables]]:
    """Yields the tables before the last step without what came from one side, each with what is missing in words.

    A broker may remember what was announced to it lately, and what it has sent of what is forgotten.
    """
    whole, left = model.before(), MOST
    for hop in sorted({hop for _, hop in (*whole.advs, *whole.subs)}):
        of_whom = "its clients" if hop == LOCAL else comparison.name_of(hop)
        late = [{i.of or i.id for i in m.items} if sender == hop else set() for sender, m, _ in reversed(recent)]
        kept = {frozenset[str]().union(*late[:count]) for count in range(len(late) + 1)}
        for ids, and_advs, and_sent in product(sorted(kept, key=len), (False, True), (False, True)):
            gone = {s for s, came in whole.subs if came == hop and s.id not in ids}
            lost = {a for a, came in whole.advs if and_advs and came == hop and a.id not in ids}
            left -= len(whole.advs) + len(whole.subs)
            if left < 0:
                return
            if (gone or lost) and bool(lost) == and_advs:
                sent = ((to, tuple(s for s in some if not and_sent or s not in gone)) for to, some in whole.sent)
                advs = tuple(each for each in whole.advs if each[0] not in lost)
                subs = tuple(each for each in whole.subs if each[0] not in gone)
                kinds = " and ".join(["subscriptions"] * bool(gone) + ["advertisements"] * bool(lost))
                yield f"the earlier {kinds} of {of_whom}", Tables(advs, subs, tuple(sent))


def _handles(model: BrokerModel, step: Handled) -> bool:
    try:
        model.handle(step[0], step[1])
    except (Unreadable, FilterError):
        return False
    return True


def _agrees(comparison: StepComparison, model: BrokerModel, step: Handled, seen: Seen) -> bool:
    route = model.route()
    if route is not None and comparison.is_passed_on(step[1], *seen, *route):
        return True
    return not any(comparison.differences(step[1], step[2], *seen, model.answer(), is_told=False))


def _is_silent(comparison: StepComparison, model: BrokerModel, step: Handled, seen: Seen) -> bool:
    """True if what the broker sends is right, and it delivers nothing."""
    answer = [(to, message) for to, message in model.answer() if not isinstance(message, Deliver)]
    sends, deliveries = seen
    return not deliveries and not any(comparison.differences(step[1], step[2], sends, (), answer, is_told=False))
