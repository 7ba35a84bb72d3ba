"""The theory of pruning: its relation, invariants and theorems, on top of the routing core's.

Reading order: `relation` (its steps), `promises` and `invariants` (what holds always), `distance` and `equation_3`
(shares along a path, and what publications tell of quiet states), `similarity_needs` and `distance_needs` (what fails
without a hypothesis), listed in `theorems`.
"""
