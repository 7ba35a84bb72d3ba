"""Validation as a job on Spark: the same judgement as `local`, spread over cores or machines.

`groups` plans which part of a trace is judged where, `parts` reads and replays parts in the workers, and `joins` brings
together what parts set aside: both ends of a link, a publication and its deliveries. `job` is the whole of it. The
verdict and every rejection are those of the local engine, however the work is divided.
"""
