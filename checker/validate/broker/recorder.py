"""Signs that the recorder of a broker, and not the broker, is wrong (`Signs`)."""

from __future__ import annotations

from attrs import define, evolve, field

from routeproof.checker.validate.broker.messages import MessageMeaning
from routeproof.checker.validate.broker.model import BrokerModel
from routeproof.checker.validate.rejection import Rejection


@define
class Signs:
    """Signs in the events of one broker. `unknown`: how many withdrawals by clients name an id that the broker does not
    know; `first_unknown`: the first of them.
    """

    unknown: int = 0
    first_unknown: str = ""
    _stray: tuple[str, str] | None = field(default=None, init=False)
    """Kind and id of the message of the rejection, which was sent while something else was handled."""

    def stray(self, message: MessageMeaning | None) -> None:
        """Takes the message of the rejection; None if a message is missing."""
        self._stray = None if message is None else (message.kind, message.id)

    def explained(self, rejection: Rejection | None, event: str, seq: int, meant: MessageMeaning) -> Rejection | None:
        """Looks whether what was sent out of place is handled next: then events are written in the wrong order."""
        if rejection is None or self._stray is None:
            return rejection
        (kind, id), self._stray = self._stray, None
        if (kind, id) != (meant.kind, meant.id):
            return rejection
        said = f"{kind}({id}) is sent before the {event} event of the same message at seq {seq}"
        hint = f"{said}: the broker seems to write `{event}` after the sends that it causes; write it before them"
        return evolve(rejection, reason="; ".join(filter(None, (hint, rejection.reason))))

    def look_at_withdrawal(self, model: BrokerModel, seq: int, meant: MessageMeaning) -> None:
        """Takes the next operation of a client, before it is handled."""
        if meant.kind not in ("unsubscribe", "unadvertise") or not meant.items:
            return
        if not model.knows(meant.kind, meant.items[0].of or meant.items[0].id):
            self.unknown += 1
            self.first_unknown = self.first_unknown or f"{meant.said} at seq {seq}"
