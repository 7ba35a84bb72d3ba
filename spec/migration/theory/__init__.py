"""Migration as a first-order relation: one move of one publisher, seen by one subscription, on any tree of brokers.

Reading order: `move` (the relation), `invariants`, `theorems` (with the small worlds that show that none is vacuous).
`docs/explanation/proofs-migration.md` says what is proved.
"""
