"""Who catches the generated mutants of the model and of the reference brokers?

Each mutant runs in a process of its own, forked from one in which everything is imported and every case is drawn. It is
caught by the first that notices, the cheapest first:

    lockstep    one broker told anything, in the model and in the reference implementation: messages or tables differ
    replay      a counterexample of the corpus no longer goes as it went, event by event
    search      all states of small instances: their numbers, or the properties that fail, are not the recorded ones
    tests       a unit test (`TESTS`), asked one by one as pytest does

A mutant that runs more than ten times as long as the sound code does is caught, too. What nobody notices is listed in
`mutants.json`, each with the reason why nothing that brokers do depends on it.

    python -m tests.quality.mutation OUT.jsonl [MODULE...]     plays all that OUT.jsonl does not have yet
    python -m tests.quality.mutation --tests OUT.jsonl         asks the unit tests only, of those that nothing caught
    python -m tests.quality.mutation --record OUT.jsonl        writes what was found into `mutants.json`

`--no-tests` leaves the unit tests out, `--few` draws fewer talks. `played.jsonl` is the OUT.jsonl of modules that are
not in `mutants.json` yet: their unit tests have not been asked.
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
from collections.abc import Callable, Iterable, Iterator, Sequence
from cProfile import Profile
from functools import _lru_cache_wrapper, cache, partial
from itertools import accumulate, islice
from pathlib import Path
from time import process_time
from types import CodeType
from typing import Any

import pytest
from _pytest.runner import runtestprotocol
from attrs import define, frozen
from hypothesis import HealthCheck, Phase, given, settings

from routeproof.checker.counterexamples import replay_file
from routeproof.checker.experiments.bench import plain_search
from routeproof.checker.explore import explore
from routeproof.checker.instances import find
from routeproof.model.instance import POLICIES
from routeproof.model.protocols import world
from routeproof.model.pruning.vocabulary import PRUNING
from tests.impl import talk as routing_talk
from tests.impl import test_lockstep
from tests.impl.wild import WILD
from tests.pruning import talk as pruning_talk
from tests.pruning import test_lockstep as test_pruning_lockstep
from tests.quality.generated import Mutant, apply, in_use, mutants
from tests.quality.made_up import MADE_UP, follow_made_up

ROOT = Path(__file__).resolve().parents[2]
RECORD = Path(__file__).with_name("mutants.json")
COUNTS = json.loads((ROOT / "tests/checker/explore/counts.json").read_text(encoding="utf-8"))

READING = frozenset(
    f"model/{name}.py"
    for name in ("codec", "fields", "instance_file", "plugins", "protocols", "reading", "pruning/instances")
)
"""Modules that read files, or list what there is: they decide what is asked, not what brokers do."""


def _modules() -> Iterator[str]:
    yield "routeproof.impl.routing"
    for folder in ("model/pruning", "impl/pruning", "impl/index", "model", "model/filters"):
        for path in sorted((ROOT / folder).glob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            if path.stem != "__init__" and "mutants" not in path.stem and name not in READING:
                yield f"routeproof.{name[:-3].replace('/', '.')}"


MODULES = tuple(_modules())
"""The modules that decide what brokers do."""

TESTS = (
    *("tests/model", "tests/impl/test_broker.py", "tests/impl/test_indexes.py", "tests/impl/test_sketch.py"),
    *("tests/impl/test_simulator.py", "tests/impl/test_recording.py", "tests/pruning/test_model.py"),
    *("tests/pruning/test_brokers.py", "tests/pruning/test_similarity.py", "tests/pruning/test_readings.py"),
    *("tests/pruning/test_mutants.py", "tests/kit/test_ferry.py", "tests/traces/test_messages.py"),
    *("tests/checker/test_monitor.py", "tests/checker/test_replay.py", "tests/checker/explore/test_columns.py"),
)
SEARCHED = (
    *("tiny", "loss2", "unadv3", "crash3", "reorder2", "duplicate3"),
    *("back2", "overtake2", "hold3", "return3", "collects3", "absent3", "forgets3", "adverts3"),
)
LARGEST = 4_000
"""States of a search that is repeated for each mutant."""

KINDS = ("lockstep", "replay", "search", "tests")

MOST = {"lockstep": 1.0, "replay": 1.0, "search": 1.0, "tests": 10.0}
"""Seconds of the sound code in cases of each kind that one mutant is given: a survivor costs all of them."""

AT_ONCE = 4
"""Mutants at a time."""

SLOWER = 10
"""A mutant that takes so many times as long as the sound code does not end."""


@frozen
class Case:
    """One thing that is asked of a mutant; it raises an error, or returns False, where the mutant is noticed."""

    kind: str
    play: Callable[[], object]
    reaches: frozenset[tuple[str, str]]
    """Functions that the sound code uses for it, by file and name."""
    seconds: float


# -- cases -------------------------------------------------------------------------------------------------------------


def drawn(talks: Any, most: int) -> list[Any]:
    """Talks that Hypothesis draws, always the same ones."""
    found: list[Any] = []

    @settings(
        derandomize=True,
        database=None,
        deadline=None,
        max_examples=most,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(talks)
    def run(talk: Any) -> None:
        found.append(talk)

    run()
    return found


def lockstep_cases(share: float) -> Iterator[Callable[[], object]]:
    for policy in POLICIES:
        for talks in (routing_talk.talks((policy,)), routing_talk.talks((policy,), (WILD,))):
            yield from (partial(test_lockstep.follow, each) for each in drawn(talks, round(150 * share)))
    yield from (partial(follow_made_up, each) for each in MADE_UP)
    for policy in PRUNING:
        for prunes in (pruning_talk.talks((policy,)), pruning_talk.talks((policy,), (WILD,))):
            yield from (partial(test_pruning_lockstep.follow, each) for each in drawn(prunes, round(250 * share)))


def searched(name: str, policy: str) -> bool:
    """Whether exploring an instance finds what is recorded of it, with columns and without."""
    asked = world(find(name), policy)
    result = explore(asked)
    failed = {f.property for f in result.findings.values() if f.failed and f.kind == "always"}
    plain = plain_search(asked, 2 * LARGEST)
    return (
        [result.states, result.transitions, result.depth] == COUNTS[name][policy]
        and [plain.states, plain.transitions, plain.depth] == COUNTS[name][policy]
        and (bool(failed) if find(name).faults.any else failed == set(find(name).must_fail))
    )


def replayed(trace: Path) -> bool:
    """Whether a counterexample of the corpus goes as it went, event by event."""
    return replay_file(trace).reproduces


def replay_cases() -> Iterator[Callable[[], object]]:
    yield from (partial(replayed, trace) for trace in sorted((ROOT / "traces" / "corpus").glob("*.jsonl")))


def search_cases() -> Iterator[Callable[[], object]]:
    for name in SEARCHED:
        yield from (partial(searched, name, p) for p, counts in COUNTS[name].items() if counts[0] <= LARGEST)


def prepare(share: float = 1.0, items: Sequence[pytest.Item] = ()) -> list[Case]:
    """Every case with what it reaches, the cheapest first. The sound code passes all of them."""
    for module in MODULES:
        importlib.import_module(module)
    found = [measured("tests", partial(passes, item)) for item in items]
    if share:
        found += [measured("lockstep", each) for each in list(lockstep_cases(share))]
        found += [measured("replay", each) for each in replay_cases()]
        found += [measured("search", each) for each in search_cases()]
    return sorted(found, key=lambda case: (KINDS.index(case.kind), case.seconds))


def measured(kind: str, play: Callable[[], object]) -> Case:
    forget()
    watch = Profile()
    watch.enable()
    try:
        assert play() is not False, f"the sound code fails: {play}"
    finally:
        watch.disable()
    called = [each.code for each in watch.getstats() if isinstance(each.code, CodeType)]
    before = process_time()
    play()
    reaches = frozenset((code.co_filename, code.co_qualname) for code in called if str(ROOT) in code.co_filename)
    return Case(kind, play, reaches, process_time() - before)


def passes(item: pytest.Item) -> bool:
    """Whether a unit test passes. What modules and sessions share for their tests is made anew."""
    return not any(report.failed for report in runtestprotocol(item, log=False, nextitem=None))


@frozen
class Asking:
    """A plugin of pytest that does something else with the tests that were collected than to run them."""

    ask: Callable[[Sequence[pytest.Item]], None]

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self.ask(session.items)
        return True


def with_unit_tests(ask: Callable[[Sequence[pytest.Item]], None]) -> None:
    settings.register_profile(
        "mutants", derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck)
    )
    settings.load_profile("mutants")
    options = ["-q", "-n0", "-s", "--assert=plain", "-p", "no:cacheprovider", "-p", "no:faulthandler"]
    ended = pytest.main([*options, *(str(ROOT / each) for each in TESTS)], plugins=[Asking(ask)])
    assert ended in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED), ended


def forget() -> None:
    """Empties all caches: they hold answers of the sound code."""
    for each in _caches():
        each.cache_clear()


@cache
def _caches() -> tuple[Any, ...]:
    found = [each for each in gc.get_objects() if isinstance(each, _lru_cache_wrapper)]
    ours = tuple(each for each in found if each.__module__.startswith("routeproof.") or "wild" in each.__module__)
    return tuple(each for each in ours if ".theory." not in each.__module__)  # Z3 takes the name of a sort once


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
    before = accumulate((each.seconds for each in asked), initial=0.0)
    return [each for each, spent in zip(asked, before, strict=False) if spent < MOST[kind]]


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


def play(out: Path, modules: Iterable[str], share: float, items: Sequence[pytest.Item] = ()) -> None:
    """Plays every mutant that has no result yet, or that nothing caught."""
    played = Played(out)
    for module in MODULES:
        importlib.import_module(module)
    in_use(mutants("routeproof.model.routing")[0])
    cases = prepare(share, items)
    known = played.known()
    gc.collect()
    gc.freeze()
    print(f"{len(cases)} cases, {sum(case.seconds for case in cases):.0f} s", flush=True)
    for module in modules:
        left = [each for each in mutants(module) if is_left(known.get((each.module, each.key), ""))]
        for mutant, answer in answers(left, cases, AT_ONCE):
            played.add(mutant, answer)
        rows = Counter(played.known()[each.module, each.key] for each in mutants(module))
        print(module, dict(rows), flush=True)


def record(out: Path, modules: Iterable[str]) -> None:
    """Writes who caught the mutants of modules. What is left keeps its reason; a new one has none yet."""
    recorded = json.loads(RECORD.read_text(encoding="utf-8"))
    known = Played(out).known()
    for module in modules:
        every = [(each.key, known[module, each.key]) for each in mutants(module) if (module, each.key) in known]
        if not every:
            continue
        former = recorded.get(module, {})
        caught = Counter(answer.split(",")[0].split()[0] for _, answer in every if not is_left(answer))
        left = {key: former.get("left", {}).get(key, "") for key, answer in every if is_left(answer)}
        daily = {"daily": former["daily"]} if "daily" in former else {}
        recorded[module] = {"mutants": len(every), **caught, "left": left, **daily}
    RECORD.write_text(json.dumps(recorded, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def is_left(answer: str) -> bool:
    """True of a mutant that was not played, that could not be, or that nothing caught."""
    return answer == "" or answer.startswith("error")


def main(arguments: Sequence[str]) -> None:
    options = [each for each in arguments if each.startswith("--")]
    out, *named = [each for each in arguments if not each.startswith("--")]
    modules = [each if each in MODULES else f"routeproof.{each}" for each in named] or list(MODULES)
    if "--record" in options:
        record(Path(out), modules)
    elif "--no-tests" in options:
        play(Path(out), modules, 0.4 if "--few" in options else 1.0)
    else:
        share = 0.0 if "--tests" in options else 0.4 if "--few" in options else 1.0
        with_unit_tests(partial(play, Path(out), modules, share))


if __name__ == "__main__":
    main(sys.argv[1:])
