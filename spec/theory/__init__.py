"""The theory of filters in Z3: what `spec/filters.md` says, as formulas, and what is proved of it.

Nothing here knows how the model decides: no set of values, no normal form. Reading order: `logic`, `words` and
`short_words` (strings, of any length and up to a bound), `values`, `predicates` (what each predicate holds of), then
`number_conditions`, `string_conditions` and `conditions` (when one covers or overlaps another, as a formula over the
constants), `theorem`, and the theorems: `pairs`, `types`, `attributes`, `event_sets`, listed in `theorems`.
"""
