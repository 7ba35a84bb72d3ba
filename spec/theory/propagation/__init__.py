"""Propagation: where a subscription is, once nothing moves (Properties 1 and 2).

Reading order: `settling` (what the proofs begin with), `paths` (Property 1), `grafting` (Property 2), `necessity` and
`infinite` (what fails without a hypothesis), listed in `theorems`.
"""
