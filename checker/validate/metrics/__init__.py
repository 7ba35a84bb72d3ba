"""The simulator's metrics, recomputed from a trace: what `routeproof run` writes beside a trace, as far as one tells it.

`asked` is a setting with which metrics are asked for. `meter` counts what one part of a trace tells, in `metered` parts;
`delays` brings publications and deliveries together; `series` adds up parts and `files` writes the result, the same
for every engine and however a trace was divided.
"""
