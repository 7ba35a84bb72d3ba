"""One question from request to report: searches as jobs here, then their conclusion, and reports in every form.

A job is one instance under one policy, in this process or in several. `run_all` answers with one `Result` a job, in the
order of the jobs whatever finishes first. What ends it early (an interrupt, a worker that died, want of memory) leaves
the results that are there, and says why there are no more.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path

from attrs import frozen

from routeproof.checker.evaluation import Result
from routeproof.checker.system.errors import Undetermined, UsageError
from routeproof.checker.system.processes import as_done, tell
from routeproof.checker.system.terminal import Progress, ProgressLine
from routeproof.model.instance import Instance
from routeproof.model.protocols import world
from routeproof.spec.properties import Property, properties_for

POLL_SECONDS = 0.1

FOUND = Path("traces/found")
"""Default directory of counterexamples."""

Report = Callable[[Progress], None]


@frozen
class Options:
    """Options of every job alike; None where the engine decides."""

    engine: str = "explore"
    mutant: str | None = None
    properties: tuple[str, ...] | None = None
    max_states: int | None = None
    max_memory: int | None = None
    """Bytes that the process of a search may have."""
    seconds: float | None = None
    reductions: tuple[str, ...] = ()
    checkpoint: Path | None = None
    seed: int | None = None
    profile: str = "fast"
    examples: int | None = None
    traces: Path | None = None

    def selected(self, protocol: str, policy: str) -> tuple[Property, ...]:
        """The properties to check under a policy: those meant for it, restricted to the ones that the user named."""
        meant = properties_for(protocol, policy)
        return meant if self.properties is None else tuple(p for p in meant if p.id in self.properties)


@frozen
class Job:
    """`instance` is None where the fuzzer makes its own. `source` is the file that it came from, if not shipped."""

    instance: Instance | None
    policy: str
    options: Options
    source: Path | None = None
    drawn: str = "routing"
    """The protocol that instances are drawn for, where `instance` is None."""

    @property
    def protocol(self) -> str:
        return self.instance.protocol if self.instance else self.drawn

    @property
    def name(self) -> str:
        return self.instance.name if self.instance else "generated"

    @property
    def traces(self) -> Path | None:
        """Directory for traces of this job; None by default if its failures are declared, since they are expected."""
        declared = self.instance is not None and self.instance.must_fail
        return self.options.traces or (None if declared else FOUND)

    def __str__(self) -> str:
        return f"{self.name} {self.policy}"


def run(job: Job, report: Report) -> Result:
    """One search, here and now. Engines are imported where they are used: `list` needs none of them."""
    asked = job.options
    properties = asked.selected(job.protocol, job.policy)
    try:
        if asked.engine == "fuzz":
            from routeproof.checker.fuzz import fuzz

            return fuzz(
                job.instance,
                policy=job.policy,
                mutant=asked.mutant,
                protocol=job.protocol,
                seed=asked.seed,
                profile=asked.profile,
                examples=asked.examples,
                properties=properties,
                traces=job.traces,
                seconds=asked.seconds,
            )
        from routeproof.checker.explore import explore

        assert job.instance is not None, "the explorer makes no instances"
        return explore(
            world(job.instance, job.policy, asked.mutant),
            properties=properties,
            max_states=asked.max_states,
            max_memory=asked.max_memory,
            seconds=asked.seconds,
            reduction=asked.reductions,
            checkpoint=asked.checkpoint,
            progress=report,
        )
    except UsageError as error:
        raise UsageError(f"{job}: {error}") from None
    except MemoryError:
        raise Undetermined(f"out of memory in {job}; a limit (--max-states N) makes the answer a partial one") from None


@frozen
class Results:
    by_job: tuple[Result | None, ...]
    """None for a job that was never begun, or ended without a result."""
    interrupted: bool
    trouble: str = ""
    """Why some have none, unless that was an interrupt."""


def run_all(jobs: Sequence[Job], workers: int, line: ProgressLine) -> Results:
    """Does the jobs, and returns a result for each that had one when all were done or something ended them early."""
    results: list[Result | None] = [None] * len(jobs)
    interrupted, trouble = False, ""
    try:
        if workers == 1 or len(jobs) == 1:
            _run_here(jobs, results, line)
        else:
            _run_in_processes(jobs, results, workers, line)
    except KeyboardInterrupt:
        interrupted = True
    except Undetermined as error:
        if not any(results):
            raise
        trouble = str(error)
    finally:
        line.clear()
    interrupted |= any(each is not None and each.limit == "interrupted" for each in results)
    return Results(tuple(results), interrupted, trouble)


def cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _run_here(jobs: Sequence[Job], results: list[Result | None], line: ProgressLine) -> None:
    for i, job in enumerate(jobs):
        results[i] = result = run(job, partial(line.draw, str(job)))
        line.done += 1
        if result.limit == "interrupted":  # an engine that can say how far it came does so
            break


# -- in several processes ----------------------------------------------------------------------------------------------


def _run_in_processes(jobs: Sequence[Job], results: list[Result | None], workers: int, line: ProgressLine) -> None:
    # The largest first, so that none of them is left to run alone at the end.
    largest_first = jobs[::-1]
    news = (lambda news: line.draw(*news)) if line.wanted else None
    with closing(as_done(_run_in_worker, largest_first, workers, ", or --max-states N", news)) as answers:
        for place, result in answers:
            results[-1 - place] = result
            line.done += 1


def _run_in_worker(job: Job) -> Result:
    last = 0.0

    def report(progress: Progress) -> None:
        nonlocal last
        if time.monotonic() - last >= POLL_SECONDS:
            last = time.monotonic()
            tell((str(job), progress))

    return run(job, report)
