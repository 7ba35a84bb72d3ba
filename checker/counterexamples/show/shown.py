"""`Shown`, what a format is given, and how every format treats strings that come from a file."""

from __future__ import annotations

from attrs import frozen

from routeproof.checker.counterexamples.counterexample import Counterexample
from routeproof.checker.counterexamples.replay import Replay
from routeproof.checker.system.terminal import count, printable
from routeproof.traces import Trace


@frozen
class Shown:
    """A trace and, if it is a counterexample, its replay."""

    trace: Trace
    replay: Replay | None = None

    @property
    def is_false(self) -> bool:
        """True if the trace is a counterexample that does not reproduce."""
        return self.replay is not None and not self.replay.reproduces

    @property
    def title(self) -> str:
        """The first line in every format: a claim is repeated only if the replay shows it."""
        if self.replay is None:
            return f"{self.trace.header.run}: a recorded run of {count(len(self.trace.events), 'event')}"
        case = self.replay.counterexample
        name = case.world.instance.name
        if self.replay.difference is not None:
            return f"{name}: does not reproduce: {self.replay.difference}"
        steps = count(len(case.run), "step")
        return f"{name}: {f'{fate(case)} after {steps}' if case.property else f'a run of {steps}'}"


def fate(case: Counterexample) -> str:
    """The claim about the last state, without the reason: `Agreement fails`."""
    p = case.property
    return "" if p is None else f"{p.id} {'fails' if p.kind == 'always' else 'is reached'}"


def ending(replay: Replay) -> str:
    """The reason that the replay, and not the file, gives for what its last state shows."""
    p = replay.counterexample.property
    ends = [why for violated, why in replay.violations[-1] if violated == p]
    return "; ".join(ends) or ("" if p is None else p.about)


def clean(line: str) -> str:
    """The line with everything escaped that a terminal acts on: control characters and changes of direction."""
    return printable(line)


def shortened(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 3] + "..."
