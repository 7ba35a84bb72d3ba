"""What is written of an experiment: numbers, escaping, and that it is there whole or not at all."""

import csv
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from attrs import evolve

from routeproof.checker import experiments
from routeproof.checker.experiments import (
    Experiment,
    ExperimentRequest,
    Findings,
    ResultRow,
    Said,
    said,
    shown,
    table,
    write,
)
from routeproof.checker.experiments.plots import Chart, PlotLine
from routeproof.checker.pruning.experiments.simulation import Simulation
from routeproof.impl.workloads.controlled import Controlled

NASTY = "a|b <script>&\nc\\|d"
ROWS = [
    ResultRow("delay", "active", said(1_000, ">"), 250.0, "s"),
    ResultRow("delay", "incremental", None, 0.25, "s", "a note"),
    ResultRow("queue", "active", said(0), 3),
    ResultRow("queue", "none", said(7), None),
    ResultRow(NASTY, NASTY, Said(1.0, NASTY), 1.5, NASTY, NASTY),
]
FINDINGS = Findings(ROWS, {"delay": Chart(NASTY, "x", "y", [PlotLine(NASTY, [(0.0, 1.0), (1.0, 2.5)])])})
SETTING = ExperimentRequest("000-fig6", 0.1, 3)
FILES = {"report.md", "comparison.csv", "series.csv", "delay.svg"}


def experiment() -> Experiment[Any]:
    return Experiment(
        "000, Fig. 6", "About it.", 0.1, lambda *_: [], lambda _: FINDINGS, [f"assumed {NASTY}"], ["open"]
    )


def jobs() -> list[Simulation]:
    recipe = Controlled()
    return [Simulation("one", recipe, "active", 0), Simulation("other", evolve(recipe, matching=9.0), "active", 0)]


def written(out: Path) -> Path:
    return write(out, SETTING, experiment(), jobs(), FINDINGS)


def test_ratios_are_ours_to_the_papers() -> None:
    assert [row.ratio for row in ROWS] == [0.25, None, None, None, 1.5]
    assert said(1_000, ">") == Said(1_000, "> 1,000")
    assert said(0.4).text == "0.4"


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "-"), (0, "0"), (0.23456, "0.235"), (12.34, "12.3"), (999, "999"), (20_235, "20,235"), (1e-5, "1e-05")],
)
def test_as_short_as_it_can_be(value: float | None, text: str) -> None:
    assert shown(value) == text


def test_a_table_has_a_line_for_each_row_whatever_it_says() -> None:
    lines = list(table(ROWS))
    assert len(lines) == 2 + len(ROWS)
    assert lines[2] == "| delay | active | > 1,000 | 250 | s | 0.25 |  |"
    assert lines[3] == "| delay | incremental | - | 0.25 | s | - | a note |"
    for line in lines:
        cells = re.sub(r"\\.", "", line).count("|") - 1
        assert cells == 7, line
        assert "<" not in line


def test_the_folder_has_everything(tmp_path: Path) -> None:
    folder = written(tmp_path)
    assert folder == tmp_path / "000-fig6"
    assert {path.name for path in folder.iterdir()} == FILES
    assert [path.name for path in tmp_path.iterdir()] == ["000-fig6"]
    text = (folder / "report.md").read_text(encoding="utf-8")
    assert "Scale 0.1 (1 is the paper's size), seed 3." in text
    assert "- other: `matching` 9.0" in text
    assert "| `covered` | 1,000 | assumption |" in text
    assert "![delay](delay.svg)" in text
    assert "<script>" not in text
    svg = (folder / "delay.svg").read_text(encoding="utf-8")
    assert ET.fromstring(svg).tag.endswith("svg")
    assert "<script>" not in svg


def test_csv_is_read_back_as_it_was(tmp_path: Path) -> None:
    folder = written(tmp_path)
    with (folder / "comparison.csv").open(encoding="utf-8", newline="") as file:
        head, *rows = csv.reader(file)
    assert head[:4] == ["quantity", "algorithm", "paper", "ours"]
    assert rows[0] == ["delay", "active", "1000", "250.0", "s", "0.25", ""]
    assert rows[3] == ["queue", "none", "7", "", "", "", ""]
    assert rows[4][0] == rows[4][6] == NASTY
    with (folder / "series.csv").open(encoding="utf-8", newline="") as file:
        _, *points = csv.reader(file)
    assert points == [["delay", NASTY, "0.0", "1.0"], ["delay", NASTY, "1.0", "2.5"]]


def test_a_second_report_takes_the_place_of_the_first(tmp_path: Path) -> None:
    folder = written(tmp_path)
    (folder / "left-over").write_text("")
    assert {path.name for path in written(tmp_path).iterdir()} == FILES
    assert [path.name for path in tmp_path.iterdir()] == ["000-fig6"]


def test_a_report_that_fails_leaves_the_former_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = (written(tmp_path) / "report.md").read_bytes()

    def failing(*_: object) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(experiments, "_series", failing)
    with pytest.raises(OSError, match="No space"):
        written(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["000-fig6"]
    assert (tmp_path / "000-fig6/report.md").read_bytes() == before


def test_claims_are_judged_by_the_rows_of_the_run(tmp_path: Path) -> None:
    """With a hundred times the delay under active one part of the claim holds; without it, none does."""
    for active, verdict in ((250.0, "comes out in part"), (0.25, "does not come out")):
        rows = [ResultRow("mean delay", "active", None, active), ResultRow("mean delay", "incremental", None, 1.0)]
        folder = write(tmp_path, SETTING, experiment(), jobs(), Findings(rows, {}))
        text = (folder / "report.md").read_text(encoding="utf-8")
        assert f"**FIG-delay: {verdict}.**" in text
        assert "**FIG-queue: not measured.**" in text
        assert "- no row for: longest core queue (incremental) is at most 150" in text
