"""Refinement: the model takes the steps that the relation of `spec/theory` allows, and the relation allows no others.

Reading order: `structure` (an instance as a finite structure), `answers` (a handler's answer held to the relation),
`packing`, `others` (what else the relation allows), `worlds` (whole steps, with queues and ghosts), `parts` (the parts
of which the explorer makes its transitions), and `rows` (what `routeproof prove` reports). Of pruning: `issues` (what
is issued again is another subscription), `pruning` (its two relations), and `pruning_rows`. `asked` finds the rows.
"""
