"""Refinement: the model takes the steps that the relation of `spec/theory` allows, and the relation allows no others.

Reading order: `structure` (an instance as a finite structure), `answers` (a handler's answer held to the relation),
`alternatives` (other answers and steps that the relation allows), `worlds` (whole steps, with queues and ghosts),
`sample` (the instances and their questions), `steps` and `theorems` (the obligations that `routeproof prove` reports).
A protocol on top of the routing core has its own
theorems in its package.
"""
