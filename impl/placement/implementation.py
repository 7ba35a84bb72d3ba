"""Placement in the reference implementation (`spec/placement.md`): brokers that trace, ask and decide.

A `PlacingBroker` is the reference broker with the messages of POP and of GRAPE around its `decisions`. What ends here
is the decision: another protocol makes the move. As in the model, each broker on the way counts 1 toward the delay.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from attrs import Factory, asdict, define, evolve

from routeproof.impl import Implementation, Own
from routeproof.impl.placement import decisions
from routeproof.impl.routing import Broker, Outbox
from routeproof.impl.tcp.codec import Wire
from routeproof.model.instance import POLICIES, Instance
from routeproof.model.messages import CORE, Advertisement, Message, Publication, Publish
from routeproof.model.overlay import LOCAL, Node
from routeproof.model.placement.vocabulary import (
    PLACEMENT,
    Amount,
    BrokerTrace,
    Decision,
    Path,
    PendingTrace,
    PlacementParameters,
    PlacementTables,
    Profile,
    RelocationAnswer,
    RelocationRequest,
    Retrieval,
    Session,
    Tag,
    TraceAnswer,
    Traced,
    TraceRequest,
    TraceResult,
    parameters_of,
)
from routeproof.model.tables import by_id


@define
class _Publisher:
    """Everything that a broker knows of one publisher."""

    profile: decisions.Profile
    traces: int = 0
    """Traces that its profile has taken in."""
    tagged: bool = False
    """The next publication is to be traced (POP-2)."""
    number: int = 0
    """Its publications so far (GRP-2)."""
    gathered: int = 0
    """Traces that have ended since the last selection (POP-6)."""
    is_asked: bool = False
    open: list[PendingTrace] = Factory(list)
    sessions: dict[int, Session] = Factory(dict)
    retrievals: dict[int, Retrieval] = Factory(dict)
    decision: Decision | None = None


def amount(value: float) -> Amount:
    """A value of a profile, as messages have it: exact, since the parts of a float are those of a power of two."""
    exact = Fraction(value)
    power = (exact.denominator.bit_length()) // 2
    return Amount(int(exact * 4**power), power).shortest()


class PlacingBroker(Broker):
    """`tables` is for comparison with the model; a broker works on its own records, one for each publisher."""

    def __init__(self, node: Node, neighbours: Sequence[Node], policy: str, parameters: PlacementParameters) -> None:
        self.parameters = parameters
        super().__init__(node, neighbours, policy)

    def _empty(self) -> None:
        super()._empty()
        self._known: dict[Advertisement, _Publisher] = {}

    def _of(self, a: Advertisement) -> _Publisher:
        if a not in self._known:
            self._known[a] = _Publisher(decisions.Profile(self.parameters.absent == "zero"))
        return self._known[a]

    def _handle(self, sender: Node, message: Message, out: Outbox) -> None:
        match message:
            case Tag(a):
                self._of(a).tagged = True
            case TraceResult(a, count, number):
                self._take_result(sender, a, count, number, out)
            case RelocationRequest(a, total, path):
                self._request(a, decisions.Request(total.parts / 4**total.power, path), out)
            case RelocationAnswer(a, path):
                self._answer(a, path, out)
            case TraceRequest(a, session):
                self._retrieve(sender, a, session, out)
            case TraceAnswer(a, session, traces):
                self._take_traces(sender, a, session, traces, out)
            case _:
                super()._handle(sender, message, out)

    # -- publications --------------------------------------------------------------------------------------------------

    def _publish(self, sender: Node, publication: Publication, message: Publish, out: Outbox) -> None:
        a = next((a for a in self._advs if a.id == publication.of), None)
        if a is not None and sender == LOCAL:
            message = evolve(message, header=self._header(a))
        before = len(out.sends)
        super()._publish(sender, publication, message, out)
        reached = [receiver for receiver, _ in out.sends[before:]]
        if a is None or not isinstance(message.header, Traced):
            return
        onward, here = tuple(n for n in reached if n != LOCAL), reached.count(LOCAL)
        if self.parameters.algorithm == "pop":
            self._trace(sender, a, message.header.number, onward, here, out)
        else:
            self._log(sender, a, message.header, onward, here, out)

    def _header(self, a: Advertisement) -> Traced | None:
        """POP-2, GRP-1: the header of a publication that begins here; None where it is not traced."""
        mine = self._of(a)
        counted = [mine] if self.parameters.counter == "publisher" else list(self._known.values())
        number = 1 + sum(each.number for each in counted)
        mine.number += 1
        if self.parameters.algorithm == "pop":
            is_traced, mine.tagged = mine.tagged, False
            return Traced(number) if is_traced else None
        if mine.is_asked:
            return None
        return Traced(number, next(iter(mine.sessions), number))

    # -- POP -----------------------------------------------------------------------------------------------------------

    def _trace(
        self, sender: Node, a: Advertisement, number: int, onward: tuple[Node, ...], here: int, out: Outbox
    ) -> None:
        """POP-4: the result is due at once, or when every neighbour that got the publication has reported."""
        trace = PendingTrace(a, number, sender, onward, ((LOCAL, here),) if here else ())
        if onward:
            self._of(a).open.append(trace)
        else:
            self._end_trace(trace, out)

    def _take_result(self, sender: Node, a: Advertisement, count: int, number: int, out: Outbox) -> None:
        traces = self._of(a).open
        found = (n for n, trace in enumerate(traces) if sender in trace.waits and number in (0, trace.number))
        place = next(found, None)
        if place is None:
            return
        trace = traces[place]
        waits = tuple(n for n in trace.waits if n != sender)
        traces[place] = after = evolve(trace, waits=waits, counts=(*trace.counts, (sender, count)))
        if not waits:
            del traces[place]
            self._end_trace(after, out)

    def _end_trace(self, trace: PendingTrace, out: Outbox) -> None:
        """POP-3, POP-5, POP-6."""
        a, mine = trace.advertisement, self._of(trace.advertisement)
        mine.profile.trace(dict(trace.counts))
        mine.traces += 1
        if trace.upstream != LOCAL:
            named = trace.number if self.parameters.results == "named" else 0
            out.send(trace.upstream, TraceResult(a, sum(many for _, many in trace.counts), named))
            return
        mine.gathered += 1
        if mine.gathered >= self.parameters.threshold and not mine.is_asked and not mine.open:
            mine.is_asked, mine.gathered = True, 0
            self._request(a, decisions.Request(), out)

    def _request(self, a: Advertisement, request: decisions.Request, out: Outbox) -> None:
        """POP-8 to POP-10."""
        average = self._of(a).profile.average
        onward = decisions.closest(average, request)
        if onward is not None:
            more = decisions.passed_on(self.node, average, request, onward)
            out.send(onward, RelocationRequest(a, amount(more.total), more.path))
        else:
            self._answer(a, (self.node, *request.path), out)

    def _answer(self, a: Advertisement, path: Path, out: Outbox) -> None:
        """POP-10: back along the path, to where the request began."""
        if self.node == path[-1]:
            self._decide(a, Decision(path))
        elif self.node in path:
            out.send(path[path.index(self.node) + 1], RelocationAnswer(a, path))

    def _decide(self, a: Advertisement, decision: Decision) -> None:
        mine = self._of(a)
        mine.is_asked, mine.decision = False, decision

    # -- GRAPE ---------------------------------------------------------------------------------------------------------

    def _log(
        self, sender: Node, a: Advertisement, header: Traced, onward: tuple[Node, ...], here: int, out: Outbox
    ) -> None:
        """GRP-3; GRP-4 where the first broker knows that the session ends."""
        mine = self._of(a)
        old = mine.sessions.get(header.session, Session(a, header.session))
        bit = decisions.bits_of(header.session, [header.number]) if here else 0
        mine.sessions[header.session] = after = evolve(
            old,
            published=old.published + 1,
            bits=old.bits | bit,
            deliveries=old.deliveries + here,
            downstream=tuple(sorted({*old.downstream, *onward})),
        )
        if sender == LOCAL and after.published >= self.parameters.threshold:
            mine.is_asked = True
            self._retrieve(LOCAL, a, header.session, out)

    def _retrieve(self, sender: Node, a: Advertisement, number: int, out: Outbox) -> None:
        """GRP-4: ask the neighbours that got publications of the session; GRP-5: nothing of it stays."""
        mine = self._of(a)
        session = mine.sessions.pop(number, Session(a, number))
        own = BrokerTrace(self.node, self.neighbours, session.bits, session.deliveries)
        mine.retrievals[number] = Retrieval(a, number, sender, session.downstream, (own,))
        for neighbour in session.downstream:
            out.send(neighbour, TraceRequest(a, number))
        self._may_answer(a, number, out)

    def _take_traces(
        self, sender: Node, a: Advertisement, number: int, traces: tuple[BrokerTrace, ...], out: Outbox
    ) -> None:
        mine = self._of(a)
        found = mine.retrievals.get(number)
        if found is None or sender not in found.waits:
            return
        together = tuple(sorted((*found.traces, *traces), key=lambda trace: trace.broker))
        waits = tuple(n for n in found.waits if n != sender)
        mine.retrievals[number] = evolve(found, waits=waits, traces=together)
        self._may_answer(a, number, out)

    def _may_answer(self, a: Advertisement, number: int, out: Outbox) -> None:
        """GRP-5: one answer for all behind; GRP-10: at the first broker the choice."""
        mine = self._of(a)
        if mine.retrievals[number].waits:
            return
        done = mine.retrievals.pop(number)
        if done.upstream != LOCAL:
            out.send(done.upstream, TraceAnswer(a, number, done.traces))
        else:
            self._decide(a, Decision(self._path(done.traces), done.traces))

    def _path(self, traces: Sequence[BrokerTrace]) -> Path:
        """The path of the move to the best candidate, the target first."""
        known = {
            t.broker: decisions.BrokerTrace(
                t.broker, t.neighbours, t.bits, t.deliveries, dict.fromkeys((LOCAL, *t.neighbours), 1.0)
            )
            for t in traces
        }
        weight, metric = self.parameters.weight, self.parameters.metric
        target = decisions.Estimate(known).choose(known, "load" if metric == "load" else "delay", weight)
        paths: dict[Node, Path] = {self.node: (self.node,)}
        waiting = [self.node]
        for broker in waiting:
            for neighbour in known[broker].neighbours:
                if neighbour in known and neighbour not in paths:
                    paths[neighbour] = (neighbour, *paths[broker])
                    waiting.append(neighbour)
        return paths[target]

    # -- for comparison ------------------------------------------------------------------------------------------------

    def tables(self) -> PlacementTables:
        """Its state as the model has it; traces, sessions and retrievals by publisher, in the order of ids."""
        plain, known = super().tables(), sorted(self._known.items(), key=lambda item: by_id(item[0]))
        return PlacementTables(
            advs=plain.advs,
            subs=plain.subs,
            sent=plain.sent,
            tagging=tuple(a for a, each in known if each.tagged),
            numbers=tuple((a, each.number) for a, each in known if each.number),
            traces=tuple(trace for _, each in known for trace in each.open),
            profiles=tuple((a, _profile(each)) for a, each in known if each.traces),
            gathered=tuple((a, each.gathered) for a, each in known if each.gathered),
            asked=tuple(a for a, each in known if each.is_asked),
            sessions=tuple(session for _, each in known for session in each.sessions.values()),
            retrievals=tuple(retrieval for _, each in known for retrieval in each.retrievals.values()),
            decisions=tuple((a, each.decision) for a, each in known if each.decision is not None),
        )


def _profile(known: _Publisher) -> Profile:
    averages = sorted(known.profile.average.items())
    return Profile(tuple((n, amount(value)) for n, value in averages), known.traces)


def own_of(instance: Instance) -> Own:
    return {"placement": asdict(parameters_of(instance))}


def make(node: Node, neighbours: Sequence[Node], policy: str, own: Own) -> PlacingBroker:
    readings: Mapping[str, object] = own.get("placement", {})
    return PlacingBroker(node, neighbours, policy, PlacementParameters(**readings))  # type: ignore[arg-type]  # JSON


def own_wire(policy: str, own: Own) -> Wire:
    """Over TCP a driver may tag; the other messages come from brokers only."""
    return Wire((*CORE, *PLACEMENT), {Publish: Traced}, operations=(Tag,))


IMPLEMENTATION = Implementation("placement", POLICIES, make, messages=PLACEMENT, own_of=own_of, own_wire=own_wire)
