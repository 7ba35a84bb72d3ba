"""The table of seeded faults in docs/explanation/mutants.md: what catches each, and after how many steps."""

from pathlib import Path
from typing import NamedTuple

PAGE = Path(__file__).parents[2] / "docs/explanation/mutants.md"


class Fault(NamedTuple):
    """A row: what the explorer finds, then what the fuzzer finds."""

    instance: str
    property: str
    steps: int
    fuzzed: str
    shrunk: int


def documented() -> dict[str, Fault]:
    """The rows by fault."""
    found = {}
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip().strip("`") for cell in line.strip("|").split("|")]
        if line.startswith("| `") and len(cells) == 6 and cells[3].isdigit():
            name, instance, property, steps, fuzzed, shrunk = cells
            found[name] = Fault(instance, property, int(steps), fuzzed, int(shrunk))
    return found
