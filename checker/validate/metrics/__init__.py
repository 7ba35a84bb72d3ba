"""The simulator's metrics, recomputed from a trace, as far as the trace shows what `routeproof run` measures.

`meter` has the settings, counts of one part, and parts that are measured; `series` brings publications and deliveries
together and adds up parts; `files` writes the result, the same for every engine and however a trace was divided.
"""
