"""The measured rows of the papers' experiments as the documentation shows them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from routeproof.spec.figures import Rows

ROOT = Path(__file__).resolve().parents[2]
EXPERIMENTS = ROOT / "docs" / "explanation" / "experiments.md"
RATES = ROOT / "docs" / "reference" / "command-line.md"

SECTIONS = {
    "000-fig6": "## The controlled scenario of 000 at full scale",
    "001-fig7": "## Fig. 7 of 001 at full scale",
    "001-fig8": "### 001-fig8",
    "001-fig9": "### 001-fig9",
    "001-fig10": "### 001-fig10",
    "001-fig12": "## Fig. 12 of 001 at full scale",
    "000-fig10": "## Fig. 10 of 000 at full scale",
    "000-fig7": "## Fig. 7 of 000: its ends at full scale",
    "000-table2": "### 000-table2, scale 0.05",
    "000-fig9": "### 000-fig9, scale 0.02",
    **{
        name: f"### {name}, scale 1" for name in ("004-fig5", "004-fig6", "004-fanout", "004-weights", "004-thresholds")
    },
    "003-fig4": "### 003-fig4, scale 0.2",
    "003-fig5": "### 003-fig5, scale 1",
    "003-networks": "### 003-networks, scale 0.1",
    "003-fig6": "### 003-fig6, scale 0.05",
    "003-fig8": "### 003-fig8, scale 0.03",
    "002-table2": "### 002-table2, scale 0.05",
    "002-sizes": "### 002-sizes, scale 0.03",
    "002-fig12": "### 002-fig12, scale 0.1",
    "002-fig13": "### 002-fig13, scale 0.005",
    "002-fig13b": "### 002-fig13b, scale 0.005",
    "002-social": "### 002-social, scale 0.05",
    "002-fig14": "### 002-fig14, scale 0.05",
}
HEAD = "| quantity | algorithm |"


def documented() -> Mapping[str, Rows]:
    """Rows by experiment; of the benchmark, by what, filters and subscriptions."""
    text = EXPERIMENTS.read_text(encoding="utf-8")
    found: dict[str, Rows] = {name: dict(_rows(text, section)) for name, section in SECTIONS.items()}
    return found | {"bench broker": dict(_rates(RATES.read_text(encoding="utf-8")))}


def _rows(text: str, section: str) -> Iterator[tuple[tuple[str, str], float]]:
    """The rows of the first table of a section, and of its continuation in a second one."""
    lines = text[text.index(f"{section}\n") :].splitlines()
    first = next(n for n, line in enumerate(lines) if line.startswith(HEAD))
    for line in lines[first + 2 :]:
        if not line.startswith("| "):
            return
        quantity, algorithm, _, ours, *_ = (cell.strip() for cell in line.strip("|").split("|"))
        if (number := ours.split()[0]) != "-":
            yield (quantity, algorithm), float(number.replace(",", ""))


def _rates(text: str) -> Iterator[tuple[tuple[str, str], float]]:
    lines = text.splitlines()
    first = lines.index("| filters | policy | subscriptions | | withdrawals | | publications | |")
    for line in lines[first + 2 :]:
        if not line.startswith("| "):
            return
        filters, policy, *rates = (cell.strip() for cell in line.strip("|").split("|"))
        for what, both in zip(("subscriptions", "withdrawals", "publications"), rates[::2], strict=True):
            for size, rate in zip(("5,000", "50,000"), both.split(", "), strict=True):
                yield (f"{what}, {filters}, {size}", policy), float(rate.replace(",", ""))
