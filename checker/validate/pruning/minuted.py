"""From the minutes of a step that was accepted to what is set aside of it (`noted`)."""

from __future__ import annotations

from collections.abc import Sequence

from routeproof.checker.validate.meant import Meant
from routeproof.checker.validate.pruning.judge import Minutes
from routeproof.checker.validate.pruning.meant import SIGNALS, Cuts, MeantHere
from routeproof.checker.validate.pruning.noted import At, Decided, Made, Notebook, Noted, Toward
from routeproof.model.overlay import Node

Sends = Sequence[tuple[Node, Meant, int, int]]


def minute(notebook: Notebook, told: MeantHere, sender: str, at: At, minutes: Minutes, sends: Sends | None) -> None:
    """`sender` is empty for a client. `sends`: what the trace says was sent; None where it does not tell."""
    if told.kind == "publish":
        if sender:
            notebook.copied(told.id, sender)
        else:
            notebook.made(Made(told.id, told.of, told.written, at))
        for s, distance, count in minutes.rows:
            notebook.noted(Noted(told.id, told.of, s, distance, count, at))
        return
    if told.kind in SIGNALS:
        notebook.signalled(told.kind == "congest", at)
    for s in minutes.full:
        notebook.decided(Decided(s, at, True, ()))
    for s, neighbour, advertisements, which in minutes.decisions:
        sent = {} if sends is None else _list_sent(sends, neighbour, s)
        toward = tuple(Toward(a, which, sent.get(a, ())) for a in advertisements)
        notebook.decided(Decided(s, at, False, toward, sends is not None))


def _list_sent(sends: Sends, neighbour: Node, subscription: str) -> dict[str, tuple[int | None, ...]]:
    """The distances with which a withdrawal went on to a neighbour; none where it did not. A full one is another: it
    removes what was retained (PRN-12)."""
    cuts: Cuts = ()
    for to, meant, _, _ in sends:
        if to == neighbour and meant.kind == "unsubscribe" and isinstance(meant, MeantHere):
            named = {item.of or item.id for item in meant.items}
            cuts = meant.cuts or () if subscription in named else cuts
    return {cut.advertisement: cut.distances for cut in cuts}
