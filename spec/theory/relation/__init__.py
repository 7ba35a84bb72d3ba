"""The routing core as a first-order relation: which steps `spec/routing.md` allows.

Reading order: `signature` (the names), `routing` (one broker's step), `world` (queues, clients, ghosts), `trees` and
`ways` (overlays, and where paths lead), `quiet_states` (states in which nothing moves) and `examples` of those.
"""
