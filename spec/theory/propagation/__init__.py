"""Propagation: where a subscription is, once nothing moves (Properties 1 and 2).

Reading order: `settling` (the premises of the proofs), `paths` (Property 1), `grafting` (Property 2), `necessity` (what
fails without a hypothesis), and `theorems`, with the infinite worlds in which only finiteness is missing.
"""
