"""What is to be done, in several processes: each answer in its place, whatever is done first.

Worker processes are spawned, not forked, so it works alike on every system; nothing of the answers depends on how many
there are.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from typing import TypeVar

from routeproof.checker.errors import Undetermined

Asked = TypeVar("Asked")
Answer = TypeVar("Answer")


def in_processes(
    do: Callable[[Asked], Answer], asked: Sequence[Asked], workers: int, advice: str = ""
) -> Generator[Answer, None, None]:
    """In order. `advice` is what else may help where a process dies, beside fewer of them."""
    before = set(multiprocessing.active_children())
    with ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), _begin_worker) as pool:
        futures = [pool.submit(do, each) for each in asked]
        try:
            for future in futures:
                yield future.result()
        except BrokenProcessPool:
            raise Undetermined(
                f"a worker process died, most likely for want of memory; try --workers 1{advice}"
            ) from None
        except BaseException:  # of whoever asks no further, too
            end(pool, set(multiprocessing.active_children()) - before)
            raise


def end(pool: ProcessPoolExecutor, processes: Iterable[BaseProcess]) -> None:
    """Whatever they are doing."""
    for process in processes:
        process.terminate()
    pool.shutdown(cancel_futures=True)  # and wait: a thread that is left stumbles when the interpreter ends


def _begin_worker() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal interrupts everyone; the parent decides for all
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """Nobody waits for what a worker of a killed parent would find out."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
