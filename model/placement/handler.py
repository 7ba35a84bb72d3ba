"""Placement of publishers: the routing core, whose brokers trace publications and choose where publishers should be.

`spec/placement.md` is normative; the rule ids in comments are its headings. Small methods, so that a mutant (`mutants`)
is one of them replaced. What ends here is the decision: another protocol makes the move. The model has no time: in
GRAPE's choice each broker on the way counts 1 toward the delay.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from attrs import evolve

from routeproof.model.messages import Advertisement, Deliver, Publication, Publish
from routeproof.model.overlay import LOCAL, Node, Overlay
from routeproof.model.placement.vocabulary import (
    Amount,
    BrokerTrace,
    Counts,
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
)
from routeproof.model.routing import Routing, StepEffects
from routeproof.model.tables import Tables


def placing(tables: Tables) -> PlacementTables:
    """The tables of a broker of this protocol."""
    assert isinstance(tables, PlacementTables)
    return tables


class Placement(Routing):
    """Brokers that trace the publications of their publishers."""

    name = "placement"

    def __init__(self, overlay: Overlay, policy: str, parameters: PlacementParameters) -> None:
        super().__init__(overlay, policy)
        self.parameters = parameters

    def initial(self, node: Node) -> PlacementTables:
        return PlacementTables()

    def dispatch(self, step: StepEffects, sender: Node, message: Hashable) -> None:
        match message:
            case Publish(p, header):
                self.on_traceable(step, p, header, sender)
            case Tag(a):
                step.tables = placing(step.tables).marked("tagging", a)
            case TraceResult(a, count, number):
                self.on_result(step, a, count, number, sender)
            case RelocationRequest(a, total, path):
                self.on_request(step, a, total, path)
            case RelocationAnswer(a, path):
                self.on_answer(step, a, path)
            case TraceRequest(a, session):
                self.retrieve(step, a, session, sender)
            case TraceAnswer(a, session, traces):
                self.on_traces(step, a, session, traces, sender)
            case _:
                super().dispatch(step, sender, message)

    # -- publications --------------------------------------------------------------------------------------------------

    def on_traceable(self, step: StepEffects, p: Publication, header: Hashable, sender: Node) -> None:
        a = next((a for a, _ in step.tables.advs if a.id == p.of), None)
        if a is not None and sender == LOCAL:
            header = self.header_of(step, a, p)
        onward, delivered = self.publish_to(step, p, sender), self.deliver_to(step.tables, p)
        for neighbour in onward:
            step.send(neighbour, Publish(p, header), "RTE-5")  # type: ignore[arg-type]  # a header
        for s in delivered:
            step.send(LOCAL, Deliver(p, s), "RTE-5")
        if a is not None and isinstance(header, Traced):
            if self.parameters.algorithm == "pop":
                self.trace(step, a, header, sender, onward, len(delivered))
            else:
                self.log(step, a, header, sender, onward, len(delivered))

    def header_of(self, step: StepEffects, a: Advertisement, p: Publication) -> Traced | None:
        """The header that the first broker gives to a publication; None where it is not traced."""
        tables = placing(step.tables)
        number = self.count(step, a)
        if self.parameters.algorithm == "pop":
            if a not in tables.tagging:
                return None
            step.tables = placing(step.tables).marked("tagging", a, present=False)
            step.rules.add("POP-2")
            return Traced(number)
        if a in tables.asked:  # the answers of the last session are still to come
            return None
        mine = next((s for s in tables.sessions if s.advertisement == a), None)
        step.rules.add("GRP-1")
        return Traced(number, number if mine is None else mine.number)

    def count(self, step: StepEffects, a: Advertisement) -> int:
        """GRP-2: the number of this publication of its publisher."""
        own = self.parameters.counter == "publisher"
        tables = placing(step.tables)
        number = 1 + (tables.of("numbers", a, 0) if own else sum(n for _, n in tables.numbers))
        step.tables = tables.put("numbers", a, tables.of("numbers", a, 0) + 1)
        return number

    # -- POP: traces ---------------------------------------------------------------------------------------------------

    def trace(
        self, step: StepEffects, a: Advertisement, header: Traced, sender: Node, onward: tuple[Node, ...], here: int
    ) -> None:
        """POP-4: the result is due at once, or when every neighbour that got the publication has reported."""
        trace = PendingTrace(a, header.number, sender, onward, ((LOCAL, here),) if here else ())
        if onward:
            step.tables = placing(step.tables).with_last("traces", trace)
        else:
            self.end_trace(step, trace)

    def on_result(self, step: StepEffects, a: Advertisement, count: int, number: int, sender: Node) -> None:
        for trace in placing(step.tables).traces:
            if trace.advertisement == a and sender in trace.waits and number in (0, trace.number):
                break
        else:
            return
        step.tables = placing(step.tables).without("traces", trace)
        waits = tuple(n for n in trace.waits if n != sender)
        after = evolve(trace, waits=waits, counts=(*trace.counts, (sender, count)))
        if self.is_complete(after):
            self.end_trace(step, after)
        else:
            step.tables = placing(step.tables).with_last("traces", after)
            self.keep_order(step)

    def is_complete(self, trace: PendingTrace) -> bool:
        return not trace.waits

    def keep_order(self, step: StepEffects) -> None:
        ordered = tuple(sorted(placing(step.tables).traces, key=lambda t: t.number))
        step.tables = evolve(placing(step.tables), traces=ordered)

    def end_trace(self, step: StepEffects, trace: PendingTrace) -> None:
        """POP-3: tell the upstream broker; POP-5: take it into the profile."""
        self.profile(step, trace.advertisement, trace.counts)
        if trace.upstream != LOCAL:
            named = trace.number if self.parameters.results == "named" else 0
            step.send(trace.upstream, TraceResult(trace.advertisement, self.total(trace.counts), named), "POP-3")
            return
        tables = placing(step.tables)
        step.tables = tables.put("gathered", trace.advertisement, tables.of("gathered", trace.advertisement, 0) + 1)
        self.may_ask(step, trace.advertisement)

    def total(self, counts: Counts) -> int:
        return sum(many for _, many in counts)

    def profile(self, step: StepEffects, a: Advertisement, counts: Counts) -> None:
        """POP-5: the running average. The first value of a neighbour is taken as it is."""
        old = placing(step.tables).of("profiles", a, Profile())
        averages, reported = dict(old.averages), dict(counts)
        known = set(reported) | (set(averages) if self.parameters.absent == "zero" else set())
        for neighbour in known:
            newest = reported.get(neighbour, 0)
            averages[neighbour] = self.average(averages.get(neighbour), newest)
        entries = tuple(sorted(averages.items()))
        step.tables = placing(step.tables).put("profiles", a, Profile(entries, old.traces + 1))
        step.rules.add("POP-5")

    def average(self, old: Amount | None, newest: int) -> Amount:
        return Amount(newest) if old is None else old.averaged(newest)

    # -- POP: selection ------------------------------------------------------------------------------------------------

    def may_ask(self, step: StepEffects, a: Advertisement) -> None:
        """POP-6: enough traces, and none that still waits."""
        tables = placing(step.tables)
        if a in tables.asked or tables.of("gathered", a, 0) < self.parameters.threshold:
            return
        if self.is_outstanding(tables, a):
            return
        step.tables = tables.marked("asked", a).put("gathered", a, None)
        step.rules.add("POP-6")
        self.on_request(step, a, Amount(), ())

    def is_outstanding(self, tables: PlacementTables, a: Advertisement) -> bool:
        return any(trace.advertisement == a for trace in tables.traces)

    def on_request(self, step: StepEffects, a: Advertisement, total: Amount, path: Path) -> None:
        """POP-10: on to a neighbour, or an answer to where the request began, or none where it is here."""
        behind = dict(placing(step.tables).of("profiles", a, Profile()).averages)
        if path:
            behind[path[0]] = total
        onward = self.closest(behind)
        if onward is not None:
            more = self.left_behind(behind, onward, path)
            step.send(onward, RelocationRequest(a, more, (step.node, *path)), "POP-7", "POP-9")
        elif path:
            self.on_answer(step, a, (step.node, *path))
        else:
            self.decide(step, a, Decision((step.node,)))

    def closest(self, behind: dict[Node, Amount]) -> Node | None:
        """POP-8: the neighbour with more subscribers behind it than everywhere else together."""
        for neighbour in sorted(behind):
            others = sum((many for n, many in behind.items() if n != neighbour), Amount())
            if neighbour != LOCAL and self.is_more(behind[neighbour], others):
                return neighbour
        return None

    def is_more(self, there: Amount, elsewhere: Amount) -> bool:
        return there > elsewhere

    def left_behind(self, behind: dict[Node, Amount], onward: Node, path: Path) -> Amount:
        """POP-9: all subscribers but those where the request goes. What it brought along counts those it came from."""
        return sum((many for n, many in behind.items() if n != onward), Amount())

    def on_answer(self, step: StepEffects, a: Advertisement, path: Path) -> None:
        """POP-10: back along the path."""
        if step.node == path[-1]:
            self.decide(step, a, Decision(path))
        else:
            step.send(path[path.index(step.node) + 1], RelocationAnswer(a, path), "POP-10")

    def decide(self, step: StepEffects, a: Advertisement, decision: Decision) -> None:
        step.tables = placing(step.tables).marked("asked", a, present=False).put("decisions", a, decision)
        step.rules.add("POP-10" if self.parameters.algorithm == "pop" else "GRP-10")

    # -- GRAPE: sessions -----------------------------------------------------------------------------------------------

    def log(
        self, step: StepEffects, a: Advertisement, header: Traced, sender: Node, onward: tuple[Node, ...], here: int
    ) -> None:
        """GRP-3: a bit and the number of deliveries. GRP-1: the first broker knows when the session ends."""
        tables = placing(step.tables)
        old = tables.session(a, header.session) or Session(a, header.session)
        after = evolve(
            old,
            published=old.published + 1,
            bits=old.bits | (self.bit(header) if here else 0),
            deliveries=old.deliveries + here,
            downstream=tuple(sorted({*old.downstream, *onward})),
        )
        step.tables = tables.without("sessions", old).with_last("sessions", after)
        step.rules.add("GRP-3")
        if sender == LOCAL and after.published >= self.parameters.threshold:
            step.tables = placing(step.tables).marked("asked", a)
            self.retrieve(step, a, header.session, LOCAL)

    def bit(self, header: Traced) -> int:
        return 1 << (header.number - header.session)

    def retrieve(self, step: StepEffects, a: Advertisement, number: int, sender: Node) -> None:
        """GRP-4: ask the neighbours that got publications of the session; GRP-5: answer when they have."""
        tables = placing(step.tables)
        session = tables.session(a, number) or Session(a, number)
        trace = BrokerTrace(step.node, self.overlay.neighbours(step.node), session.bits, session.deliveries)
        step.tables = self.forget(tables, session)
        retrieval = Retrieval(a, number, sender, self.asked_of(session), (trace,))
        for neighbour in retrieval.waits:
            step.send(neighbour, TraceRequest(a, number), "GRP-4")
        step.tables = placing(step.tables).with_last("retrievals", retrieval)
        self.may_answer(step, retrieval)

    def asked_of(self, session: Session) -> tuple[Node, ...]:
        return session.downstream

    def forget(self, tables: PlacementTables, session: Session) -> PlacementTables:
        """GRP-5: nothing of a session stays."""
        return tables.without("sessions", session)

    def on_traces(
        self, step: StepEffects, a: Advertisement, number: int, traces: tuple[BrokerTrace, ...], sender: Node
    ) -> None:
        for old in placing(step.tables).retrievals:
            if (old.advertisement, old.number) == (a, number) and sender in old.waits:
                waits = tuple(n for n in old.waits if n != sender)
                after = evolve(old, waits=waits, traces=self.aggregated(old.traces, traces))
                step.tables = placing(step.tables).without("retrievals", old).with_last("retrievals", after)
                self.may_answer(step, after)

    def aggregated(self, mine: tuple[BrokerTrace, ...], theirs: tuple[BrokerTrace, ...]) -> tuple[BrokerTrace, ...]:
        return tuple(sorted((*mine, *theirs), key=lambda trace: trace.broker))

    def may_answer(self, step: StepEffects, retrieval: Retrieval) -> None:
        """GRP-5: one answer for all behind; at the first broker GRP-10: the choice."""
        if retrieval.waits:
            return
        step.tables = placing(step.tables).without("retrievals", retrieval)
        a, traces = retrieval.advertisement, retrieval.traces
        if retrieval.upstream != LOCAL:
            step.send(retrieval.upstream, TraceAnswer(a, retrieval.number, traces), "GRP-5")
            return
        target = self.choose(traces)
        self.decide(step, a, Decision(self.overlay.path(target, step.node), traces))

    def choose(self, traces: tuple[BrokerTrace, ...]) -> Node:
        return choose(traces, self.parameters.metric, self.parameters.weight)


# -- GRAPE's choice: its three algorithms as printed, without caches (GRP-7 to GRP-11) ---------------------------------

Traces = Mapping[Node, BrokerTrace]


def choose(traces: tuple[BrokerTrace, ...], metric: str, weight: int) -> Node:
    """GRP-10: of the candidates whose metric is at most 100 - weight percent of its range, the least by the other."""
    known = {trace.broker: trace for trace in traces}
    rates = {broker: message_rate(known, broker, LOCAL) for broker in known}
    delays = {broker: delay(known, broker, LOCAL, 0) for broker in known}
    first, second = (rates, delays) if metric == "load" else (delays, rates)
    least, most = min(first.values()), max(first.values())
    left = [b for b in known if 100 * (first[b] - least) <= (100 - weight) * (most - least)]
    return min(left, key=lambda b: (second[b], first[b], b))


def delay(traces: Traces, broker: Node, came: Node, so_far: int) -> int:
    """GRP-7: the delays of all deliveries in sum. Their number is the same at every candidate."""
    trace = traces[broker]
    behind = sum(delay(traces, n, broker, so_far + 1) for n in trace.neighbours if n != came and n in traces)
    return trace.deliveries * (so_far + 1) + behind


def message_rate(traces: Traces, broker: Node, came: Node) -> int:
    """GRP-8: input messages of this broker and of all behind it."""
    behind = sum(message_rate(traces, n, broker) for n in traces[broker].neighbours if n != came and n in traces)
    return vector(traces, broker, came).bit_count() + behind


def vector(traces: Traces, broker: Node, came: Node) -> int:
    """GRP-9: what is delivered here or behind."""
    found = traces[broker].bits
    for neighbour in traces[broker].neighbours:
        if neighbour != came and neighbour in traces:
            found |= vector(traces, neighbour, broker)
    return found
