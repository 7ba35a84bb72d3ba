"""Similarity where one process has read all of a trace, and set aside in a `Store` what it is found from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import chain

from routeproof.checker.validate.again import Look
from routeproof.checker.validate.bad import BadLines
from routeproof.checker.validate.conclude import foremost, report
from routeproof.checker.validate.part import Found
from routeproof.checker.validate.pruning import noted
from routeproof.checker.validate.pruning.reported import Judged, table_of, why_not_judged, with_similarity
from routeproof.checker.validate.pruning.shares import Share, Shares, Tally
from routeproof.checker.validate.pruning.standing import Standing
from routeproof.checker.validate.pruning.ways import Ways, rows_of
from routeproof.checker.validate.rejection import Rejection
from routeproof.checker.validate.report import Report
from routeproof.checker.validate.seen import operations_said
from routeproof.checker.validate.setting import Setting
from routeproof.checker.validate.store import Store
from routeproof.checker.validate.traffic import Traffic

ROWS = "rows"
"""In a store's key, after that of the decisions about the same subscriptions."""


def report_with_similarity(
    setting: Setting,
    store: Store,
    found: Sequence[Found],
    rejections: list[Rejection],
    bad: BadLines,
    look: Look,
    traffic: Mapping[str, Traffic | None],
) -> Report:
    """`rejections`: of brokers, of links, about clients. The file is written where metrics are asked for."""
    more: list[Rejection] = []
    tally, left_out = Tally(), set[str]()
    with ExitStack() as stack:
        table = table_of(setting)
        if table is not None:
            stack.enter_context(table)
        for run in sorted({each.run for each in found}):
            why = why_not_judged(setting, run, found, rejections)
            if why is not None:
                left_out.add(why)
                continue
            mine: list[Rejection] = []
            for shares in _of_run(setting, store, run, traffic.get(run), mine, tally):
                if table is not None:
                    table.write(shares)
            more += foremost(mine)
    return with_similarity(report(setting, found, rejections + more, bad, look), Judged.of(tally, left_out))


def _of_run(
    setting: Setting, store: Store, run: str, traffic: Traffic | None, rejections: list[Rejection], tally: Tally
) -> Iterator[list[Share]]:
    holds = map(noted.of_signals, store.blocks((run, noted.NOTED, noted.HOLDS)))
    standing = Standing(setting, chain.from_iterable(operations_said(store, run)), holds, traffic)
    ways, shares = Ways(run, standing), Shares(run, standing)
    keys = [key for key in store.stored() if key[:2] == (run, noted.NOTED)]
    for key in keys:
        if key[2].startswith(noted.PUBLICATIONS):
            for put in ways.judge(map(noted.of_publications, store.blocks(key))):
                if isinstance(put, Rejection):
                    rejections.append(put)
                else:
                    store.put((run, noted.NOTED, f"{noted.SUBSCRIPTIONS}{put[0]:02}", ROWS), put[1])
    buckets = {
        key[2] for key in store.stored() if key[:2] == (run, noted.NOTED) and key[2].startswith(noted.SUBSCRIPTIONS)
    }
    for bucket in sorted(buckets):
        rows = (some for block in store.blocks((run, noted.NOTED, bucket, ROWS)) for some in rows_of(block))
        decided = map(noted.of_subscriptions, store.blocks((run, noted.NOTED, bucket)))
        found: list[Share] = []
        for each in shares.judge(rows, decided):
            if isinstance(each, Rejection):
                rejections.append(each)
            elif isinstance(each, Tally):
                tally.add(each)
            else:
                found.append(each)
        yield found
