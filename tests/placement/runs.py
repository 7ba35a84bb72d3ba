"""Corruptions of recorded runs of POP and GRAPE."""

from tests.kit.runs import Row, Spoil, changes, find_row, leaves_out, says_twice


def _changes_a_trace(place: int, value: int) -> Spoil:
    """Changes what one broker reports in the first answer of a session."""

    def spoil(rows: list[Row]) -> bool:
        row = find_row(rows, "send", "trace-answer")
        if row is not None:
            row["message"]["traces"][0][place] = value
        return row is not None

    return spoil


def _leaves_the_mark_out(rows: list[Row]) -> bool:
    """Sends a traced publication on as one that is not traced."""
    for row in rows[1:]:
        if row["event"] == "send" and row["message"]["kind"] == "publish" and "number" in row["message"]:
            row["message"] = {k: v for k, v in row["message"].items() if k not in ("number", "session")}
            return True
    return False


CORRUPTIONS: dict[str, tuple[str, Spoil, str]] = {
    "a result not sent": ("pop3", leaves_out("send", "trace-result"), "POP-3"),
    "a result sent twice": ("pop3", says_twice("trace-result"), "POP-3"),
    "a subscriber too many in a result": ("pop3", changes("send", "trace-result", "subscribers", 3), "POP-3"),
    "a result of another publication": ("pop3", changes("send", "trace-result", "number", 2), "POP-3"),
    "a result altered on the way": ("pop3", changes("receive", "trace-result", "subscribers", 5), "TRC-3"),
    "the mark left out": ("pop3", _leaves_the_mark_out, "RTE-5"),
    "the request not passed on": ("pop3", leaves_out("send", "relocation-request"), "POP-7"),
    "a broker left out of the path": ("pop3", changes("send", "relocation-request", "path", [2]), "POP-7"),
    "the answer not sent": ("pop3", leaves_out("send", "relocation-answer"), "POP-10"),
    "a path of another broker": ("pop3", changes("send", "relocation-answer", "path", [2, 1]), "POP-10"),
    "the traces not asked for": ("grape3", leaves_out("send", "trace-request"), "GRP-4"),
    "the traces asked for twice": ("grape3", says_twice("trace-request"), "GRP-4"),
    "a session that never was": ("grape3", changes("send", "trace-request", "session", 7), "GRP-4"),
    "the traces not answered": ("grape3", leaves_out("send", "trace-answer"), "GRP-5"),
    "a bit too many": ("grape3", _changes_a_trace(2, 7), "GRP-5"),
    "a delivery too many": ("grape3", _changes_a_trace(3, 9), "GRP-5"),
    "a kind that the protocol does not have": ("grape3", changes("send", "trace-answer", "kind", "hearsay"), "GRP-5"),
    "a delivery lost": ("grape3", leaves_out("deliver", "publish"), "RTE-5"),
}
"""By fault: the instance that has it, the change of its runs, and a rule among the rejections."""
