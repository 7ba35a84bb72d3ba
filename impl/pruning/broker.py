"""The reference broker under pruning: `spec/pruning.md`, on the tables and indexes of the routing core.

`PruningBroker` is a `Broker` that keeps statistics of what it delivers, writes into a withdrawal how far it is to go,
and retains at a neighbour what a withdrawal does not reach there.

Which distance of a cut counts depends on how many subscriptions would be triggered. To count these is most of what a
withdrawal costs, so it is done where it makes a difference, and once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from attrs import define, field

from routeproof.impl.index.covering import Due, Settlement
from routeproof.impl.index.profile import ProfiledSubscription, profile_of, spans_of
from routeproof.impl.pruning.retention import Pool, StatisticsDatabase
from routeproof.impl.routing import Broker, Outbox, named
from routeproof.model.filters import Event
from routeproof.model.messages import (
    Advertise,
    Advertisement,
    Deliver,
    Message,
    PackedSubscribe,
    PackedUnsubscribe,
    Publication,
    Publish,
    Subscribe,
    Subscription,
    Unadvertise,
    Unsubscribe,
)
from routeproof.model.overlay import LOCAL, Node
from routeproof.model.pruning.vocabulary import (
    PRUNING,
    Congest,
    Cut,
    PruningParameters,
    PruningTables,
    Relieve,
    cuts_of,
    met,
    publish,
    withdraw,
)
from routeproof.model.tables import Tables, by_id

Cuts = tuple[Cut, ...]


@define
class Triggered:
    """SIM-8: M, for the withdrawal of an entry that was sent to the neighbours in `told` and is still in their
    pools.
    """

    pools: Mapping[Node, Pool]
    told: Sequence[Node]
    entry: ProfiledSubscription
    parameters: PruningParameters
    _counted: dict[Node | None, int] = field(factory=dict)

    def seen_from(self, neighbour: Node) -> int:
        whose = None if self.parameters.triggered == "broker" else neighbour
        if whose not in self._counted:
            nodes = self.told if whose is None else (whose,)
            sent = {each.subscription for node in nodes for each in self.pools[node].uncovered(self.entry)}
            self._counted[whose] = len(sent)
        return self._counted[whose]


def goes_on(cut: Cut, policy: str, parameters: PruningParameters, triggered: Callable[[], int]) -> bool:
    """PRN-2: is the distance that counts more than 0? What has not the distances of this policy goes nowhere."""
    match policy, cut.distances:
        case "selective", (only,):
            return _is_left(only)
        case "incremental", (first, second):
            if _is_left(first) and _is_left(second):
                return True
            some, many = parameters.cuts  # PRN-3
            counted = triggered()
            return counted < some or _is_left(first if counted >= many else second)
    return False


def _is_left(distance: int | None) -> bool:
    return distance is None or distance > 0


def one_less(cut: Cut) -> Cut:
    """PRN-4: a hop further."""
    return Cut(cut.advertisement, tuple(None if d is None else d - 1 for d in cut.distances))


class PruningBroker(Broker):
    """Starts with empty tables. Nothing but its driver tells it that it is congested, in the name of `LOCAL`."""

    policies: ClassVar[Sequence[str]] = PRUNING

    def __init__(
        self, node: Node, neighbours: Sequence[Node], policy: str, parameters: PruningParameters | None = None
    ) -> None:
        self.parameters = parameters or PruningParameters.of(policy)
        super().__init__(node, neighbours, policy)

    def _empty(self) -> None:
        super()._empty()
        self._candidates: Mapping[Node, Pool] = {n: Pool(self.parameters) for n in self.neighbours}
        self._sources: dict[str, dict[Advertisement, Node]] = {}
        """Last hops of advertisements, by id: a list of cuts names no more than the id."""
        self._statistics = StatisticsDatabase(self.parameters, self._several)
        self._held: list[tuple[Node, Unsubscribe]] = []
        self._gone: set[Subscription] = set()
        """PRN-6: local subscriptions whose withdrawal is held."""
        self._congested = False

    def _handle(self, sender: Node, message: Message, out: Outbox) -> None:
        match message:
            case Subscribe(subscription):
                if self._held and not self.parameters.overtakes:
                    self._end_hold(subscription, out)
                super()._handle(sender, message, out)
            case Unsubscribe():
                self._withdraw(sender, message, out)
            case Congest() if sender == LOCAL:
                self._congested = True
            case Relieve() if sender == LOCAL:
                self._relieve(out)
            case Congest() | Relieve() | PackedSubscribe() | PackedUnsubscribe():
                raise TypeError(f"b{self.node} cannot receive {message!r} from {named((sender,))}")
            case _:
                super()._handle(sender, message, out)

    # -- advertisements ------------------------------------------------------------------------------------------------

    def _advertise(self, sender: Node, advertisement: Advertisement, message: Advertise, out: Outbox) -> None:
        self._sources.setdefault(advertisement.id, {}).setdefault(advertisement, sender)
        if self.parameters.newcomers == "withdraw" and sender != LOCAL and advertisement not in self._advs:
            self._candidates[sender].make_way(profile_of(advertisement.filter))
        super()._advertise(sender, advertisement, message, out)

    def _unadvertise(self, sender: Node, advertisement: Advertisement, message: Unadvertise, out: Outbox) -> None:
        if self._advs.get(advertisement) == sender:
            of_this_id = self._sources[advertisement.id]
            del of_this_id[advertisement]
            if not of_this_id:
                del self._sources[advertisement.id]
        super()._unadvertise(sender, advertisement, message, out)

    # -- publications --------------------------------------------------------------------------------------------------

    def _publish(self, sender: Node, publication: Publication, message: Publish, out: Outbox) -> None:
        """RTE-5, and the header: two matching subscriptions are as good as more, so that none beyond is looked for."""
        spans = spans_of(publication.event)
        local = self._matching.all_from(LOCAL, publication.event, spans)
        if sender == LOCAL:
            lacking = 0
        else:
            lacking = 2 - len(local)
            if lacking > 0 and self.parameters.counts == "all":  # STA-5
                lacking -= self._matching.some_from(sender, publication.event, spans, lacking)
        onward = []
        for neighbour in self.neighbours:
            if neighbour != sender:
                matching = self._matching.some_from(neighbour, publication.event, spans, max(lacking, 1))
                if matching:
                    onward.append(neighbour)
                    lacking -= matching
        told = _header(sender, message, several=lacking <= 0)
        out.sends += [(neighbour, told) for neighbour in onward]  # STA-3: one header for all
        for entry in local:
            if entry.subscription not in self._gone:
                out.send(LOCAL, Deliver(publication, entry.subscription))
                self._statistics.note(entry.subscription, message, sender, told)

    def _several(self, event: Event, source: Node) -> bool:
        """STA-9: do two entries match that count for what came from there?"""
        spans, lacking = spans_of(event), 2
        for hop in (LOCAL, *self.neighbours):
            if hop != source or self.parameters.counts == "all":  # STA-5
                lacking -= self._matching.some_from(hop, event, spans, lacking)
                if not lacking:
                    return True
        return False

    # -- withdrawals ---------------------------------------------------------------------------------------------------

    def _withdraw(self, sender: Node, message: Unsubscribe, out: Outbox) -> None:
        entry = self._subs.get(message.subscription)
        if entry is None or entry.source != sender:
            return  # RTE-8
        if sender == LOCAL and message.header is None:
            message = withdraw(message.subscription, self._written(message.subscription))
            self._statistics.purge(message.subscription)
        if not self._congested:
            self._prune(sender, entry, message, out)
            return
        self._held.append((sender, message))  # PRN-6
        if sender == LOCAL:
            self._gone.add(message.subscription)

    def _written(self, subscription: Subscription) -> Cuts | None:
        """PRN-1: by advertisement, how far the withdrawal is to go. None is all the way."""
        if (
            self.policy == "selective"
            and self._statistics.greatest_count(subscription) < self.parameters.fewest  # STA-8
        ):
            return None
        wanted = profile_of(subscription.filter)
        cuts = []
        for advertisement, source in sorted(self._advs.items(), key=lambda item: by_id(item[0])):
            if source != LOCAL and profile_of(advertisement.filter).overlaps(wanted):
                distances = self._statistics.distances(subscription, advertisement.id)
                if distances is not None:
                    cuts.append(Cut(advertisement.id, distances))
        return tuple(cuts)

    def _prune(self, sender: Node, entry: ProfiledSubscription, message: Unsubscribe, out: Outbox) -> None:
        cuts = cuts_of(message)
        if cuts is None:  # as the core does
            self._unsubscribe(sender, entry.subscription, out)
            return
        told = [n for n in self.neighbours if n != sender and self._candidates[n].has_sent(entry)]
        triggered = Triggered(self._candidates, told, entry, self.parameters)
        lists = {n: self._shortened(cuts, n, triggered) for n in told}
        self._drop(entry)
        for neighbour, pool in self._candidates.items():
            if neighbour == sender:
                continue
            onward = lists.get(neighbour)
            if onward == ():
                self._retain(neighbour, entry, out)
            else:
                pool.unsubscribe(entry)
                self._settle(neighbour, out) if onward is None else self._pass_on(neighbour, entry, onward, out)

    def _shortened(self, cuts: Cuts, neighbour: Node, triggered: Triggered) -> Cuts:
        """PRN-4: what this neighbour gets of the list."""
        return tuple(
            one_less(cut)
            for cut in cuts
            if neighbour in self._sources.get(cut.advertisement, {}).values()
            and goes_on(cut, self.policy, self.parameters, lambda: triggered.seen_from(neighbour))
        )

    def _pass_on(self, neighbour: Node, entry: ProfiledSubscription, onward: Cuts, out: Outbox) -> None:
        """PRN-4: what it held back, then its withdrawal with what is left of the list (COV-8)."""
        settlement = self._candidates[neighbour].settle(self._due(onward))
        out.settle(neighbour, Settlement(settlement.additions, ()))
        for removed in settlement.removals:
            out.send(neighbour, withdraw(removed.subscription, onward if removed is entry else None))

    def _due(self, onward: Cuts) -> Due | None:
        """PRN-5: what is sent in its place; None is everything."""
        if self.parameters.sends == "all":
            return None
        listed = [profile_of(a.filter) for cut in onward for a in self._sources[cut.advertisement]]
        return lambda addition: any(advertised.overlaps(addition.profile) for advertised in listed)

    def _retain(self, neighbour: Node, entry: ProfiledSubscription, out: Outbox) -> None:
        """PRN-4: this is as far as it goes."""
        pool = self._candidates[neighbour]
        if not self.parameters.remembers:  # PRN-7
            pool.forget(entry)
            return
        pool.retain(entry)
        if self.parameters.collects:
            self._settle(neighbour, out)

    # -- congestion ----------------------------------------------------------------------------------------------------

    def _relieve(self, out: Outbox) -> None:
        held, self._held = self._held, []
        self._congested = False
        self._resume(held, out)

    def _end_hold(self, subscription: Subscription, out: Outbox) -> None:
        """PRN-14: a withdrawal does not wait for what comes after it."""
        due = [each for each in self._held if each[1].subscription == subscription]
        if due:
            self._held = [each for each in self._held if each[1].subscription != subscription]
            self._resume(due, out)

    def _resume(self, held: list[tuple[Node, Unsubscribe]], out: Outbox) -> None:
        for sender, message in held:
            self._gone.discard(message.subscription)
            entry = self._subs.get(message.subscription)
            if entry is not None and entry.source == sender:  # RTE-8
                self._prune(sender, entry, message, out)

    # -- tables --------------------------------------------------------------------------------------------------------

    @property
    def rows(self) -> int:
        """STA-6: the size of the subscribers' database."""
        return self._statistics.size

    @property
    def congested(self) -> bool:
        return self._congested

    def tables(self) -> PruningTables:
        core = super().tables()
        retained = ((n, tuple(sorted(pool.retained(), key=by_id))) for n, pool in self._candidates.items())
        return PruningTables(
            core.advs,
            core.subs,
            core.sent,
            tuple((n, subscriptions) for n, subscriptions in retained if subscriptions),
            self._statistics.rows(),
            tuple(self._held),
            self._congested,
        )

    def restore(self, tables: Tables) -> None:
        if not isinstance(tables, PruningTables):
            raise TypeError("a broker that prunes has more to know than the tables of the routing core")
        super().restore(tables)
        for neighbour, retained in tables.retained:
            sent = {entry.subscription: entry for entry in self._candidates[neighbour].sent()}
            for subscription in retained:
                self._candidates[neighbour].retain(sent[subscription])
        for advertisement, source in tables.advs:
            self._sources.setdefault(advertisement.id, {})[advertisement] = source
        self._statistics.restore(tables.rows)
        self._held = list(tables.held)
        self._gone = {message.subscription for sender, message in tables.held if sender == LOCAL}
        self._congested = tables.congested

    def _pool(self, neighbour: Node, tables: Tables) -> dict[Subscription, ProfiledSubscription]:
        assert isinstance(tables, PruningTables)
        retained = {s: ProfiledSubscription(s, profile_of(s.filter), LOCAL) for s in tables.retained_for(neighbour)}
        return super()._pool(neighbour, tables) | retained


def _header(sender: Node, message: Publish, *, several: bool) -> Publish:
    if sender == LOCAL:  # STA-1: whatever matches here
        return publish(message.publication)
    if several:  # STA-2
        return publish(message.publication, 0, met(message).count + 1)
    return publish(message.publication, met(message).distance + 1, met(message).count)
