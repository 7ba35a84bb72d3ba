"""Searches as jobs: one instance under one policy each, in this process or in several.

`run_all` answers with one `Result` a job, in the order of the jobs whatever finishes first. Worker processes are
spawned, not forked, so it works alike on every system. An interrupt ends it early with the results that are there.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from multiprocessing.queues import SimpleQueue
from pathlib import Path

from attrs import frozen

from routeproof.checker.errors import Undetermined, UsageError
from routeproof.checker.processes import end
from routeproof.checker.terminal import ProgressLine, Searching
from routeproof.checker.verdict import Result
from routeproof.model.instance import Instance
from routeproof.model.protocols import world
from routeproof.spec.properties import Property, properties_for

POLL_SECONDS = 0.1

FOUND = Path("traces/found")
"""Where counterexamples go when nobody says where."""

Report = Callable[[Searching], None]
News = tuple[str, Searching]
"""From a worker: which job, and how far it is."""


@frozen
class Options:
    """What is asked of every job alike; None where the engine decides."""

    engine: str = "explore"
    mutant: str | None = None
    properties: tuple[str, ...] | None = None
    max_states: int | None = None
    seconds: float | None = None
    reductions: tuple[str, ...] = ()
    checkpoint: Path | None = None
    seed: int | None = None
    profile: str = "fast"
    examples: int | None = None
    traces: Path | None = None

    def selected(self, policy: str) -> tuple[Property, ...]:
        """The properties to check under a policy: those meant for it, or those asked for of them."""
        meant = properties_for(policy)
        return meant if self.properties is None else tuple(p for p in meant if p.id in self.properties)


@frozen
class Job:
    """`instance` is None where the fuzzer makes its own. `source` is the file that it came from, if not shipped."""

    instance: Instance | None
    policy: str
    options: Options
    source: Path | None = None

    @property
    def name(self) -> str:
        return self.instance.name if self.instance else "generated"

    @property
    def traces(self) -> Path | None:
        """Where traces of this job go; nowhere unasked, where failures are declared: they are news to nobody."""
        declared = self.instance is not None and self.instance.must_fail
        return self.options.traces or (None if declared else FOUND)

    def __str__(self) -> str:
        return f"{self.name} {self.policy}"


def run(job: Job, report: Report) -> Result:
    """One search, here and now. Engines are imported where they are used: `list` needs none of them."""
    asked = job.options
    properties = asked.selected(job.policy)
    try:
        if asked.engine == "fuzz":
            from routeproof.checker.fuzz import fuzz

            return fuzz(
                job.instance,
                policy=job.policy,
                mutant=asked.mutant,
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
            seconds=asked.seconds,
            reduction=asked.reductions,
            checkpoint=asked.checkpoint,
            progress=report,
        )
    except UsageError as error:
        raise UsageError(f"{job}: {error}") from None
    except MemoryError:
        raise Undetermined(f"out of memory in {job}; a limit (--max-states N) makes the answer a partial one") from None


def run_all(jobs: Sequence[Job], workers: int, line: ProgressLine) -> list[Result | None]:
    """A result per job; None for those that an interrupt left without one."""
    try:
        if workers == 1 or len(jobs) == 1:
            return _run_here(jobs, line)
        return _run_in_processes(jobs, min(workers, len(jobs)), line)
    finally:
        line.clear()


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _run_here(jobs: Sequence[Job], line: ProgressLine) -> list[Result | None]:
    results: list[Result | None] = [None] * len(jobs)
    for i, job in enumerate(jobs):
        try:
            results[i] = result = run(job, partial(line.draw, str(job)))
        except KeyboardInterrupt:
            break
        line.done += 1
        if result.limit == "interrupted":  # an engine that can say how far it came does so
            break
    return results


# -- in several processes ----------------------------------------------------------------------------------------------


def _run_in_processes(jobs: Sequence[Job], workers: int, line: ProgressLine) -> list[Result | None]:
    context = multiprocessing.get_context("spawn")
    news: SimpleQueue[News] | None = context.SimpleQueue() if line.wanted else None
    others = set(multiprocessing.active_children())
    futures: dict[int, Future[Result]] = {}
    with ProcessPoolExecutor(workers, context, _begin_worker, (news,)) as pool:
        try:
            # The largest first, so that none of them is left to run alone at the end.
            for i in reversed(range(len(jobs))):
                futures[i] = pool.submit(_run_in_worker, jobs[i])
            _watch(list(futures.values()), news, line)
            return [futures[i].result() for i in range(len(jobs))]
        except KeyboardInterrupt:
            end(pool, set(multiprocessing.active_children()) - others)
            return [_result_if_there(futures.get(i)) for i in range(len(jobs))]
        except BrokenProcessPool:
            raise Undetermined(
                "a worker process died, most likely for want of memory; try --workers 1, or --max-states N"
            ) from None
        except BaseException:
            end(pool, set(multiprocessing.active_children()) - others)
            raise


def _watch(futures: list[Future[Result]], news: SimpleQueue[News] | None, line: ProgressLine) -> None:
    """Until all are done, or one of them could not answer."""
    pending = set(futures)
    while pending:
        done, pending = wait(pending, timeout=POLL_SECONDS)
        line.done += len(done)
        for future in done:
            future.result()  # raises here, and now, what went wrong there
        while news is not None and not news.empty():
            line.draw(*news.get())


def _result_if_there(future: Future[Result] | None) -> Result | None:
    there = future is not None and future.done() and not future.cancelled() and future.exception() is None
    return future.result() if future is not None and there else None


_news: list[SimpleQueue[News]] = []
"""In a worker: where its news go, if anybody wants them."""


def _begin_worker(news: SimpleQueue[News] | None) -> None:
    if news is not None:
        _news.append(news)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal interrupts everyone; the parent decides for all


def _run_in_worker(job: Job) -> Result:
    last = 0.0

    def report(progress: Searching) -> None:
        nonlocal last
        if _news and time.monotonic() - last >= POLL_SECONDS:
            last = time.monotonic()
            _news[0].put((str(job), progress))

    return run(job, report)
