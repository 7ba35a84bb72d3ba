"""Seeded faults of placement: each replaces one method of `Placement`."""

from __future__ import annotations

from routeproof.model.instance import POLICIES
from routeproof.model.messages import Advertisement
from routeproof.model.mutants import MutantRegistry
from routeproof.model.overlay import LOCAL, Node
from routeproof.model.placement.handler import Placement, Traces, choose
from routeproof.model.placement.vocabulary import (
    Amount,
    BrokerTrace,
    Counts,
    Decision,
    Path,
    PendingTrace,
    PlacementTables,
    Session,
    Traced,
    TraceRequest,
)
from routeproof.model.routing import StepEffects

PLACEMENT_MUTANTS = MutantRegistry("placement", POLICIES)
mutant = PLACEMENT_MUTANTS.mutant


# -- POP ---------------------------------------------------------------------------------------------------------------


@mutant("reports-early", "POP-4")
class ReportsEarly(Placement):
    """Reports a traced publication when the first of several neighbours has reported."""

    def is_complete(self, trace: PendingTrace) -> bool:
        return True


@mutant("forgets-its-own", "POP-3")
class ForgetsItsOwn(Placement):
    """Leaves its local subscribers out of the result."""

    def total(self, counts: Counts) -> int:
        return sum(many for neighbour, many in counts if neighbour != LOCAL)


@mutant("newest-heavy", "POP-5")
class NewestHeavy(Placement):
    """Takes a quarter of the first value too, as if there had been 0 before it."""

    def average(self, old: Amount | None, newest: int) -> Amount:
        return (old or Amount()).averaged(newest)


@mutant("asks-too-early", "POP-6")
class AsksTooEarly(Placement):
    """Asks when a publication is traced, and not when its result is there."""

    def trace(
        self, step: StepEffects, a: Advertisement, header: Traced, sender: Node, onward: tuple[Node, ...], here: int
    ) -> None:
        if sender == LOCAL:
            self.on_request(step, a, Amount(), ())
        super().trace(step, a, header, sender, onward, here)

    def may_ask(self, step: StepEffects, a: Advertisement) -> None:
        pass


@mutant("as-many-is-more", "POP-8")
class AsManyIsMore(Placement):
    """Passes a request on to a neighbour with as many subscribers behind it as everywhere else."""

    def is_more(self, there: Amount, elsewhere: Amount) -> bool:
        return there >= elsewhere


@mutant("leaves-nothing-behind", "POP-9")
class LeavesNothingBehind(Placement):
    """Passes a request on without the subscribers that it leaves behind."""

    def left_behind(self, behind: dict[Node, Amount], onward: Node, path: Path) -> Amount:
        return Amount()


@mutant("answer-ends-early", "POP-10")
class AnswerEndsEarly(Placement):
    """Keeps an answer at the first broker that it reaches on its way back."""

    def on_answer(self, step: StepEffects, a: Advertisement, path: Path) -> None:
        if step.node == path[0]:
            super().on_answer(step, a, path)
        else:
            self.decide(step, a, Decision(path))


# -- GRAPE -------------------------------------------------------------------------------------------------------------


@mutant("bit-shifted", "GRP-3")
class BitShifted(Placement):
    """Counts the bits of a vector from one."""

    def bit(self, header: Traced) -> int:
        return 1 << (header.number - header.session + 1)


@mutant("keeps-sessions", "GRP-5")
class KeepsSessions(Placement):
    """Keeps a session after its answer."""

    def forget(self, tables: PlacementTables, session: Session) -> PlacementTables:
        return tables if session.published else super().forget(tables, session)


@mutant("passes-answers-on", "GRP-5")
class PassesAnswersOn(Placement):
    """Answers with what the neighbours behind answered, and leaves itself out."""

    def aggregated(self, mine: tuple[BrokerTrace, ...], theirs: tuple[BrokerTrace, ...]) -> tuple[BrokerTrace, ...]:
        return super().aggregated(mine[:0], theirs)


@mutant("asks-nobody", "GRP-4")
class AsksNobody(Placement):
    """Does not pass a request for traces on."""

    def retrieve(self, step: StepEffects, a: Advertisement, number: int, sender: Node) -> None:
        super().retrieve(step, a, number, sender)
        if sender != LOCAL:
            step.sends = [(n, m) for n, m in step.sends if not isinstance(m, TraceRequest)]


@mutant("adds-ones", "GRP-9")
class AddsOnes(Placement):
    """Adds the ones of vectors up, where they should be united: a publication for two brokers counts twice."""

    def choose(self, traces: tuple[BrokerTrace, ...]) -> Node:
        known = {trace.broker: trace for trace in traces}
        rates = {broker: _added(known, broker, LOCAL)[1] for broker in known}
        return min(rates, key=lambda broker: (rates[broker], broker))


@mutant("greatest-wins", "GRP-10")
class GreatestWins(Placement):
    """Drops the candidates that it should keep: the weight counts as its complement."""

    def choose(self, traces: tuple[BrokerTrace, ...]) -> Node:
        return choose(traces, self.parameters.metric, 100 - self.parameters.weight)


def _added(traces: Traces, broker: Node, came: Node) -> tuple[int, int]:
    """The ones here and behind, and the sum over all brokers behind."""
    behind = [_added(traces, n, broker) for n in traces[broker].neighbours if n != came and n in traces]
    ones = traces[broker].bits.bit_count() + sum(mine for mine, _ in behind)
    return ones, ones + sum(total for _, total in behind)
