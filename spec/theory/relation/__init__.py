"""The routing core as a first-order relation: which steps `spec/routing.md` allows.

Reading order: `signature` (overlays and the names), `routing` (one broker's step), `world` (queues, clients, ghosts),
`ways` (where paths lead), and `quiet_states` (states in which nothing moves, and examples of them).
"""
