"""The solver: one question at a time, by Z3, case by case on the model's code, or in small worlds.

Reading order: `outcome` (the five verdicts), `solve` (one obligation), `examine` (one question to the code), `ground`
and `evaluate` (a relation and a formula over finitely many elements), `small` (worlds in which every question about
invariants has an answer).
"""
