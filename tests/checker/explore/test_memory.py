"""The limit of memory: a search ends before it takes more, and goes on with more."""

import argparse
import json
import subprocess
import sys
from pathlib import Path

import pytest

from routeproof.checker.cli import main
from routeproof.checker.explore import explore
from routeproof.checker.instances import find
from routeproof.checker.system import memory
from routeproof.model.protocols import world

LIMIT = 150
"""Megabytes; `two4` takes about 280."""

# The peak is VmHWM: `ru_maxrss` also counts the process that started this one.
SEARCH = """
import json, re, sys
from pathlib import Path
from routeproof.checker.explore import explore
from routeproof.checker.instances import find
from routeproof.model.protocols import world

result = explore(world(find("two4"), "active"), max_memory=int(sys.argv[1]), checkpoint=Path(sys.argv[2]))
verdicts = {f.verdict for f in result.findings.values() if f.kind == "always"}
peak = int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
print(json.dumps([result.limit, result.states, sorted(verdicts), peak]))
"""


@pytest.mark.skipif(not memory.resident(), reason="the system does not say how much memory a process has")
def test_a_search_ends_before_it_takes_more(tmp_path: Path) -> None:
    file = tmp_path / "two4.checkpoint"
    asked = [sys.executable, "-c", SEARCH, str(LIMIT << 20), str(file)]
    ran = subprocess.run(asked, capture_output=True, text=True, timeout=120, check=True)
    limit, states, verdicts, peak = json.loads(ran.stdout)
    assert limit == "memory"
    assert states > 50_000, "it uses what it may have"
    assert verdicts == ["unknown"]
    assert peak <= LIMIT << 10
    assert file.exists()


def test_more_memory_goes_on_to_the_same_end(tmp_path: Path) -> None:
    asked, file = world(find("cross3"), "active"), tmp_path / "c"
    stopped = explore(asked, max_memory=1 << 20, checkpoint=file)
    assert stopped.limit == "memory"
    resumed, whole = explore(asked, checkpoint=file), explore(asked)
    assert (resumed.states, resumed.transitions, resumed.findings) == (whole.states, whole.transitions, whole.findings)


def test_the_option(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "cross3", "--policy", "active", "--max-memory", "2M", "--json", "-"]) == 3
    assert json.loads(capsys.readouterr().out)["results"][0]["limit"] == "memory"
    assert main(["check", "tiny", "--max-memory", "2G"]) == 0
    assert main(["check", "tiny", "--max-memory", "lots"]) == 2
    assert "expected a size from 1M up" in capsys.readouterr().err


def test_sizes() -> None:
    assert [memory.size(text) for text in ("500M", "2G", "2GiB", "3000000")] == [
        500 << 20,
        2 << 30,
        2 << 30,
        3_000_000,
    ]
    for text in ("", "M", "-1G", "1.5G", "1e9", "5", "\u0665M", "9" * 40):
        with pytest.raises(argparse.ArgumentTypeError, match="expected a size"):
            memory.size(text)


def test_the_default_is_less_than_there_is() -> None:
    most = memory.most()
    if most is None:
        pytest.skip("the system does not say how much memory there is")
    assert memory.resident() <= most


def test_a_control_group_bounds_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    group = tmp_path / "outer" / "inner"
    group.mkdir(parents=True)
    for folder, bound in ((group, "max"), (group.parent, str(300 << 20))):
        (folder / "memory.max").write_text(bound + "\n")
        (folder / "memory.current").write_text(f"{200 << 20}\n")
        (folder / "memory.stat").write_text(f"anon 5\ninactive_file {50 << 20}\n")
    left = list(memory._left(tmp_path, "/outer/inner", "memory.max", "memory.current", "inactive_file"))
    assert left == [150 << 20]
    monkeypatch.setattr(memory, "_of_groups", lambda: iter(left))
    most = memory.most()
    assert most is not None
    assert most <= memory.resident() + (150 << 20)
