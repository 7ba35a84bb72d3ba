"""One broker of pruning in step with its trace (`PruningModel`), and what its steps tell of similarity (`Notebook`).

A part sets rows aside for similarity: deliveries, rows of databases, and the ends of withdrawals. A publication and its
rows go into the bucket of its id (`PUBLICATIONS`), a decision into that of the subscription that is withdrawn
(`SUBSCRIPTIONS`), so that one bucket after the other, or many at once, can be judged. Only steps that were accepted are
set aside: after a rejection the tables are unknown.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from typing import NamedTuple, TypeAlias, cast

import msgspec

from routeproof.checker.pruning.validate.model import (
    SIGNALS,
    CanonicalPruning,
    JudgingPruning,
    PruningMeaning,
    StepRecord,
    differ,
    pruning_in_model,
)
from routeproof.checker.validate.broker.canonical import CanonicalMessage
from routeproof.checker.validate.broker.comparison import FLOODED, blame
from routeproof.checker.validate.broker.messages import MessageMeaning, Unreadable, model_message
from routeproof.checker.validate.broker.model import AcceptedStep, BrokerModel, Sends
from routeproof.checker.validate.broker.reasons import Reasons, reason_of_publication
from routeproof.checker.validate.clients import bucket_of
from routeproof.checker.validate.fast import Replica
from routeproof.checker.validate.judging import SHARED
from routeproof.checker.validate.setting import Setting
from routeproof.checker.validate.store import packed, storable
from routeproof.model.messages import Advertisement, Message, Publication, Subscription, Unsubscribe
from routeproof.model.overlay import LOCAL, Node
from routeproof.model.protocol import Outcome
from routeproof.model.pruning.handler import Cuts
from routeproof.model.pruning.vocabulary import Congest, PruningTables, Relieve, publish, withdraw
from routeproof.model.tables import Tables
from routeproof.traces import TraceTables

PUBLICATIONS, SUBSCRIPTIONS = "publications", "subscriptions"
"""Where a block goes: the first two are followed by the number of a bucket."""

HELD = 2048
"""Rows that wait before they are put into blocks."""

Row: TypeAlias = "Made | Copied | Noted"

Distances: TypeAlias = tuple[int | None, ...]


class At(NamedTuple):
    """A step: the seq with which it begins, how many events the broker had before it, its time or -1."""

    seq: int
    before: int
    time: int


class Made(NamedTuple):
    """A client published. `event`: attributes as they were written, or a number."""

    id: str
    of: str
    event: bytes | int
    at: At


class Copied(NamedTuple):
    """The broker took it from a neighbour."""

    id: str
    peer: str


class Noted(NamedTuple):
    """STA-6: a row of the database, as it came in."""

    id: str
    of: str
    subscription: str
    distance: int
    joins: int
    """The header's count."""
    at: At


class Toward(NamedTuple):
    """PRN-4, for one advertisement of a list: the distance that counted, and the list that went on. `onward`: the
    distances that were sent on; empty if the withdrawal ended here.
    """

    advertisement: str
    which: int
    onward: Distances


class Decided(NamedTuple):
    """A broker's decision on a withdrawal. `full`: the subscriber's broker wrote no list (STA-8)."""

    subscription: str
    at: At
    full: bool
    toward: tuple[Toward, ...]
    is_seen: bool = True
    """Does the trace tell what was sent?"""


class Signalled(NamedTuple):
    """PRN-6: the broker began to hold withdrawals, or went on with them."""

    congested: bool
    at: At


class OfPublications(NamedTuple):
    """A block: some of one broker's, in one bucket of publications."""

    broker: str
    made: tuple[Made, ...]
    copied: tuple[Copied, ...]
    noted: tuple[Noted, ...]


class OfSubscriptions(NamedTuple):
    broker: str
    decided: tuple[Decided, ...]


class OfSignals(NamedTuple):
    broker: str
    signalled: tuple[Signalled, ...]


class Notebook:
    def __init__(self, broker: str) -> None:
        self.broker = broker
        self._made: list[Made] = []
        self._copied: list[Copied] = []
        self._noted: list[Noted] = []
        self._decided: list[Decided] = []
        self._signalled: list[Signalled] = []

    def made(self, each: Made) -> None:
        self._made.append(each)

    def copied(self, id: str, peer: str) -> None:
        self._copied.append(Copied(id, peer))

    def noted(self, each: Noted) -> None:
        self._noted.append(each)

    def decided(self, each: Decided) -> None:
        self._decided.append(each)

    def signalled(self, congested: bool, at: At) -> None:
        self._signalled.append(Signalled(congested, at))

    @property
    def is_full(self) -> bool:
        return len(self._copied) + len(self._noted) >= HELD

    def blocks(self, *, all_of_them: bool = False) -> Iterator[tuple[str, bytes]]:
        """Blocks of the waiting rows, by destination: if there are many, or all."""
        if not (all_of_them or self.is_full):
            return
        buckets: dict[int, tuple[list[Row], ...]] = defaultdict(lambda: ([], [], []))
        waiting: tuple[Sequence[Row], ...] = (self._made, self._copied, self._noted)
        for place, rows in enumerate(waiting):
            for row in rows:
                buckets[bucket_of(row.id)][place].append(row)
        for bucket, those in buckets.items():
            yield f"{PUBLICATIONS}/{bucket:02}", packed((self.broker, *those))
        decided: dict[int, list[Decided]] = defaultdict(list)
        for each in self._decided:
            decided[bucket_of(storable(each.subscription))].append(each)
        for bucket, some in decided.items():
            yield f"{SUBSCRIPTIONS}/{bucket:02}", packed((self.broker, some))
        if self._signalled:
            yield SHARED, packed((self.broker, self._signalled))
        self._made, self._copied, self._noted, self._decided, self._signalled = [], [], [], [], []


of_publications = msgspec.msgpack.Decoder(OfPublications).decode
of_subscriptions = msgspec.msgpack.Decoder(OfSubscriptions).decode
of_signals = msgspec.msgpack.Decoder(OfSignals).decode


# -- replay ------------------------------------------------------------------------------------------------------------

Observed = Sequence[tuple[Node, MessageMeaning, int, int]]


def record(
    notebook: Notebook, told: PruningMeaning, sender: str, at: At, minutes: StepRecord, sends: Observed | None
) -> None:
    """`sender` is empty for a client. `sends`: what the trace says was sent; None where it does not tell."""
    if told.kind == "publish":
        if sender:
            notebook.copied(told.id, sender)
        else:
            notebook.made(Made(told.id, told.of, told.written, at))
        for s, distance, count in minutes.rows:
            notebook.noted(Noted(told.id, told.of, s, distance, count, at))
        return
    if told.kind in SIGNALS:
        notebook.signalled(told.kind == "congest", at)
    for s in minutes.full:
        notebook.decided(Decided(s, at, True, ()))
    for s, neighbour, advertisements, which in minutes.decisions:
        sent = {} if sends is None else _list_sent(sends, neighbour, s)
        toward = tuple(Toward(a, which, sent.get(a, ())) for a in advertisements)
        notebook.decided(Decided(s, at, False, toward, sends is not None))


def _list_sent(sends: Observed, neighbour: Node, subscription: str) -> dict[str, tuple[int | None, ...]]:
    """The distances with which a withdrawal went on to a neighbour; none where it did not. A full one is another: it
    removes what was retained (PRN-12)."""
    cuts: Cuts = ()
    for to, meant, _, _ in sends:
        if to == neighbour and meant.kind == "unsubscribe" and isinstance(meant, PruningMeaning):
            named = {item.of or item.id for item in meant.items}
            cuts = meant.cuts or () if subscription in named else cuts
    return {cut.advertisement: cut.distances for cut in cuts}


OF_WITHDRAWALS = ("unsubscribe", "relieve")


class PruningModel(BrokerModel):
    """The handlers of pruning's model with memoised relations, on its own tables."""

    def __init__(self, setting: Setting, replica: Replica, broker: str, tables: Tables | None) -> None:
        assert isinstance(setting.protocol, JudgingPruning)
        self._model = setting.protocol.at_another()
        self._tables = cast(PruningTables, tables) if tables is not None else PruningTables()
        self._old = self._tables
        """Tables before the step."""
        self._ranks, self._name_of = setting.ranks, setting.name_of
        self._node = setting.node.get(broker, LOCAL)
        self._outcome = Outcome(self._tables)
        self._told: PruningMeaning
        self._sender = LOCAL

    @property
    def record(self) -> StepRecord:
        return self._model.minutes

    def handle(self, sender: Node, told: MessageMeaning) -> None:
        assert isinstance(told, PruningMeaning)
        self._told, self._sender, self._old = told, sender, self._tables
        self._outcome, self._model.minutes = Outcome(self._tables), StepRecord()
        message = self._message(told, sender)
        if message is not None:
            self._outcome = self._model.handle(self._node, self._tables, sender, message)
            self._tables = cast(PruningTables, self._outcome.local)

    def answer(self) -> Sends:
        return self._outcome.sends

    def original(self, told: MessageMeaning, id: str) -> MessageMeaning:
        assert isinstance(told, PruningMeaning)
        return told.base  # a delivery has no header

    def restart(self) -> None:
        self._tables = PruningTables()

    def known_ids(self) -> set[str]:
        return {s.id for s, _ in self._tables.subs}

    @property
    def size(self) -> int:
        return len(self._tables.subs)

    def difference(self, told: TraceTables) -> tuple[str, str] | None:
        return differ(self._tables, told, self._name_of)

    def canonical(self, message: Hashable) -> CanonicalMessage:
        return pruning_in_model(message)

    def counterpart(self, of: CanonicalMessage, among: Sequence[CanonicalMessage]) -> CanonicalMessage | None:
        """Another one of these may be meant, with its header changed."""
        return next((each for each in among if (each.kind, each.about) == (of.kind, of.about)), None)

    def _message(self, meant: PruningMeaning, sender: Node) -> Message | None:
        """None if no broker needs to handle it: it withdraws an unknown subscription (RTE-8)."""
        if meant.kind == "publish":
            event = meant.event
            if event is None:
                raise Unreadable(f"publication {meant.id} without its event")
            return publish(Publication(0, meant.id, meant.of, event), meant.distance, meant.count)
        if meant.kind in SIGNALS:
            if sender != LOCAL:
                raise Unreadable(f"{meant.kind} from a neighbour; only a broker's driver says so")
            return Congest() if meant.kind == "congest" else Relieve()
        if meant.kind in ("subscribe-many", "unsubscribe-many"):
            raise Unreadable(f"a message of the kind '{meant.kind}', which the protocol does not have")
        message = model_message(meant, self._ranks, self._sub_named, self._adv_named)
        if not isinstance(message, Unsubscribe) or meant.cuts is None:
            return cast(Message | None, message)
        wanted = len(self._model.parameters.thresholds)
        odd = next((cut for cut in meant.cuts if len(cut.distances) != wanted), None)
        if odd is not None:
            found = f"{len(odd.distances)} distances for {odd.advertisement}"
            raise Unreadable(f"{found}, where there are {wanted} thresholds")
        return withdraw(message.subscription, meant.cuts)

    def _sub_named(self, id: str) -> Subscription | None:
        return next((s for s, _ in self._tables.subs if s.id == id), None)

    def _adv_named(self, id: str) -> Advertisement | None:
        return next((a for a, _ in self._tables.advs if a.id == id), None)

    def blame(self, missing: CanonicalMessage | None, extra: CanonicalMessage | None) -> str:
        """The rule behind the first difference; where it has nothing to do with pruning, the core's."""
        if missing is not None and extra is not None and missing.kind == extra.kind:
            if missing.kind == "publish" and missing.about == extra.about:
                return "STA-1" if self._sender == LOCAL else "STA-2"
            if missing.kind == "unsubscribe" and missing.about == extra.about:
                return "PRN-4" if self._sender != LOCAL else "PRN-1"
        said = missing or extra
        assert isinstance(said, CanonicalPruning)
        if said.kind in FLOODED:
            return FLOODED[said.kind]
        if "PRN-6" in self._outcome.rules and self._told.kind == "unsubscribe":
            return "PRN-6"  # it is held, and no message is sent
        if said.withdraws and missing is not None and self._is_retained(said):
            return next((rule for rule in ("PRN-10", "PRN-11", "PRN-12") if rule in self._outcome.rules), "PRN-10")
        if "PRN-4" in self._outcome.rules and self._told.kind in OF_WITHDRAWALS:
            return "PRN-4" if said.withdraws or missing is None else "PRN-5"
        if extra is not None and extra.adds and self._is_covered_by_retained(extra):
            return "PRN-9"
        return blame(self._told.kind, self._tables, self._model.covering, missing, extra)

    def reason(self, missing: CanonicalMessage | None, extra: CanonicalMessage | None, to: Node) -> str:
        reasons = Reasons(self._tables, self._model.covering, self._name_of, self._sender)
        return reason_of_publication(reasons, missing, extra, to) if self.blame(missing, extra) == "RTE-5" else ""

    def _is_retained(self, said: CanonicalMessage) -> bool:
        ids = {id for id, _ in said.about}
        return any(s.id in ids for _, many in self._old.retained for s in many)

    def _is_covered_by_retained(self, said: CanonicalMessage) -> bool:
        retained = [s for _, many in self._tables.retained for s in many]
        return any(s.filter.covers(wanted) for s in retained for _, wanted in said.about if wanted is not None)


class SimilarityEmitter(Notebook):
    """Rows for similarity, of the steps of one part. `offset` is added to the number of events before one."""

    def __init__(self, broker: str, offset: int) -> None:
        super().__init__(broker)
        self._offset = offset

    def emit(self, step: AcceptedStep, model: BrokerModel) -> None:
        assert isinstance(step.told, PruningMeaning)
        assert isinstance(model, PruningModel)
        at = At(step.seq, self._offset + step.before, step.time)
        record(self, step.told, step.sender, at, model.record, step.sends)
