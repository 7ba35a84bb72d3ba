"""One step of a broker, compared with the model's (`StepComparison`), and signs of a wrong recorder (`Signs`).

A step is a message that a broker handles, and what was seen of its answer: messages sent and deliveries. The step is
right if, for each neighbour and for the deliveries, the level allows what was seen instead of the model's answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches

from attrs import define, evolve, field

from routeproof.checker.validate.broker.canonical import distinguished
from routeproof.checker.validate.broker.comparison import Difference, Divergence, divergence
from routeproof.checker.validate.broker.messages import MessageMeaning
from routeproof.checker.validate.broker.model import BrokerModel, CoreModel, Sends
from routeproof.checker.validate.broker.reasons import matches
from routeproof.checker.validate.broker.safe import SafeModel
from routeproof.checker.validate.findings import Rejection
from routeproof.checker.validate.setting import Setting
from routeproof.model.messages import Deliver, Subscription
from routeproof.model.overlay import Node
from routeproof.traces import TraceTables
from routeproof.traces.extensions import Entry, by_id

Sent = tuple[Node, MessageMeaning, int, int]
"""A message that a broker sent: to whom, the message, its seq and its line."""

Delivery = tuple[MessageMeaning, str, int, int]
"""A publication that was delivered; the subscription that it is for or, behind an @, the client; its seq and its line.
"""


class StepComparison:
    """Compares the steps of one broker with its model's."""

    def __init__(self, setting: Setting, model: BrokerModel, neighbours: Mapping[str, Node]) -> None:
        self._setting, self._model, self._neighbours = setting, model, neighbours
        self._sends_observed = "send" in setting.observes
        self._deliveries_observed = "deliver" in setting.observes
        self.client_of: dict[str, str] = {}
        """Clients of the subscriptions that were made here, and of some that were withdrawn."""
        self.deviates = False
        """At the level `safe`: has a difference been found that does no harm?"""

    def name_of(self, node: Node) -> str:
        """Name of a broker."""
        return self._setting.name_of(node)

    def differences(
        self,
        told: MessageMeaning,
        begun: int,
        sent: Sequence[Sent],
        deliveries: Sequence[Delivery],
        wanted: Sends,
        *,
        is_told: bool = True,
    ) -> Iterator[Difference]:
        """The first difference for each neighbour, and for the deliveries. `begun`: the seq that begins the step.

        If `is_told` is false, a difference in what was sent has no words: finding reasons takes long.
        """
        if self._sends_observed:
            answers: dict[Node, list[Hashable]] = {}
            for to, message in wanted:
                answers.setdefault(to, []).append(message)
            sends: dict[Node, list[Sent]] = {}
            for each in sent:
                sends.setdefault(each[0], []).append(each)
            concerned = answers.keys() | sends.keys()  # mostly few, also where there are thousands of neighbours
            if self._merges and told.is_control:
                concerned |= set(self._neighbours.values())
            for neighbour in [n for n in self._neighbours.values() if n in concerned] if concerned else ():
                mine = sends.get(neighbour, [])
                found = self._compare_sends(told, begun, answers.get(neighbour, []), mine, neighbour, is_told)
                if found is not None:
                    yield found
        if (
            self._deliveries_observed
            and (found := self._compare_deliveries(told, begun, deliveries, wanted)) is not None
        ):
            yield found

    def is_passed_on(
        self,
        told: MessageMeaning,
        sends: Sequence[Sent],
        deliveries: Sequence[Delivery],
        hops: Collection[Node],
        local: Sequence[Subscription],
    ) -> bool:
        """Did a publication go where RTE-5 wants it, seen at a glance? If not, the long way says what is wrong."""
        if self._sends_observed:
            if len(sends) != len(hops):
                return False
            for to, meant, _, _ in sends:
                if to not in hops or (meant is not told and not meant.is_same(told)):
                    return False
            if len(sends) > 1 and len({to for to, _, _, _ in sends}) < len(hops):
                return False
        if self._deliveries_observed:
            if len(local) != len(deliveries):
                return False
            for meant, _, _, _ in deliveries:
                if meant is not told and (meant.id != told.id or not (meant.written == b"" or meant.is_same(told))):
                    return False
            if len(local) == 1:
                return local[0].id == deliveries[0][1]
            return sorted(s.id for s in local) == sorted(to for _, to, _, _ in deliveries)
        return True

    @property
    def _merges(self) -> bool:
        return isinstance(self._model, SafeModel) and self._model.merges

    def _compare_sends(
        self,
        told: MessageMeaning,
        begun: int,
        answer: Iterable[Hashable],
        sends: Sequence[Sent],
        neighbour: Node,
        is_told: bool,
    ) -> Difference | None:
        wanted = [self._model.canonical(message) for message in answer]
        seen = [(meant.said, (seq, line)) for _, meant, seq, line in sends]
        is_safe = self._setting.level == "safe"
        if is_safe and ([said for said, _ in seen] != wanted or self._merges):
            assert isinstance(self._model, SafeModel), "other protocols have no such level"
            found = self._model.fault(neighbour, wanted, seen)
            self.deviates = self.deviates or found is None
        elif [said for said, _ in seen] == wanted:
            is_passed_on = isinstance(self._model, CoreModel) and not told.is_control
            return self._compare_advertisements(told, sends, neighbour) if is_passed_on else None
        else:
            found = divergence(self._setting.level, wanted, seen)
        if found is None:
            return None
        if not is_told:
            return Difference(begun, 0, "", "", "")
        missing, extra = found.missing, found.extra
        if missing is None and extra is not None:
            missing = self._model.counterpart(extra, wanted)
        elif extra is None and missing is not None:
            extra = self._model.counterpart(missing, [said for said, _ in seen])
        found = evolve(found, missing=missing, extra=extra)
        if found.is_order:
            return self._difference(found, begun, "COV-8", neighbour)
        reason = found.reason or self._model.reason(missing, extra, neighbour)
        if extra is not None and any(extra.several) and not is_safe:
            several = ", ".join(id for some in extra.several for id in some)
            reason = f"{extra} stands for {several}: only the level safe judges entries that stand for others; {reason}"
        return evolve(self._difference(found, begun, self._model.blame(missing, extra), neighbour), reason=reason)

    def _compare_advertisements(
        self, told: MessageMeaning, sends: Sequence[Sent], neighbour: Node
    ) -> Difference | None:
        """A publication is passed on under the advertisement under which it came."""
        for _, meant, seq, line in sends:
            if not meant.is_same(told):
                wanted, seen = distinguished(told.said.words, meant.said.words)
                there = self._setting.name_of(neighbour)
                return Difference(seq, line, "RTE-5", f"{wanted} to {there}", f"{seen} to {there}")
        return None

    def _difference(self, found: Divergence, begun: int, rule: str, neighbour: Node) -> Difference:
        there = self._setting.name_of(neighbour)
        at, line = found.at or (begun, 0)
        if found.early:
            return Difference(at, line, rule, f"additions to {there} before withdrawals", f"{found.extra} to {there}")
        if found.only_order:
            words = "before the others: only the order of these messages differs, which the level equivalent allows"
            return Difference(at, line, rule, f"{found.missing} to {there} {words}", f"{found.extra} to {there} first")
        wanted, seen = f"no further message to {there}", "no message"
        if found.missing is not None and found.extra is not None:
            wanted, seen = (f"{words} to {there}" for words in distinguished(found.missing.words, found.extra.words))
        elif found.missing is not None:
            wanted = f"{found.missing} to {there}"
        else:
            seen = f"{found.extra} to {there}"
        return Difference(at, line, rule, wanted, seen)

    def _compare_deliveries(
        self, told: MessageMeaning, begun: int, deliveries: Sequence[Delivery], answer: Sends
    ) -> Difference | None:
        pairs = [(m.publication.id, m.subscription.id) for _, m in answer if isinstance(m, Deliver)]
        if not pairs and not deliveries:
            return None
        by_subscription, by_client = Counter(pairs), Counter({(p, f"@{self.client_of.get(s, '')}") for p, s in pairs})
        told_client = bool(deliveries) and all(to.startswith("@") for _, to, _, _ in deliveries)
        left, met = (by_client if told_client else by_subscription), set[tuple[str, str]]()
        unnamed = {p for p, to in by_client if to == "@"} if told_client else set[str]()
        for meant, to, at, line in deliveries:
            p = meant.id
            if not left[p, to] and p in unnamed:
                continue
            if not left[p, to]:
                again = " again" if (p, to) in met else ""
                seen = f"{p} delivered to {to.lstrip('@')}{again}"
                many = sum(f"@{self.client_of.get(s, '')}" == to for _, s in pairs)
                hint = f"{many} subscriptions of this client match; a broker that delivers for each names it under `to`"
                reason = hint if again and many > 1 else self._model.unwanted(meant, to)
                return Difference(at, line, "RTE-5", "no such delivery", seen, reason)
            original = told if meant.written == b"" else self._model.original(told, p)
            if meant.written != b"" and not meant.is_same(original):
                wanted, seen = distinguished(original.said.words, meant.said.words)
                there = f"delivered to {to.lstrip('@')}"
                return Difference(at, line, "RTE-5", f"{wanted} {there}, as it was received", f"{seen} {there}")
            left[p, to] -= 1
            met.add((p, to))
        for (p, to), count in left.items():
            if count > 0 and not (to == "@" and p in unnamed):
                subscriptions = (m.subscription for _, m in answer if isinstance(m, Deliver) and m.publication.id == p)
                s = next((s for s in subscriptions if to in (s.id, f"@{self.client_of.get(s.id, '')}")), None)
                reason = "" if s is None or told.kind != "publish" else matches(told.said, s)
                return Difference(begun, 0, "RTE-5", f"{p} delivered to {to.lstrip('@')}", "nothing", reason)
        return None


# -- names -------------------------------------------------------------------------------------------------------------

FEWEST_NAMES = 1024
"""Number of names below which withdrawn ones are not looked for."""


class LocalNames:
    """Names by which one broker knows subscriptions and advertisements that have other ids on its links.

    A message with an original id (`of`) gives its own id as another name of that. The original may itself be such a
    name, given by the broker before.
    """

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._most = FEWEST_NAMES

    def named(self, message: MessageMeaning) -> MessageMeaning:
        """Returns a message as the broker knows it, and learns the names that it gives."""
        if not message.is_control:
            return message
        found = message.named(self._names) if self._names else message
        for item, known in zip(message.items, found.items, strict=True):
            if item.of and item.id != (name := known.of or known.id):
                self._names[item.id] = name
        return found

    def named_tables(self, tables: TraceTables) -> TraceTables:
        """Returns the tables of a snapshot as the broker knows them."""
        names = self._names
        if not names:
            return tables

        def renamed(entries: tuple[Entry, ...] | None) -> tuple[Entry, ...] | None:
            return entries and by_id(evolve(each, id=names.get(each.id, each.id)) for each in entries)

        sent = tables.sent and tuple((to, tuple(sorted(names.get(id, id) for id in ids))) for to, ids in tables.sent)
        return evolve(tables, advs=renamed(tables.advs), subs=renamed(tables.subs), sent=sent)

    def forget_some(self, model: BrokerModel) -> None:
        """Forgets the names of what the broker no longer knows, where there are many."""
        if len(self._names) >= self._most:
            known = model.known_ids()
            still = (pair for pair in self._names.items() if pair[1] in known or model.knows("unadvertise", pair[1]))
            self._names = dict(still)
            self._most = max(FEWEST_NAMES, 2 * len(self._names))


# -- the recorder ------------------------------------------------------------------------------------------------------


def stranger(name: str, setting: Setting) -> str:
    """Returns what may be wrong with a broker's name that the overlay does not have."""
    near = get_close_matches(name.lower(), [each.lower() for each in setting.names], 1, 0.6)
    alike = next((each for each in setting.names if near and each.lower() == near[0]), "")
    hint = f": is {alike} meant, or is a link missing?" if alike else ": is a link missing there?"
    return f'{name} is in no link of the header\'s "overlay"{hint}'


@define
class Signs:
    """Signs in the events of one broker. `unknown`: how many withdrawals by clients name an id that the broker does not
    know; `first_unknown`: the first of them.
    """

    unknown: int = 0
    first_unknown: str = ""
    unknown_at: int = -1
    """Seq of the latest such withdrawal."""
    _stray: tuple[str, str] | None = field(default=None, init=False)
    """Kind and id of the message of the rejection, which was sent while something else was handled."""
    _hint: str = field(default="", init=False)
    """Words for the order in which events are written, if that message is handled next; empty if it is not."""
    _reason: str = field(default="", init=False)
    _sent: set[tuple[str, str]] = field(factory=set, init=False)
    """Kinds and ids of what was sent since the latest message was handled."""

    def stray(self, message: MessageMeaning | None) -> None:
        """Takes the message of the rejection; None if a message is missing."""
        self._stray = None if message is None else (message.kind, message.id)

    def sent(self, message: MessageMeaning) -> None:
        """Takes what was sent or delivered after the rejection."""
        if self._hint:
            self._sent.add((message.kind, message.id))

    def explained(self, rejection: Rejection | None, event: str, seq: int, meant: MessageMeaning) -> Rejection | None:
        """Looks whether what was sent out of place is handled next: then events are written in the wrong order. It is
        the cause if nothing was handled before, or if it happens again."""
        if rejection is None:
            return None
        (stray, self._stray), handled = (self._stray, None), (meant.kind, meant.id)
        if stray == handled:
            said = f"{meant.kind}({meant.id}) is sent before the {event} event of the same message at seq {seq}"
            order = f"the broker seems to write `{event}` after the sends that it causes; write it before them"
            self._hint, self._reason = f"{order}: {said}", rejection.reason
            if rejection.rule == "TRC-5":
                return evolve(rejection, cause=self._hint)
            return evolve(rejection, reason="; ".join(filter(None, (self._hint, rejection.reason))))
        if self._hint and not rejection.cause and handled in self._sent:
            rejection = evolve(rejection, cause=self._hint, reason=self._reason)
        self._sent.clear()
        return rejection

    def look_at_withdrawal(self, model: BrokerModel, seq: int, meant: MessageMeaning, *, by_client: bool) -> None:
        """Takes the next message, before it is handled. Only withdrawals by clients are counted: one of a neighbour may
        have crossed another message."""
        if meant.kind not in ("unsubscribe", "unadvertise") or not meant.items:
            return
        if not model.knows(meant.kind, meant.items[0].of or meant.items[0].id):
            self.unknown_at = seq
            if by_client:
                self.unknown += 1
                self.first_unknown = self.first_unknown or f"{meant.said} at seq {seq}"
