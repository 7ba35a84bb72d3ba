"""Runs of experiments, in several processes: each experiment's results as soon as all of its runs are done."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

from routeproof.checker.processes import in_processes
from routeproof.checker.reproduce.experiment import Job

Results: TypeAlias = dict[str, Any]


def run_all(plans: Sequence[Sequence[Job[Any]]], workers: int) -> Iterator[Results]:
    """For each plan, in order, what its runs gave by their names. Nothing of it depends on the number of workers."""
    jobs = [job for plan in plans for job in plan]
    done = map(_run, jobs) if workers == 1 else in_processes(_run, jobs, workers, ", or a smaller --scale")
    for plan in plans:
        yield {job.name: next(done) for job in plan}


def _run(job: Job[Any]) -> Any:
    return job.run()
