"""The types of the public names are those that the page documents: the gate's mypy checks this script."""

from pathlib import Path
from typing import assert_type

import routeproof


def test_a_users_script(tmp_path: Path) -> None:
    tiny = routeproof.instance("tiny")
    assert_type(tiny, routeproof.Instance)
    result = routeproof.explore(tiny, policy="active", mutant="removals-first", properties=["NoLostDelivery"])
    assert_type(result, routeproof.Result)
    assert_type(result.findings, dict[str, routeproof.Finding])
    drawn = routeproof.fuzz(tiny, policy="active", seed=1, examples=2)
    assert_type(drawn, routeproof.Result)
    assert drawn.engine == "fuzz"
    assert tmp_path.is_dir()
