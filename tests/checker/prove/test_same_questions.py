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
from routeproof.checker.prove.theorems import settle_one
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


REFUTED = """
import z3
from routeproof.checker.prove.solve import settle
from routeproof.spec.theory.proof import Obligation, ShownValue
from tests.spec.theory.test_propagation import CoveredQuenches, any_scene, beside, grafted, obligations, property_2

scenes = [each("active").scene() for each in (beside, grafted)]
for obligation in obligations(property_2, any_scene("active", CoveredQuenches), scenes):
    print(obligation.name, settle(obligation, 1_000_000).verdict)

Thing = z3.DeclareSort("Thing")
one, other = z3.Consts("one other", Thing)
told = {"same": ShownValue((one == other, one), lambda values: str(values[0]))}
print(settle(Obligation("they differ", one != other, shown=told)).shown)
"""


def test_a_counterexample_is_the_answer_to_the_question_that_was_asked() -> None:
    """Asked once more in other words, Z3 may not find it again."""
    alone, later = _ran(REFUTED), _ran(DECLARE, IMPORT, MAKE, REFUTED)
    assert " refuted\n" in alone
    assert "{'same': 'True'}" in alone
    assert later == alone
