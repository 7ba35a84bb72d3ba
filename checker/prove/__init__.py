"""Proving: theorems whose obligations Z3 decides, or that are tried out case by case on the model's code.

Reading order: `routeproof.spec.theory`, then `solver` (one question), `counterexample` (a run that Z3 found, as text
and as a trace), `induction` and `bounded` (one obligation about invariants), `vacuity`, `judge` (a theorem), `code`
(the conditions that the model's code is held to), `refine` (the model's steps, held to the relation), `catalogue` (all
theorems) and `report`. Sub-packages import downward only: `solver`, `counterexample` and `refine`, this package.
"""
