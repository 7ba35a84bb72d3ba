"""Which of several rejections is the first: the cause before its effects, whatever names say."""

from pathlib import Path

from routeproof.checker.validate import Rejection
from routeproof.checker.validate.findings import in_order
from routeproof.checker.validate.store import natural
from tests.checker.validate.corrupt import CORRUPTIONS
from tests.checker.validate.walks import judged, rows_of


def rejection(broker: str, seq: int, rule: str, time: int = -1, run: str = "r") -> Rejection:
    return Rejection(run, broker, seq, rule, "this", "that", time=time)


def brokers(*rejections: Rejection, shared_clock: bool = False) -> list[str]:
    found = [r.broker for r in in_order(rejections, shared_clock=shared_clock)]
    assert found == [r.broker for r in in_order(rejections[::-1], shared_clock=shared_clock)], "whoever came first"
    return found


def test_names_count_as_people_do() -> None:
    assert sorted(["b10", "b2", "b1", "a", "b", "7", "b02", "b2c"], key=natural) == [
        *("7", "a", "b", "b1", "b02", "b2", "b2c", "b10"),
    ]
    assert brokers(rejection("b10", 1, "RTE-3"), rejection("b2", 5, "RTE-3")) == ["b2", "b10"]


def test_the_clock_decides_where_there_is_one() -> None:
    late, early = rejection("b1", 1, "RTE-3", 20), rejection("b2", 9, "TRC-3", 10)
    assert brokers(late, early, shared_clock=True) == ["b2", "b1"]
    assert brokers(late, early) == ["b1", "b2"]
    assert brokers(late, rejection("b2", 9, "TRC-3"), shared_clock=True) == ["b1", "b2"], "one of them has no time"


def test_a_wrong_step_comes_before_the_links_that_it_feeds() -> None:
    fed, wrong = rejection("b1", 1, "TRC-3"), rejection("b2", 50, "RTE-5")
    assert brokers(fed, wrong) == ["b2", "b1"]


def test_at_one_broker_its_own_order_rules() -> None:
    """What was received wrongly is handled wrongly."""
    found = in_order([rejection("b1", 6, "RTE-5"), rejection("b1", 5, "TRC-3")], shared_clock=False)
    assert [r.rule for r in found] == ["TRC-3", "RTE-5"]
    same = in_order([rejection("b1", 5, "RTE-5", 3), rejection("b1", 5, "TRC-3", 3)], shared_clock=True)
    assert [r.rule for r in same] == ["TRC-3", "RTE-5"]


def test_what_clients_saw_comes_last_in_its_run() -> None:
    seen, cause = rejection("b1", 1, "TRC-7", 1), rejection("b9", 99, "RTE-5", 99)
    assert brokers(seen, cause, shared_clock=True) == ["b9", "b1"]
    other = rejection("b5", 1, "RTE-3", 0, run="s")
    assert brokers(seen, other, shared_clock=True) == ["b1", "b5"], "runs have nothing to do with each other"


def test_without_a_clock_the_headline_is_the_cause(tmp_path: Path) -> None:
    for name in ("a forwarded publication lost", "a forwarded advertisement lost", "a forwarded subscription lost"):
        for instance in ("star4", "line4"):
            for seed in range(3):
                rows = rows_of(instance, "active", seed)
                where = CORRUPTIONS[name].spoil(rows)
                assert where is not None
                del rows[0]["clock"]
                report = judged(rows, tmp_path)
                if report.extent.open_steps() and not report.rejections:
                    continue  # nothing says that the recording goes on
                first = report.rejections[0]
                assert (first.broker, first.seq, first.rule) == where.at("exact")
