"""Placement on Spark: equal to the byte to the local answer, whatever the form and however it is cut."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from routeproof.checker.experiments.bench.validation import lopsided
from routeproof.checker.placement import engines, reading
from routeproof.checker.placement.choosing import Wish
from routeproof.checker.placement.picture import page
from routeproof.checker.placement.report import as_json, write_tables
from routeproof.checker.system.terminal import json_text
from routeproof.checker.validate.spark import lines
from routeproof.traces import to_parquet

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def files(placement: engines.PlacementAnswer, folder: Path) -> dict[str, bytes]:
    folder.mkdir()
    write_tables(placement, folder)
    made = {path.name: path.read_bytes() for path in folder.iterdir()}
    return made | {"json": json_text(as_json(placement)).encode(), "html": page(placement).encode()}


@pytest.mark.parametrize("form", [".jsonl", ".parquet"])
def test_the_answer_is_the_local_one(
    form: str, spark: "SparkSession", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "trace.jsonl"
    lopsided(path, 3_000, 0.5, 100)
    if form == ".parquet":
        to_parquet(path, path.with_suffix(form), cut_at_snapshots=True)
    path, wish = path.with_suffix(form), Wish("delay", 60.0)
    expected = files(engines.place(path, wish), tmp_path / "local")
    monkeypatch.setattr(reading, "PER_BUCKET", 200)
    monkeypatch.setattr(lines, "LEAST", 50_000)
    found = engines.place(path, wish, spark)
    assert len(found.publishers) == 8
    assert files(found, tmp_path / "spark") == expected
