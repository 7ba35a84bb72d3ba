"""Invariants of the routing core, their proofs by induction over steps, and the safety properties that follow.

Reading order: `book` (the form of an invariant), `tables`, `publications` (the invariants), `quiet` (their consequences
in quiet states), `step` and `facts` (one step of the world), `obligations` (the questions to Z3), `theorems` (with the
promises of each policy), and `bounded` (checks of a few steps).
"""
