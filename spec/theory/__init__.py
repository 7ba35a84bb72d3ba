"""The theory in Z3: the sentences of `spec/filters.md` and `spec/routing.md` as formulas, and their proofs.

Nothing here knows how the model decides: no set of values, no normal form. Imports go downward only, in this order:

- `formulas` and `proof`: formulas with their two readings, and what a theorem and its proof are;
- `filters`: predicates on attributes, when one covers or overlaps another, and that this is exact;
- `relation`: a broker's step and the whole world as a relation, over trees;
- `propagation`: where subscriptions are once nothing moves (Properties 1 and 2);
- `invariants`: what holds always, by induction over steps, and what follows in quiet states.

`checker/prove/theorems.py` lists them all. A protocol on top of the routing core has its theory in its own package,
`spec/NAME/theory/`, which imports these.
"""
