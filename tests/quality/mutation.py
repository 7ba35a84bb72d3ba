"""Who catches the generated mutants of the model and of the reference brokers?

Each mutant runs in a process of its own, forked from one in which everything is imported and every case is drawn. It is
caught by the first that notices, the cheapest first:

    lockstep    one broker told anything, in the model and in the reference implementation: messages or tables differ
    replay      a counterexample of the corpus no longer goes as it went, event by event
    search      all states of small instances: their numbers, or the properties that fail, are not the recorded ones
    tests       a unit test (`TESTS`), asked one by one as pytest does

A mutant that runs more than ten times as long as the sound code does is caught, too. What nobody notices is listed in
`mutants.json`, each with a reason: among the `same`, why nothing that anybody reads depends on it; among those that are
`left`, what comes out otherwise and why no check asks for it.

    python -m tests.quality.mutation OUT.jsonl [MODULE...]     plays all that OUT.jsonl does not have yet
    python -m tests.quality.mutation --tests OUT.jsonl         asks the unit tests only, of those that nothing caught
    python -m tests.quality.mutation --record OUT.jsonl        writes what was found into `mutants.json`

`--no-tests` leaves the unit tests out, `--few` draws fewer talks.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import resource
import select
import signal
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import accumulate, islice
from pathlib import Path

import pytest
from attrs import define

from tests.quality.cases import KINDS, MODULES, Case, forget, prepare, protocol_of, tests_of, with_unit_tests
from tests.quality.generated import Mutant, apply, in_use, mutants

RECORD = Path(__file__).with_name("mutants.json")

MOST = {"lockstep": 2.0, "replay": 1.0, "search": 2.0, "tests": float(os.environ.get("MOST", "5"))}
"""Seconds of the sound code in cases of each kind that one mutant is given: a survivor costs all of them."""

AT_ONCE = 2
"""Mutants at a time."""

SLOWER = 10
"""A mutant that takes so many times as long as the sound code does not end."""


# -- one mutant --------------------------------------------------------------------------------------------------------


class Endless(BaseException):
    """A mutant that takes too long."""


@define
class Trial:
    """One mutant, played in a process of its own."""

    mutant: Mutant
    child: int
    pipe: int

    @classmethod
    def begin(cls, mutant: Mutant, cases: Sequence[Case]) -> Trial:
        reader, writer = os.pipe()
        if (child := os.fork()) == 0:
            os.close(reader)
            for stream in (1, 2):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
            resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
            try:
                answer = _noticed(mutant, cases)
            except BaseException as error:  # noqa: BLE001  # a fault may break anything
                answer = f"error {type(error).__name__}: {error}"[:300]
            os.write(writer, answer.encode())
            os._exit(0)
        os.close(writer)
        return cls(mutant, child, reader)

    def answer(self) -> str:
        """Who notices the mutant, or nothing."""
        with os.fdopen(self.pipe, "rb") as pipe:
            answer = pipe.read().decode()
        _, status = os.waitpid(self.child, 0)
        return answer if status == 0 else "lockstep, which ends the process"


def caught_by(mutant: Mutant, cases: Sequence[Case]) -> str:
    return Trial.begin(mutant, cases).answer()


def answers(asked: Iterable[Mutant], cases: Sequence[Case], at_once: int) -> Iterator[tuple[Mutant, str]]:
    """Who notices each mutant, some of them at a time."""
    running: dict[int, Trial] = {}
    waiting = iter(asked)
    while True:
        for mutant in islice(waiting, at_once - len(running)):
            trial = Trial.begin(mutant, cases)
            running[trial.pipe] = trial
        if not running:
            return
        for pipe in select.select(list(running), [], [])[0]:
            trial = running.pop(pipe)
            yield trial.mutant, trial.answer()


def _noticed(mutant: Mutant, cases: Sequence[Case]) -> str:
    place = in_use(mutant)[0].__code__
    reach = (place.co_filename, place.co_qualname)
    reached = [case for case in cases if reach in case.reaches]
    mine = [case for kind in KINDS for case in _affordable(kind, reached)]
    apply(mutant)
    forget()
    signal.signal(signal.SIGVTALRM, _end)
    for case in mine:
        signal.setitimer(signal.ITIMER_VIRTUAL, 2 + SLOWER * case.seconds)
        try:
            if case.play() is False:
                return case.kind
        except Endless:
            return f"{case.kind}, which does not end"
        except Exception:  # noqa: BLE001  # a fault may break anything
            return case.kind
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return ""


def _affordable(kind: str, cases: Iterable[Case]) -> list[Case]:
    """The first cases of a kind, as far as `MOST` goes."""
    asked = [case for case in cases if case.kind == kind]
    spent = accumulate(each.seconds for each in asked)
    return [each for each, so_far in zip(asked, spent, strict=True) if so_far <= MOST[kind]]


def _end(*_: object) -> None:
    raise Endless


# -- the campaign ------------------------------------------------------------------------------------------------------


@define
class Played:
    """Results so far, in a file with one line a mutant."""

    path: Path

    def known(self) -> dict[tuple[str, str], str]:
        lines = self.path.read_text(encoding="utf-8").splitlines() if self.path.exists() else []
        return {(row[0], row[1]): row[2] for row in map(json.loads, lines)}

    def add(self, mutant: Mutant, answer: str) -> None:
        with self.path.open("a", encoding="utf-8") as out:
            out.write(json.dumps([mutant.module, mutant.key, answer]) + "\n")


def play(out: Path, modules: Sequence[str], share: float, items: Sequence[pytest.Item] = ()) -> None:
    """Plays every mutant of modules of one protocol that has no result yet, or that nothing caught."""
    played = Played(out)
    cases = prepare(protocol_of(modules[0]), share, items)
    gc.collect()
    gc.freeze()
    print(f"{len(cases)} cases, {sum(case.seconds for case in cases):.0f} s", flush=True)
    for module in modules:
        known = played.known()
        left = [each for each in mutants(module) if is_left(known.get((each.module, each.key), ""))]
        for mutant, answer in answers(left, cases, AT_ONCE):
            played.add(mutant, answer)
        known = played.known()
        print(module, dict(Counter(known[each.module, each.key] for each in mutants(module))), flush=True)


def record(out: Path, modules: Iterable[str]) -> None:
    """Writes who caught the mutants of modules. What is left keeps its reason; a new one has none yet."""
    recorded = json.loads(RECORD.read_text(encoding="utf-8"))
    known = Played(out).known()
    for module in modules:
        every = {each.key: known[module, each.key] for each in mutants(module) if (module, each.key) in known}
        if len(every) < len(mutants(module)):
            continue
        former = recorded.get(module, {})
        caught = Counter(answer.split(",")[0].split()[0] for answer in every.values() if not is_left(answer))
        left = [key for key, answer in every.items() if is_left(answer)]
        same = {key: former["same"][key] for key in left if key in former.get("same", {})}
        differs = {key: former.get("left", {}).get(key, "") for key in left if key not in same}
        daily = {"daily": former["daily"]} if "daily" in former else {}
        recorded[module] = {"mutants": len(every), **caught, "same": same, "left": differs, **daily}
    RECORD.write_text(json.dumps(recorded, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def is_left(answer: str) -> bool:
    """True of a mutant that was not played, that could not be, or that nothing caught."""
    return answer == "" or answer.startswith("error")


def main(arguments: Sequence[str]) -> None:
    options = [each for each in arguments if each.startswith("--")]
    out, *named = [each for each in arguments if not each.startswith("--")]
    modules = [each if each in MODULES else f"routeproof.{each}" for each in named] or list(MODULES)
    share = 0.4 if "--few" in options else 1.0
    if "--record" in options:
        record(Path(out), modules)
        return
    for each in MODULES:
        importlib.import_module(each)
    in_use(mutants("routeproof.model.routing")[0])  # before anything is frozen for the garbage collector,
    forget()  # which then lists neither functions nor caches
    for (_, tests), together in groups(modules).items():
        if "--no-tests" in options:
            play(Path(out), together, share)
        else:
            with_unit_tests(tests, partial(play, Path(out), together, 0.0 if "--tests" in options else share))


def groups(modules: Iterable[str]) -> dict[tuple[str, tuple[str, ...]], list[str]]:
    """Modules by what is asked of their mutants: their protocol and its unit tests."""
    found: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for module in modules:
        found.setdefault((protocol_of(module), tests_of(module)), []).append(module)
    return found


if __name__ == "__main__":
    main(sys.argv[1:])
