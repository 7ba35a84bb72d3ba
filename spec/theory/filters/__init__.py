"""Filters as formulas, and the theorems about them.

Reading order: `strings` (of any length, and up to a bound), `predicates` (values, and what each predicate holds of),
`conditions` (when one covers or overlaps another, as a formula over the constants), and the proofs: `pairs`, listed
with those about several attributes in `theorems`.
"""
