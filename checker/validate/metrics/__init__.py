"""The simulator's metrics, recomputed from a trace: what `routeproof run` writes beside it, as far as it tells that.

`asked` is a setting with which metrics are asked for. `meter` counts what one part of a trace tells, in parts that are
`metered`; `delays` brings publications and deliveries together; `series` adds up parts and `files` writes the result,
the same for every engine and however a trace was divided. `apart` is all of it where one process read the trace.
"""
