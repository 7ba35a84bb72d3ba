"""Proving: theorems whose obligations Z3 decides, or that are tried out case by case on the model's code.

Reading order: `routeproof.spec.theory`, then `solve` (one obligation), `examine` (one question, case by case), `judge`
(a theorem), `code` (what the model's code is held to), `theorems` (all there are) and `report`. Proofs by induction:
`induction` (one obligation of theirs), `spelled` and `small` (worlds in which every question has an answer), `bounded`
(some steps in them), `found` (a run of theirs, read back), `told` and `trace` (in words, and as a trace).
"""
