"""What Z3 is asked, and so what it takes to answer, does not hang on what else the process has declared or made."""

from __future__ import annotations

import subprocess
import sys

ASK = """
import z3
check = z3.Solver.check

def counted(solver, *more):
    answer, found = check(solver, *more), solver.statistics()
    print(answer, found.get_key_value("rlimit count"))
    return answer

z3.Solver.check = counted
for name in ("PruningKeepsPromises", "QuietLemmas", "PropagationPathNeeds", "AttributesCover"):
    for obligation in THEOREMS[name].obligations()[:4]:
        print(obligation.name, settle_one(obligation, None).verdict)
"""

IMPORT = """
from routeproof.checker.prove.judge import settle_one
from routeproof.checker.prove.theorems import THEOREMS
"""

DECLARE = """
import z3
for name in ("Item", "Sub", "Other", "Broker", "AnyValue"):
    z3.DeclareSort(name)
z3.EnumSort("Few", ["few", "fewer"])
"""

MAKE = """
for name in ("StepFacts", "QuietLemmas", "PruningKeepsPromises", "PropagationPathNeeds"):
    THEOREMS[name].obligations()
"""


def _ran(*code: str) -> str:
    return subprocess.run([sys.executable, "-c", "".join(code)], capture_output=True, text=True, check=True).stdout


def test_neither_what_was_declared_nor_what_was_made_before_matters() -> None:
    """To the last unit of Z3's resources, in which its limit is counted."""
    asked = _ran(IMPORT, ASK)
    assert asked.count(" proved\n") == 16
    assert _ran(DECLARE, IMPORT, MAKE, ASK) == asked
