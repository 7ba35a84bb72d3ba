"""Foundations of a job on Spark: Java, the package on the workers, a session, and errors of one line.

To be read in this order: `session` and `rows` (what a job uses), `driver`, `package`, `failure`. Nothing is imported
here: workers import the modules that a job's functions are in, and with them this one.
"""
