"""Plays cases and prints what came of each as a line of JSON: `python -m tests.attack KIND SEED FIRST [COUNT]`."""

from __future__ import annotations

import faulthandler
import json
import resource
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.attack.case import KINDS
from tests.attack.known import is_known

MOST_MEMORY = 8 << 30
"""Address space in bytes, so that a bomb that is not caught ends this process and not the machine."""

HARD_SECONDS = 120.0
"""Until a case that even a signal does not end is ended with this process."""


def main(kind: str, seed: int, first: int, count: int) -> int:
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
    for ignored, handler in (signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL):
        if signal.getsignal(ignored) is signal.SIG_IGN:  # a shell does so to what it puts in the background; so `nohup`
            signal.signal(ignored, handler)
    begun, failed, outcomes = time.monotonic(), 0, Counter[str]()
    for number in range(first, first + count):
        faulthandler.dump_traceback_later(HARD_SECONDS, exit=True)
        _say(begun=number)
        case = KINDS[kind].case(seed, number)
        with tempfile.TemporaryDirectory(prefix="attack-") as around:
            here = Path(around, "here")  # a name with ".." stays within what is removed
            here.mkdir()
            played = case.play(here)
        outcomes[played.outcome] += 1
        new = [text for text in played.complaints if not is_known(kind, case.about, text)]
        failed += bool(new)
        if played.complaints or count == 1:
            known = len(played.complaints) - len(new)
            _say(number=number, about=case.about, outcome=played.outcome, complaints=new, known=known)
    faulthandler.cancel_dump_traceback_later()
    _say(
        played=count, failed=failed, outcomes=dict(sorted(outcomes.items())), seconds=round(time.monotonic() - begun, 1)
    )
    return 1 if failed else 0


def _say(**what: object) -> None:
    print(json.dumps(what), flush=True)


if __name__ == "__main__":
    name, *numbers = sys.argv[1:]
    seed, first, count = [*map(int, numbers), 1][:3]
    sys.exit(main(name, seed, first, count))
