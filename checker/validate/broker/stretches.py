"""Rows of Parquet on their way to parts: stretches of publications at once, the rest event by event."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from routeproof.checker.validate.broker.columns import stretches
from routeproof.checker.validate.broker.part import Part
from routeproof.checker.validate.metrics.meter import Measured
from routeproof.checker.validate.setting import Setting
from routeproof.traces import BadLine, Event
from routeproof.traces.parquet_reader import Rows


def looks_at_once(setting: Setting) -> bool:
    """Are publications looked at for all that can be seen of many at once, and for nothing more?"""
    is_plain = not (not setting.judging.is_core or isinstance(setting, Measured))
    return is_plain and setting.replays and {"send", "deliver"} <= setting.observes


def handed_out(
    rows: Rows, setting: Setting, known: Callable[[str, str], Part | None]
) -> Iterator[Part | list[Event | BadLine]]:
    """Yields, in order, lines to be judged one by one, and each part whose stretch was judged as a whole, so that only
    its rows are to be taken. `known`: the current part of a broker of a run.
    """
    done = 0
    for stretch in stretches(rows) if looks_at_once(setting) else ():
        if done < stretch.begin:
            yield rows.part(done, stretch.begin).events()
            done = stretch.begin
        part = known(stretch.run or setting.run, stretch.broker)
        if part is not None and part.pass_on(stretch):
            yield part
            done = stretch.end
    if done < len(rows):
        yield rows.part(done, len(rows)).events()
