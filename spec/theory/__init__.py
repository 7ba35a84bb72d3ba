"""The theory in Z3: first what `spec/filters.md` says, as formulas, and what is proved of it.

Nothing here knows how the model decides: no set of values, no normal form. Reading order: `logic`, `words` and
`short_words` (strings, of any length and up to a bound), `values`, `predicates` (what each predicate holds of), then
`number_conditions`, `string_conditions` and `conditions` (when one covers or overlaps another, as a formula over the
constants), `theorem`, and the theorems: `pairs`, `types`, `attributes`, `event_sets`, listed in `theorems`.

Then routing: `readings` (one text read by Z3 and over finite sets), `signature`, `wanting` (policies), `routing` (a
broker's step as a relation), `world_relation` (queues, clients, ghosts), `trees` and `ways`; `invariants` and its
siblings with `delivery` (what holds always), `bounded` (what is checked up to a bound, and what for). Of states at
rest: `proof` (lemmas in steps), `quiet` and `settling` (what they begin with), `propagation` and `grafting` (Properties
1 and 2), `similarity` and `shares` (Property 3), `distance` and `equation_3`, and `needed` with its siblings (what
fails without a hypothesis), listed in `propagation_theorems`.
"""
