"""Proving: theorems whose obligations Z3 decides, or that are tried out case by case on the model's code.

Reading order: `routeproof.spec.theory`, then `solve` (verdicts, one question to Z3 or to the model's code), `ground`
and `small` (worlds in which every question about invariants has an answer), `counterexample` and `trace` (a run that Z3
found, as text and as a trace), `invariants` (one obligation about invariants), `vacuity`, `code` (the model's code,
held to the conditions that are proved), `refine` (the model's steps, held to the relation), `theorems` (all theorems,
and their verdicts) and `report`.
"""
