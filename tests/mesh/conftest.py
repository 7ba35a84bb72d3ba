"""The mesh is named, as a user would name it, for the tests of this folder; afterwards it is gone again."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from routeproof.model import plugins

INSTANCES = Path(__file__).resolve().parents[2] / "model/mesh/instances"
NAME = "routeproof.checker.mesh:MESH"


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv(plugins.VARIABLE, NAME)
    yield
    plugins._announced.cache_clear()
