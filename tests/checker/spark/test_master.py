"""Where a job is to run, as it is written on the command line."""

import pytest

from routeproof.checker.spark.session import Master
from routeproof.checker.system.errors import UsageError


@pytest.mark.parametrize(
    ("url", "cores", "master"),
    [
        (None, 3, Master("local[3]", 3)),
        ("local", 1, Master("local[1]", 1)),
        ("local[2]", None, Master("local[2]", 2)),
        ("local[2]", 2, Master("local[2]", 2)),
        ("spark://a:7077", None, Master("spark://a:7077", None, (("a", 7077),))),
        ("spark://a:1,[::1]:2", 8, Master("spark://a:1,[::1]:2", 8, (("a", 1), ("::1", 2)))),
        ("yarn", None, Master("yarn", None)),
        ("k8s://https://a:6443", 4, Master("k8s://https://a:6443", 4)),
    ],
)
def test_masters(url: str | None, cores: int | None, master: Master) -> None:
    assert Master.of(url, cores) == master


@pytest.mark.parametrize(
    ("url", "loopback"),
    [
        ("local", True),
        ("spark://127.0.0.1:7077", True),
        ("spark://localhost:7077", True),
        ("spark://localhost:7077,far:7077", False),
        ("spark://far:7077", False),
        ("yarn", False),
    ],
)
def test_what_stays_on_this_machine(url: str, loopback: bool) -> None:
    assert Master.of(url, None).loopback is loopback


@pytest.mark.parametrize(
    "url", ["", "local[0]", "local[x]", "spark://", "spark://a", "sc://a:1", "spark://a:1\nb", "a'; rm"]
)
def test_what_is_no_master(url: str) -> None:
    with pytest.raises(UsageError, match="is no master of Spark; expected local") as refusal:
        Master.of(url, None)
    assert len(str(refusal.value).splitlines()) == 1


def test_cores_that_make_no_sense() -> None:
    with pytest.raises(UsageError, match="0 cores"):
        Master.of(None, 0)
    with pytest.raises(UsageError, match="3 cores were requested, and the master local"):
        Master.of("local[2]", 3)
