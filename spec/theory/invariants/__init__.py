"""Invariants of the routing core, their proofs by induction over steps, and the safety properties that follow.

Reading order: `book` (the form of an invariant), `subscriptions`, `advertisements`, `publications` (the invariants),
`quiet` (their consequences where it is quiet), `step` and `facts` (one step of the world), `obligations` (the questions
to Z3), `policies` (each keeps the promises that the invariants rest on), `theorems`, and `bounded` (checks of a few
steps).
"""
