"""The order of words on the command line is that of the results, and changes none of them."""

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from tests.checker.command import Here

NAMES = {"a.toml": "tiny", "line3": "line3", "./b.toml": "equal3"}
"""The instances that the words stand for; each has four policies."""


def test_instances(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    here = Here(tmp_path, monkeypatch, capsys)
    for name, source in (("a.toml", "tiny"), ("b.toml", "equal3")):
        here.write(name, files("routeproof.model").joinpath("instances", f"{source}.toml").read_text(encoding="utf-8"))

    def results(*words: str) -> list[dict[str, Any]]:
        ran = here("check", *words, "--workers", "1", "--max-states", "1000", "--json", "-")
        found = [{**each, "seconds": 0} for each in json.loads(ran.out)["results"]]
        assert [each["instance"] for each in found[::4]] == [NAMES[word] for word in words]
        return found

    forward, backward = results(*NAMES), results(*reversed(NAMES))
    assert forward == backward[8:] + backward[4:8] + backward[:4]
    assert [each["policy"] for each in forward[:4]] == ["none", "active", "lazy", "packing"]
