"""Metrics where one process has read all of a trace, and set aside in a `Store` what clients did and got."""

from __future__ import annotations

from collections.abc import Sequence

from routeproof.checker.validate.clients import block_of
from routeproof.checker.validate.metrics.asked import Measured, plain
from routeproof.checker.validate.metrics.delays import delays_of, windows_of
from routeproof.checker.validate.metrics.files import tells_delays, write
from routeproof.checker.validate.metrics.series import gathered
from routeproof.checker.validate.part import Found
from routeproof.checker.validate.seen import CLIENTS
from routeproof.checker.validate.store import Store


def measure_locally(setting: Measured, store: Store, found: Sequence[Found]) -> None:
    """`found`: of each broker, whose events are one part. The store has blocks of clients' rows by run and bucket."""
    runs = gathered(setting, ([each] for each in found))
    for key in store.stored() if tells_delays(setting) else ():
        run, what, *_ = map(plain, key)
        if run in runs and what == CLIENTS:
            for broker, pairs in delays_of(map(block_of, store.blocks(key))):
                store.put((run, "delays", plain(broker)), pairs)
    windows = {}
    for key in store.stored():
        if key[1] == "delays":
            run, _, broker = key
            windows[run, broker] = windows_of(store.blocks(key), runs[run].moments)
    write(setting, runs, windows)
