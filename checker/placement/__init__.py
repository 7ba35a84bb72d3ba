"""Placement from traces: where the publishers of a recorded run should be, and what the network would gain.

To be read in this order: `overlay` (the brokers as arrays), `events` and `reading` (events of a trace to columns),
`joining` (bit vectors and counts of publications), `choosing` (POP, GRAPE and brute force), `engines` (on one core and
on Spark), `report` and `picture`. `running` and `figures` are the experiments of the paper. The rules are in
`spec/placement.md`. `wing` is the wing of placement as a protocol, with what the fuzzer draws.
"""
