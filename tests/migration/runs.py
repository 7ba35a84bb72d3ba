"""Corruptions of recorded runs of publishers that move."""

from tests.kit.runs import Row, Spoil, changes, find_row, leaves_out, says_twice


def _releases_late(rows: list[Row]) -> bool:
    """What was held back goes to the target behind the farewell: another order at the publisher."""
    farewell = find_row(rows, "send", "leave")
    if farewell is None:
        return False
    i = rows.index(farewell)
    before = rows[i - 1]
    if before["event"] != "send" or before["message"]["kind"] != "publish" or before["broker"] != farewell["broker"]:
        return False
    before["peer"] = farewell["peer"]
    return True


CORRUPTIONS: dict[str, tuple[Spoil, str]] = {
    "the pause not sent": (leaves_out("send", "pause"), "MIG-1"),
    "the mark not sent": (leaves_out("send", "flushed"), "MIG-1"),
    "the update not passed on": (leaves_out("send", "update"), "MIG-13"),
    "the completion not passed on": (leaves_out("send", "complete"), "MIG-12"),
    "the publisher not resumed": (leaves_out("send", "resume"), "MIG-14"),
    "the withdrawal behind the completion left out": (leaves_out("send", "unsubscribe-many"), "MIG-14"),
    "the farewell not sent": (leaves_out("send", "leave"), "MIG-8"),
    "a path altered on the way": (changes("receive", "update", "path", [1, 2]), "TRC-3"),
    "a completion sent twice": (says_twice("complete"), "MIG-12"),
    "a kind that the protocol does not have": (changes("send", "resume", "kind", "restart"), "MIG-14"),
    "a message where no channel is": (changes("send", "pause", "peer", "b2"), "MIG-1"),
    "what was held back sent to the source": (_releases_late, "MIG-8"),
    "a delivery lost": (leaves_out("deliver", "publish"), "RTE-5"),
}
"""Functions that change a run of `move3` where they can, each with a rule among the rejections."""
