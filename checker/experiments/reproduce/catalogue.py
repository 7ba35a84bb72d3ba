"""The experiments of all protocols by name, and their runs in several processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any, TypeAlias

from routeproof.checker.experiments.reproduce.experiment import Experiment, Job
from routeproof.checker.system.processes import in_processes
from routeproof.checker.wings import wings

EXPERIMENTS: Mapping[str, Experiment[Any]] = {
    name: each for wing in wings().values() for name, each in wing.experiments().items()
}

Results: TypeAlias = dict[str, Any]


def run_all(
    plans: Sequence[Sequence[Job[Any]]], workers: int, news: Callable[[int, int], None] = lambda *_: None
) -> Iterator[Results]:
    """For each plan, in order, what its runs gave by their names. Nothing of it depends on the number of workers.

    `news` gets how many runs are done, and of how many.
    """
    jobs = [job for plan in plans for job in plan]
    done = map(_run, jobs) if workers == 1 else in_processes(_run, jobs, workers, ", or a smaller --scale")
    numbers = count(1)
    news(0, len(jobs))
    for plan in plans:
        results: Results = {}
        for job in plan:
            results[job.name] = next(done)
            news(next(numbers), len(jobs))
        yield results


def _run(job: Job[Any]) -> Any:
    return job.run()
