"""Runs of experiments, in several processes: each experiment's results as soon as all of its runs are done."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import wait
from typing import Any, TypeAlias

from routeproof.checker.errors import Undetermined
from routeproof.checker.reproduce.experiment import Job

Results: TypeAlias = dict[str, Any]


def run_all(plans: Sequence[Sequence[Job[Any]]], workers: int) -> Iterator[Results]:
    """For each plan, in order, what its runs gave by their names. Nothing of it depends on the number of workers."""
    if workers == 1:
        for plan in plans:
            yield {job.name: job.run() for job in plan}
        return
    before = set(multiprocessing.active_children())
    with ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), _begin_worker) as pool:
        futures: list[dict[str, Future[Any]]] = [{job.name: pool.submit(_run, job) for job in plan} for plan in plans]
        try:
            for each in futures:
                yield {name: future.result() for name, future in each.items()}
        except BrokenProcessPool:
            raise Undetermined(
                "a worker process died, most likely for want of memory; try --workers 1, or a smaller --scale"
            ) from None
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in set(multiprocessing.active_children()) - before:
                process.terminate()
            raise


def _run(job: Job[Any]) -> Any:
    return job.run()


def _begin_worker() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal interrupts everyone; the parent decides for all
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """Nobody waits for what a worker of a killed parent would find out."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
