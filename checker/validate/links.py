"""Links: everything received was sent, once, in order (TRC-3).

What a broker sends to a neighbour and what that neighbour receives from it are two lists that must be one, except for
messages in flight at the end. They are far from each other in a trace, so both are kept as rows of four integers, and
compared when all has been read, block by block.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

import numpy as np
from attrs import define, evolve, field, frozen

from routeproof.checker.validate.broker.canonical import OF
from routeproof.checker.validate.clock import CERTAIN, Doubts
from routeproof.checker.validate.findings import LAST_SHOWN, ON_CLOCKS, ON_LINKS, ON_PROMISES, PROMISE, WHOLE, Rejection
from routeproof.checker.validate.link_rows import (
    COLUMNS,
    DIGEST,
    GAPS,
    LATEST,
    MOMENT,
    PLACE,
    SEQ,
    TOLD,
    Rows,
    RowStream,
    differing,
    gap_at,
    latest_of,
    overtaking,
    rows,
    shift_of,
)
from routeproof.checker.validate.readiness import Passages
from routeproof.checker.validate.setting import Setting

ALTERED = 3
"""So many messages of a link may differ from what was sent and still count as altered on their way. If there are more,
the two ends no longer belong together."""


@define
class Comparison:
    """Result of the comparison of one link. `compared`: messages that were received and sent."""

    rejections: list[Rejection] = field(factory=list)
    compared: int = 0
    on_the_way: set[int] = field(factory=set)
    """Digests of the publications that were sent and not received, without their advertisements."""
    left: int = 0
    """How many messages were sent and not received."""
    first_left: int = -1
    left_since: int = -1
    """The seq of the first of them, and its time."""
    altered: int = 0
    """Number of messages that differ from the message that was sent; counting stops above `ALTERED`."""
    first_altered: int = -1
    """The seq at which the first of them was sent."""
    beyond: int = 0
    """Number of messages that were received after all messages that the sender's events have."""
    first_beyond: int = -1
    """The seq at which the first of them was received."""
    least: int = LATEST
    most: int = -1
    """The least and the longest time from a sending to its reception, where brokers share a clock."""
    passages: Passages = field(factory=lambda: Passages(0))
    """When messages passed the link."""
    gaps: int = 0
    """How often one end had messages that the other lacks."""
    missing: int = 0
    first_missing: int = -1
    """How many messages were sent and not received although later ones were, and the seq of the first."""
    more: int = 0
    """How many messages were received and not sent although later ones were."""
    is_wrong: bool = False
    """True if so many messages differ that sent and received messages can no longer be matched."""

    def remark(self, near: str, far: str) -> str:
        """Returns a sentence about the fault of the link; an empty text if there is none."""
        ends = "; owed deliveries of this run are not judged" if self.is_wrong else ""
        if self.altered:
            count = f"more than {ALTERED}" if self.altered > ALTERED else f"{self.altered}"
            said = "message was" if self.altered == 1 else "messages were"
            what = f"altered between {near} and {far}"
            return f"{count} {said} {what}, the first one sent at seq {self.first_altered}{ends}"
        if self.missing or self.more:
            lost = f"{self.missing} of the messages that {near} sent did not come to {far}" if self.missing else ""
            more = (
                f"{self.more} of the messages that came to {far} from {near} are no further sends" if self.more else ""
            )
            return " and ".join(filter(None, (lost, more))) + ends
        if self.beyond and not self.is_wrong:
            said = "1 message" if self.beyond == 1 else f"{self.beyond:,} messages"
            return (
                f"{far} received {said} from {near} that the events of {near} do not have, the first at seq"
                f" {self.first_beyond}: the recording of {near} ends earlier; what {near} did after that is not judged"
            )
        return f"{far} received more messages from {near} than {near} sent{ends}" if self.is_wrong else ""


@frozen
class Spans:
    """When messages were on a link. `is_control`: which of them change tables; `is_sure`: of which the times are
    believed."""

    begins: Rows
    ends: Rows
    is_control: Rows
    is_sure: Rows

    def widened(self, by: int) -> Spans:
        """Returns the spans as they may have been if clocks differ by so much."""
        if not by:
            return self
        return evolve(self, begins=np.maximum(self.begins - by, 0), ends=np.minimum(self.ends + by, LATEST))


def compare(
    setting: Setting,
    run: str,
    link: tuple[str, str],
    sent: Iterable[bytes],
    taken: Iterable[bytes],
    doubts: tuple[Doubts, Doubts] = (CERTAIN, CERTAIN),
    *,
    until: int = -1,
    kept: int = 0,
    amid: tuple[bool, bool] = (False, False),
) -> Iterator[Comparison | Spans]:
    """When messages left and when they were taken, block by block; in the end the comparison. `doubts`: about the times
    of both brokers.

    `until`: the last time of the sender's events, on a shared clock. A message that was received later than that, and
    that the sender's events do not have, was sent after the sender's recording ended.
    `kept`: number of messages of which the comparison keeps when they passed; 0 if that is not asked for.
    `amid`: do the recordings of sender and receiver begin amid the run? Then the first messages of one end may have
    passed before the other end's recording began.

    Where the sender's sends are not observed, what was sent is what the model sends, in any order within a step.

    One that was not taken was on the way until the end. Where a time is not believed, the message may have been on the
    way as long as the times around it allow.
    """
    near, far = link
    shared_clock, skew, is_modelled = setting.shared_clock, setting.skew, setting.at(near).models_sends
    longest = -1 if setting.settles is None or not shared_clock else setting.settles + skew
    result = Comparison(passages=Passages(kept))
    said, heard = RowStream(sent), RowStream(taken)
    if is_modelled:
        said, heard = _in_any_order(sent, taken)
    latest, taken_until = frozenset[int](), 0
    if any(amid):
        yield from _passed_before(said, heard, amid, result)
    while True:
        count = min(said.fill(), heard.fill())
        if count == 0:
            break
        wrong, gap = np.empty(0, np.int64), None
        if not result.is_wrong:
            wrong = differing(said.ahead(count), heard.ahead(count))
            if len(wrong) and not is_modelled:
                gap = gap_at(said, heard, int(wrong[0])) if result.gaps < GAPS else None
                count, wrong = int(wrong[0]) + (gap is None), wrong[: gap is None]
        ours, theirs = said.take(count), heard.take(count)
        if not result.is_wrong:
            result.altered += len(wrong)
            result.is_wrong = result.altered > ALTERED
            if len(wrong) and result.altered == len(wrong):
                at = wrong[0]
                seq = result.first_altered = int(ours[at, SEQ])
                wanted = f"the next message that {near} sent, at its seq {seq}"
                seen = "another message, or the same message altered"
                made = _rejection(run, link, theirs[at], ON_LINKS, wanted, seen, ((near, seq),))
                made = evolve(made, reason=overtaking(near, theirs[at], said))
                result.rejections.append(_unlike_model(run, link, ours[at], theirs[at]) if is_modelled else made)
        result.compared += count
        if count:
            latest, taken_until = latest_of(ours, is_core=setting.judging.is_core), int(theirs[-1, SEQ])
        is_certain = not (result.altered or result.gaps)  # which send belongs to which reception
        if shared_clock and is_certain and not any(each.rule == ON_CLOCKS for each in result.rejections):
            result.rejections += _too_early(run, link, ours, theirs, doubts, skew)
        if longest >= 0 and is_certain and not any(each.rule == ON_PROMISES for each in result.rejections):
            result.rejections += _too_late(run, link, ours, theirs, doubts, longest)
        if shared_clock and is_certain:
            least, most = _durations(ours, theirs, doubts)
            result.least, result.most = min(result.least, least), max(result.most, most)
        if kept:
            taken = np.maximum.accumulate(theirs[:, PLACE]) if is_modelled else theirs[:, PLACE]
            result.passages.add(ours[:, PLACE], taken, (ours[:, MOMENT] & 1).astype(bool))
        yield _spans(ours, theirs, doubts).widened(skew)
        if gap is not None:
            yield from _passed_over(run, link, said, heard, gap, result, doubts, latest, taken_until)
    if not result.is_wrong and heard.fill() and _ended(heard.first(), until - skew, latest):
        result.first_beyond = int(heard.first()[SEQ])
        while count := heard.fill():
            result.beyond += count
            heard.take(count)
    elif not result.is_wrong and heard.fill():
        wanted = f"no message: the trace has no further send from {near} to {far}"
        if not result.altered:
            result.rejections.append(_rejection(run, link, heard.take(1)[0], ON_LINKS, wanted, "one message more"))
        result.is_wrong = True
    while count := said.fill():
        left = said.take(count)
        if not result.left:
            result.first_left, result.left_since = int(left[0, SEQ]), int(left[0, MOMENT]) >> 1
        result.left += count
        result.on_the_way.update((left[left[:, MOMENT] & 1 == 0, DIGEST] & ~OF).tolist())
        if kept:
            result.passages.add(left[:, PLACE], None, (left[:, MOMENT] & 1).astype(bool))
        yield _spans(left, None, doubts).widened(skew)
    yield result


def _passed_before(said: RowStream, heard: RowStream, amid: tuple[bool, bool], result: Comparison) -> Iterator[Spans]:
    """Takes the messages that only one end has because the recording of the other began later."""
    ours, theirs = said.gathered(), heard.gathered()
    only_sent, only_taken = shift_of(ours, theirs, amid)
    if only_taken:
        early = heard.take(only_taken)
        times = early[:, MOMENT] >> 1
        are_control = (early[:, MOMENT] & 1).astype(bool)
        result.passages.add(np.full(only_taken, -1), early[:, PLACE], are_control)
        yield Spans(np.zeros(only_taken, np.int64), np.where(times < 0, LATEST, times), are_control, times >= 0)
    if only_sent:
        early = said.take(only_sent)
        times, are_control = early[:, MOMENT] >> 1, (early[:, MOMENT] & 1).astype(bool)
        result.passages.add(early[:, PLACE], np.full(only_sent, -1), are_control)
        until = int(theirs[0, MOMENT]) >> 1 if len(theirs) else -1
        ends = np.full(only_sent, until if until >= 0 else LATEST)
        yield Spans(np.minimum(np.maximum(times, 0), ends), ends, are_control, np.zeros(only_sent, bool))


def _passed_over(
    run: str,
    link: tuple[str, str],
    said: RowStream,
    heard: RowStream,
    gap: tuple[int, int],
    result: Comparison,
    doubts: tuple[Doubts, Doubts],
    latest: Collection[int],
    since: int,
) -> Iterator[Spans]:
    """Rejects messages that only one end has, after which both ends agree again. `since`: the seq of the reception
    before."""
    near, far = link
    only_sent, only_taken = gap
    result.gaps += 1
    if only_taken:
        odd = heard.take(only_taken)
        result.more += only_taken
        is_again = int(odd[0, DIGEST]) in latest
        said_of = f"{far} received the same message before" if is_again else f"the events of {near} lack its `send`"
        wanted = f"no message: the trace has no such send from {near} to {far}"
        result.rejections.append(
            evolve(_rejection(run, link, odd[0], ON_LINKS, wanted, "one message more"), reason=said_of)
        )
        return
    lost, after = said.take(only_sent), heard.first()
    result.missing += only_sent
    result.first_missing = int(lost[0, SEQ]) if result.first_missing < 0 else result.first_missing
    seq, many = int(lost[0, SEQ]), "it" if only_sent == 1 else f"it and {only_sent - 1} more"
    wanted = f"the next message that {near} sent, at its seq {seq}"
    made = _rejection(run, link, after, ON_LINKS, wanted, "another message", ((near, seq),))
    reason = f"{many} did not come to {far}, and later messages did: lost on the way, or dropped without a `drop` event"
    result.rejections.append(evolve(made, reason=reason, since=since, time=int(lost[0, MOMENT]) >> 1))
    result.passages.add(lost[:, PLACE], np.full(only_sent, after[PLACE]), (lost[:, MOMENT] & 1).astype(bool))
    yield _spans(lost, np.tile(after, (only_sent, 1)), doubts)


def _rejection(
    run: str,
    link: tuple[str, str],
    row: Rows,
    rule: str,
    wanted: str,
    seen: str,
    sent: tuple[tuple[str, int], ...] = (),
) -> Rejection:
    """Makes a rejection of what was received.

    A sending may stand anywhere in a file: that something was not sent is certain only where all can be read. Of two
    messages that differ, only a line before one of them could explain it.
    """
    peer, broker = link
    seq = int(row[SEQ])
    return Rejection(
        run,
        broker,
        seq,
        rule,
        wanted,
        seen,
        accepted=int(row[PLACE]),
        line=LAST_SHOWN if sent else WHOLE,
        time=int(row[MOMENT]) >> 1,
        shown_by=(*sent, (broker, seq)),
        peer=peer,
    )


def _too_early(
    run: str, link: tuple[str, str], ours: Rows, theirs: Rows, doubts: tuple[Doubts, Doubts], allowed: int
) -> list[Rejection]:
    """The first message that was taken before it was sent, as times have it that nothing else contradicts."""
    early = (theirs[:, TOLD] + allowed < ours[:, TOLD]) & (theirs[:, TOLD] >= 0)
    if not early.any():
        return []
    for each, some in zip(doubts, (ours, theirs), strict=True):
        early &= each.doubted(some[:, PLACE]) < 0
    (found,) = np.nonzero(early)
    if not len(found):
        return []
    sent, taken = ours[found[0]], theirs[found[0]]
    seq, time = int(sent[SEQ]), int(sent[TOLD])
    skew = int((ours[found, TOLD] - theirs[found, TOLD]).max())
    wanted = f"a time not before {time}, when {link[0]} sent this message, at its seq {seq}"
    said = f", with a skew of {allowed} at most" if allowed else ""
    differ = f"the clocks differ by at least {skew} nanoseconds"
    seen = f"time {int(taken[TOLD])}: {differ}, but the header calls them shared{said}"
    return [_rejection(run, link, taken, ON_CLOCKS, wanted, seen, ((link[0], seq),))]


def _too_late(
    run: str, link: tuple[str, str], ours: Rows, theirs: Rows, doubts: tuple[Doubts, Doubts], longest: int
) -> list[Rejection]:
    """The first message that was longer on the link than the header promises."""
    lasted = np.where((theirs[:, TOLD] >= 0) & (ours[:, TOLD] >= 0), theirs[:, TOLD] - ours[:, TOLD], 0)
    for each, some in zip(doubts, (ours, theirs), strict=True):
        lasted[each.doubted(some[:, PLACE]) >= 0] = 0
    late = np.flatnonzero(lasted > longest)
    if not len(late):
        return []
    at = int(late[0])
    seq = int(ours[at, SEQ])
    wanted = f"a time not after {int(ours[at, TOLD]) + longest}: {link[0]} sent this message at its seq {seq}"
    seen = f"time {int(theirs[at, TOLD])}, which is {int(lasted[at]) - longest} ns too late"
    return [_rejection(run, link, theirs[at], ON_PROMISES, f"{wanted}, and {PROMISE}", seen, ((link[0], seq),))]


def _durations(ours: Rows, theirs: Rows, doubts: tuple[Doubts, Doubts]) -> tuple[int, int]:
    """The least and the longest time from a sending to its reception, as far as times are believed."""
    is_sure = (theirs[:, TOLD] >= 0) & (ours[:, TOLD] >= 0)
    for each, some in zip(doubts, (ours, theirs), strict=True):
        is_sure &= each.doubted(some[:, PLACE]) < 0
    times = (theirs[:, TOLD] - ours[:, TOLD])[is_sure]
    return int(times.min(initial=LATEST)), int(times.max(initial=-1))


def _spans(ours: Rows, theirs: Rows | None, doubts: tuple[Doubts, Doubts]) -> Spans:
    """The longest that messages may have been on the way."""
    near, far = doubts
    left, is_control = ours[:, MOMENT] >> 1, (ours[:, MOMENT] & 1).astype(bool)
    is_sure = left >= 0
    if near:
        stretch = near.doubted(ours[:, PLACE])
        left, is_sure = np.where(stretch < 0, left, near.low[stretch]), is_sure & (stretch < 0)
    begin = np.where(left < 0, 0, left)
    if theirs is None:
        return Spans(begin, np.full(len(begin), LATEST), is_control, is_sure)
    taken = theirs[:, MOMENT] >> 1
    is_sure = is_sure & (taken >= 0)
    if far:
        stretch = far.doubted(theirs[:, PLACE])
        taken, is_sure = np.where(stretch < 0, taken, far.high[stretch]), is_sure & (stretch < 0)
    end = np.where(taken < 0, LATEST, taken)
    return Spans(np.minimum(begin, end), np.maximum(begin, end), is_control, is_sure)


def _in_any_order(sent: Iterable[bytes], taken: Iterable[bytes]) -> tuple[RowStream, RowStream]:
    """Orders the messages that the model sends in one step, and those received in their place, by their digests."""
    ours, theirs = (np.concatenate([np.empty((0, COLUMNS), np.int64), *map(rows, each)]) for each in (sent, taken))
    both = min(len(ours), len(theirs))
    steps = ours[:both, PLACE]
    ours[:both] = ours[:both][np.lexsort((ours[:both, DIGEST] & ~OF, steps))]
    theirs[:both] = theirs[:both][np.lexsort((theirs[:both, DIGEST] & ~OF, steps))]
    return RowStream([ours.tobytes()]), RowStream([theirs.tobytes()])


def _unlike_model(run: str, link: tuple[str, str], ours: Rows, theirs: Rows) -> Rejection:
    """The rejection of a sender whose neighbour received something else than the model sends."""
    near, far = link
    wanted = f"what the model of {near} sends to {far} in this step"
    seen = f"another message, received by {far} at its seq {int(theirs[SEQ])}"
    shown = (near, int(ours[SEQ])), (far, int(theirs[SEQ]))
    made = _rejection(run, (far, near), ours, ON_LINKS, wanted, seen, shown[:1])
    return evolve(made, shown_by=shown, expected=int(ours[DIGEST]))


def _ended(row: Rows, until: int, latest: Collection[int]) -> bool:
    """True if the sender's recording may have ended before: it is no latest message again, and no event is later."""
    told = int(row[TOLD])
    return int(row[DIGEST]) not in latest and (until < 0 or told < 0 or told >= until)
